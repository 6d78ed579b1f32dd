// Sums over the rows of a matrix, column by column, in float64, because terms of both signs may leave little:
// parts of the rows first, then the parts in order. The parts depend on the number of rows alone.
#pragma once
#include <algorithm>

#include "cuda/cuda_context.h"

namespace skillgate::cuda {

// partial[p, n] = sum of term(t, n) over the p-th part of the rows
template <class Term>
__global__ void partial_column_sums_kernel(double* partial, int64_t rows, int64_t columns, int64_t part_rows,
                                           Term term) {
  const int64_t n = first_element();
  if (n >= columns) return;
  const int64_t t0 = blockIdx.y * part_rows, t1 = min(rows, t0 + part_rows);
  double sum = 0;
  for (int64_t t = t0; t < t1; t++) sum += term(t, n);
  partial[blockIdx.y * columns + n] = sum;
}

template <class = void>
__global__ void add_partial_sums_kernel(float* out, const double* partial, int64_t parts, int64_t columns) {
  const int64_t n = first_element();
  if (n >= columns) return;
  double sum = 0;
  for (int64_t p = 0; p < parts; p++) sum += partial[p * columns + n];
  out[n] = static_cast<float>(out[n] + sum);
}

// out[n] += sum over t of term(t, n); term is a struct with a __device__ operator() const.
template <class Term>
void add_column_sums(Context& context, const char* name, float* out, int64_t rows, int64_t columns,
                     Term term) {
  constexpr int kThreads = 128;
  constexpr int64_t kPartRows = 128, kMostParts = 512;
  const int64_t part_rows = std::max(kPartRows, ceil_div(rows, kMostParts)),
                parts = ceil_div(rows, part_rows);
  Context::Scratch scratch(context);
  double* partial = scratch.take<double>(parts * columns);
  const auto across = static_cast<unsigned>(ceil_div<int64_t>(columns, kThreads));
  context.launch(name, partial_column_sums_kernel<Term>, dim3(across, static_cast<unsigned>(parts)), kThreads,
                 0, partial, rows, columns, part_rows, term);
  context.launch("add_partial_sums", add_partial_sums_kernel<>, dim3(across), kThreads, 0, out,
                 static_cast<const double*>(partial), parts, columns);
}

}  // namespace skillgate::cuda
