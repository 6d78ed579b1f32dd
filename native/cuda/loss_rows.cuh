// The row kernel of the loss: softmax, the token's loss and slope, and the gradient of the logits in their
// place. Each logit is read once and written once where the row fits the shared memory of its cluster.
#pragma once
#include "cuda/policy_gradient.cuh"
#include "cuda/softmax_row.cuh"

namespace skillgate::cuda {

struct RowResult {
  double loss, kl_loss;
  float logprob, entropy;
  float slope;  // d(loss)/d(logprob); 0: the row takes no part in the backward products
  bool clipped;
};

struct LossRowsArgs {
  RowPlan plan;
  float* logits;   // [rows, stride], 16-byte aligned rows
  int64_t stride;  // in floats
  const LossRow* rows;
  RowResult* results;
  LossOptions options;
  float inverse_temperature;
  bool gradients;  // write them, in place of the logits
  bool zero_rows;  // also where the slope is 0; else such rows are left as they are
};

// Gradients as the products want them. bf16 ones fill the first half of the row's memory: row stride 2 *
// stride.
__device__ __forceinline__ void store_gradients(float* row, int64_t at, int64_t end, const float (&g)[4]) {
#pragma unroll
  for (int i = 0; i < 4; i++)
    if (at + i < end) row[at + i] = g[i];
}
__device__ __forceinline__ void store_gradients(bf16* row, int64_t at, int64_t, const float (&g)[4]) {
  // Up to 3 elements past the row's end are written too: 0, as the products want it.
  *reinterpret_cast<uint2*>(row + at) = make_uint2(pack_bf16(g[0], g[1]), pack_bf16(g[2], g[3]));
}

template <class Gradient>
__global__ void __launch_bounds__(1024) loss_rows_kernel(LossRowsArgs p) {
  SKILLGATE_DYNAMIC_SHARED(shared);
  SKILLGATE_SHARED(float, slope_of_row, [1]);
  float* cache = reinterpret_cast<float*>(shared);
  const int64_t r = blockIdx.x / cluster_size(), V = p.plan.V;
  const int64_t begin = cluster_rank() * p.plan.slice, n = min(p.plan.slice, V - begin);
  float* logits = p.logits + r * p.stride;
  const float* slice = logits + begin;
  const LossRow& row = p.rows[r];
  const float target_logit = logits[row.target];  // before anybody writes there
  const RowSoftmax softmax = row_softmax(p.plan, slice, n, true, p.inverse_temperature, cache);

  if (threadIdx.x == 0) {
    const float logprob = softmax.logprob(target_logit, p.inverse_temperature);
    const TokenLoss loss = token_loss(row, p.options, logprob);
    slope_of_row[0] = static_cast<float>(loss.slope);
    if (cluster_rank() == 0)
      p.results[r] = {loss.loss, loss.kl_loss, logprob, softmax.entropy(), slope_of_row[0], loss.clipped};
  }
  if (!p.gradients) return;
  __syncthreads();  // the slope is there, and all of the block have read what they need of the logits
  const float slope = slope_of_row[0];
  if (slope == 0.f && !p.zero_rows) return;
  const float scale = slope * p.inverse_temperature, share = scale / softmax.sum;
  Gradient* out = reinterpret_cast<Gradient*>(logits);
  // bf16 rows are complete up to a multiple of 8.
  const int64_t padded = sizeof(Gradient) == sizeof(bf16) ? round_up<int64_t>(n, 8) : n;
  const int64_t round = 4 * static_cast<int64_t>(blockDim.x);
  for (int64_t base = 0; base < padded; base += round) {
    const int64_t at = base + 4 * static_cast<int64_t>(threadIdx.x);
    float x[4] = {};
    if (at < n) {
      const float4 four =
          at < p.plan.cached ? *reinterpret_cast<const float4*>(cache + at) : load_four(slice, at, n, true);
      x[0] = four.x;
      x[1] = four.y;
      x[2] = four.z;
      x[3] = four.w;
    }
    // The gradients of a round lie where logits of this and earlier rounds lay: those must have been read.
    if (base + round > p.plan.cached) __syncthreads();
    if (at >= padded) continue;
    float g[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const bool inside = at + i < n && slope != 0.f;
      const float onehot = begin + at + i == row.target ? scale : 0.f;
      g[i] = inside ? onehot - share * weight_of(x[i] - softmax.maximum, p.inverse_temperature) : 0.f;
    }
    store_gradients(out + begin, at, n, g);
  }
}

}  // namespace skillgate::cuda
