#include <string>

#include "backend/status.h"
#include "cuda/attention.h"
#include "cuda/reduce.cuh"

namespace skillgate::cuda {
namespace {

constexpr int kThreads = 256;

// delta[row] = sum over E of d_o * o; one warp a row.
__global__ void __launch_bounds__(kThreads)
    attention_delta_kernel(float* delta, const float* d_o, const float* o, int64_t rows, int64_t E) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * (kThreads / kWarp) + warp_id();
  if (row >= rows) return;  // a whole warp
  float sum = 0.f;
  for (int64_t e = lane_id(); e < E; e += kWarp) sum = fmaf(d_o[row * E + e], o[row * E + e], sum);
  sum = warp_sum(sum);
  if (lane_id() == 0) delta[row] = sum;
}

AttentionArgs arguments(AttentionPlan& plan, Tensor q, Tensor k, Tensor v, const AttentionSpans& spans,
                        float scale) {
  AttentionArgs a{};
  a.q = q.f32();
  a.k = k.f32();
  a.v = v.f32();
  a.H = q.shape[1];
  a.G = k.shape[1];
  a.E = q.shape[2];
  a.rows = k.shape[0];
  a.scale = scale;
  if (a.E > kMostHeadWidth || a.H % a.G != 0 || a.G > 65535)
    throw Failure("ERR_SHAPE",
                  "attention on cuda: expected heads of at most " + std::to_string(kMostHeadWidth) +
                      " and query heads a multiple of key/value heads, got " + std::to_string(a.E) + ", " +
                      std::to_string(a.H) + " and " + std::to_string(a.G));
  plan.prepare(spans, q.shape[0], a.rows, a.group());
  a.query_tiles = plan.query_tiles();
  a.key_rows = plan.key_rows();
  a.key_tiles = plan.key_tiles();
  a.key_items = plan.key_items();
  a.query_tile_count = plan.query_tile_count();
  a.key_tile_count = plan.key_tile_count();
  return a;
}

}  // namespace

void attention_forward(Context& context, const ProductEngine& engine, AttentionPlan& plan, Tensor o,
                       Tensor lse, Tensor q, Tensor k, Tensor v, const AttentionSpans& spans, float scale) {
  AttentionArgs a = arguments(plan, q, k, v, spans, scale);
  a.o = o.f32();
  a.lse = lse.f32();
  if (engine.bf16) {
    attention_forward_bf16(context, a);
  } else {
    attention_forward_fp32(context, a);
  }
}

void attention_backward(Context& context, const ProductEngine& engine, AttentionPlan& plan, Tensor dq,
                        Tensor dk, Tensor dv, Tensor d_o, Tensor o, Tensor lse, Tensor q, Tensor k, Tensor v,
                        const AttentionSpans& spans, float scale) {
  AttentionArgs a = arguments(plan, q, k, v, spans, scale);
  Context::Scratch scratch(context);
  const int64_t heads = q.shape[0] * a.H;
  float* delta = scratch.take<float>(heads);
  context.launch("attention_delta", attention_delta_kernel,
                 dim3(static_cast<unsigned>(ceil_div<int64_t>(heads, kThreads / kWarp))), kThreads, 0, delta,
                 d_o.f32(), o.f32(), heads, a.E);
  a.lse = lse.f32();
  a.d_o = d_o.f32();
  a.delta = delta;
  a.dq = dq.f32();
  a.dk = dk.f32();
  a.dv = dv.f32();
  if (engine.bf16) {
    attention_backward_bf16(context, a);
  } else {
    attention_backward_fp32(context, a);
  }
}

}  // namespace skillgate::cuda
