// Rotates the pairs (x[t, h, i], x[t, h, i + E/2]) by the angle of positions[t].
#include "cuda/elementwise.cuh"
#include "cuda/ops.h"

namespace skillgate::cuda {
namespace {

struct Rotate {
  float* x;
  const float *cosine, *sine;
  const int32_t* positions;
  int64_t heads, half;
  float sign;
  __device__ void operator()(int64_t at) const {
    const int64_t i = at % half, head = at / half;  // head counts t * heads + h
    const int64_t angle = positions[head / heads] * half + i;
    float* pair = x + head * 2 * half + i;
    const float c = cosine[angle], s = sign * sine[angle], a = pair[0], b = pair[half];
    pair[0] = a * c - b * s;
    pair[half] = b * c + a * s;
  }
};

}  // namespace

void rope(Context& context, Tensor x, Tensor cosine, Tensor sine, Tensor positions, bool inverse) {
  const int64_t heads = x.shape[1], half = x.shape[2] / 2;
  elementwise(context, "rope", x.shape[0] * heads * half,
              Rotate{x.f32(), cosine.f32(), sine.f32(), positions.i32(), heads, half, inverse ? -1.f : 1.f});
}

}  // namespace skillgate::cuda
