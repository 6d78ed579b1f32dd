// The CUDA twin of each op of backend/backend.h: same name, same meaning; all on the context's stream. Where
// an op has host outputs it waits for them, else it returns at once.
#pragma once
#include <cstdint>

#include "backend/backend.h"
#include "cuda/cuda_context.h"
#include "cuda/matmul.h"

namespace skillgate::cuda {

struct RowResult;  // loss_rows.cuh

// rows.cu; embedding_forward is gather_rows of the table, embedding_backward scatter_add_rows into it.
void gather_rows(Context& context, Tensor y, Tensor x, Tensor index);
void scatter_rows(Context& context, Tensor y, Tensor x, Tensor index);
void scatter_add_rows(Context& context, Tensor dx, Tensor dy, Tensor index);
void add(Context& context, Tensor y, Tensor x);

// rmsnorm.cu
void rmsnorm_forward(Context& context, Tensor y, Tensor rstd, Tensor x, Tensor w, float eps);
void rmsnorm_backward(Context& context, Tensor dx, Tensor dw, Tensor dy, Tensor x, Tensor w, Tensor rstd,
                      bool accumulate);

// rope.cu
void rope(Context& context, Tensor x, Tensor cosine, Tensor sine, Tensor positions, bool inverse);

// swiglu.cu
void swiglu_forward(Context& context, Tensor y, Tensor gate, Tensor up);
void swiglu_backward(Context& context, Tensor dgate, Tensor dup, Tensor dy, Tensor gate, Tensor up);

// token_mask.cu
int64_t token_mask(Context& context, const TokenMaskArgs& args);

// policy_loss.cu
// Scratch memory of a call with gradients.
int64_t policy_loss_bytes(const ProductEngine& engine, int64_t R, int64_t D, int64_t V);
// What the rows of the latest start_policy_loss said, on its way to pinned memory.
struct LandedLoss {
  PinnedMemory memory;
  int64_t rows = 0;
  RowResult* results() const;  // [rows]
  int32_t* index() const;      // [rows] which row of the call each is of
};
void start_policy_loss(Context& context, const ProductEngine& engine, LandedLoss& landed,
                       const PolicyLossArgs& args);
PolicyLossResult finish_policy_loss(Context& context, const LandedLoss& landed, const PolicyLossArgs& args);
void token_logprob(Context& context, const ProductEngine& engine, float* logprob, float* entropy,
                   Tensor hidden, Tensor lm_head, const void* packed, const int32_t* target,
                   float temperature);

// sampling.cu
void sample(Context& context, int32_t* token, float* logprob, Tensor logits, const SampleOptions* options);

// grad_norm.cu
void sum_of_squares(Context& context, Tensor sum, Tensor x);

// adamw.cu
void adamw(Context& context, Tensor w, Tensor grad, Tensor m, Tensor v, Tensor sum_of_squares,
           const AdamWOptions& options);

}  // namespace skillgate::cuda
