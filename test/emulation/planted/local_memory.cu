// A kernel that must not pass scripts/cuda-report.mjs: an array that is indexed at run time lies in local memory.
__global__ void local_memory_kernel(float* out, const float* in, int from) {
  float kept[64];
  for (int i = 0; i < 64; i++) kept[i] = in[i * blockDim.x + threadIdx.x];
  float sum = 0.f;
  for (int i = 0; i < 64; i++) sum += kept[(from + i * i) % 64];
  out[threadIdx.x] = sum;
}
