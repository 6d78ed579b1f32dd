// Attention in its two precisions: with bf16 operands on the tensor cores, and in fp32 for checking.
#pragma once
#include "cuda/attention_plan.h"
#include "cuda/ops.h"

namespace skillgate::cuda {

constexpr int64_t kMostHeadWidth = 256;

// What every attention kernel gets. Row t, head h of q starts at (t * H + h) * E, row r of k at (r * G + g) *
// E.
struct AttentionArgs {
  const float *q, *k, *v;
  float *o, *lse;            // forward: out; backward: lse as it was
  const float *d_o, *delta;  // backward; delta [T, H] = sum over E of d_o * o
  float *dq, *dk, *dv;
  int64_t H, G, E, rows;  // rows of k and v
  float scale;
  const QueryTile* query_tiles;
  const int32_t* key_rows;
  const KeyTile* key_tiles;
  const KeyItem* key_items;
  int64_t query_tile_count, key_tile_count;

  __host__ __device__ int64_t group() const { return H / G; }
};

void attention_forward_fp32(Context& context, const AttentionArgs& a);
void attention_backward_fp32(Context& context, const AttentionArgs& a);
void attention_forward_bf16(Context& context, const AttentionArgs& a);
void attention_backward_bf16(Context& context, const AttentionArgs& a);

// attention.cu; the ops of backend.h
void attention_forward(Context& context, const ProductEngine& engine, AttentionPlan& plan, Tensor o,
                       Tensor lse, Tensor q, Tensor k, Tensor v, const AttentionSpans& spans, float scale);
void attention_backward(Context& context, const ProductEngine& engine, AttentionPlan& plan, Tensor dq,
                        Tensor dk, Tensor dv, Tensor d_o, Tensor o, Tensor lse, Tensor q, Tensor k, Tensor v,
                        const AttentionSpans& spans, float scale);

}  // namespace skillgate::cuda
