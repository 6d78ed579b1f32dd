#include "cpu/matmul.h"

#include <algorithm>
#include <cstring>

#include "cpu/bfloat16.h"

namespace skillgate {
namespace {

constexpr size_t kHeaderBytes = 64;               // of packed weights: a cache line
constexpr int64_t kPackedLeftFloats = 96 * 1024;  // stays in the second-level cache
static_assert(kPackedLeftFloats >= kMaxBlockRows * kBlockK);

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// Tiles of rows m0 .. m0 + rows for k in k0 .. k1: tile t is [k1 - k0, its rows] from tile_start(t) * (k1 -
// k0) on.
void pack_left(const Kernels& kernels, float* to, const LeftOperand& a, int64_t m0, int rows, int tiles,
               int64_t k0, int64_t k1) {
  int64_t count = k1 - k0;
  if (a.transposed) {
    const int size = rows / tiles, larger = rows % tiles, first = larger * (size + 1);
    for (int64_t k = k0; k < k1; ++k) {
      const float* from = a.rows.row(k) + m0;
      kernels.split_row(to + (k - k0) * (size + 1), from, size + 1, larger, (size + 1) * count);
      kernels.split_row(to + first * count + (k - k0) * size, from + first, size, tiles - larger,
                        size * count);
    }
    return;
  }
  for (int t = 0; t < tiles; ++t) {
    int start = tile_start(rows, tiles, t), n = tile_start(rows, tiles, t + 1) - start;
    const float* from[kMaxTileRows];
    for (int i = 0; i < n; ++i) from[i] = a.rows.row(m0 + start + i);
    if (n == 1) {
      std::memcpy(to + start * count, from[0] + k0, static_cast<size_t>(count) * sizeof(float));
    } else {
      kernels.transpose(to + start * count, n, from, n, n, k0, count);
    }
  }
}

// One panel: columns j .. j + columns of b for k0 .. k1, [k1 - k0, tile_cols].
void pack_right(const Kernels& kernels, float* to, const RightOperand& b, int64_t j, int columns, int64_t k0,
                int64_t k1) {
  if (b.transposed) {
    const float* from[kMaxTileCols];
    for (int i = 0; i < columns; ++i) from[i] = b.rows.row(j + i);
    kernels.transpose(to, kernels.tile_cols, from, columns, kernels.tile_cols, k0, k1 - k0);
  } else {
    const float* from[kBlockK];
    for (int64_t k = k0; k < k1; ++k) from[k - k0] = b.rows.row(k);
    kernels.pack_panel(to, from, k1 - k0, j, columns, kernels.tile_cols);
  }
}

void run_tile(const Kernels& kernels, int rows, int columns, int64_t k, const float* a, const float* b,
              float* c, int64_t c_stride, bool add, const float* bias) {
  TileKernel tile = kernels.tile[static_cast<int>(TileForm::packed)][1][rows - 1];
  if (columns == kernels.tile_cols) return tile(k, a, b, c, c_stride, add, bias);
  float whole[kMaxTileRows * kMaxTileCols];
  tile(k, a, b, whole, kernels.tile_cols, false, nullptr);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      float y = whole[i * kernels.tile_cols + j];
      if (add) y = c[i * c_stride + j] + y;
      if (bias) y = y + bias[j];
      c[i * c_stride + j] = y;
    }
  }
}

void clear_or_bias(float* c, int64_t c_stride, int64_t rows, int64_t columns, bool add, const float* bias) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      float y = add ? c[i * c_stride + j] : 0.f;
      c[i * c_stride + j] = bias ? y + bias[j] : y;
    }
  }
}

// Elements of row m from columns n0 .. n1, at y, that are large: their sum again, in float64.
void sharpen(const Kernels& kernels, const Product& p, int64_t m, int64_t n0, int64_t n1, float* y) {
  for (int64_t j = kernels.find_large(y, 0, n1 - n0, kLargeElement); j < n1 - n0;
       j = kernels.find_large(y, j + 1, n1 - n0, kLargeElement)) {
    const double sum = kernels.exact_dot(p.a.rows.row(m), p.b.rows.row(n0 + j), p.K);
    y[j] = static_cast<float>(p.bias ? sum + p.bias[n0 + j] : sum);
  }
}

}  // namespace

size_t packed_weight_bytes(const Kernels& kernels, int64_t N, int64_t K, DType type) {
  const int64_t elements = ceil_div(N, kernels.tile_cols) * kernels.tile_cols * K;
  return kHeaderBytes + static_cast<size_t>(elements) * dtype_bytes(type);
}

Panels panels_in(const void* packed) {
  if (!packed) return {};
  const void* panels = static_cast<const char*>(packed) + kHeaderBytes;
  if (*static_cast<const DType*>(packed) == DType::bf16)
    return {nullptr, static_cast<const uint16_t*>(panels)};
  return {static_cast<const float*>(panels), nullptr};
}

void pack_weights(CpuContext& context, void* to, const float* w, int64_t N, int64_t K, DType type) {
  const Kernels& kernels = context.kernels;
  const int64_t width = kernels.tile_cols;
  *static_cast<DType*>(to) = type;
  char* panels = static_cast<char*>(to) + kHeaderBytes;
  const RightOperand b{{}, {w, K, nullptr}, true};
  context.for_ranges(ceil_div(N, width), 1, N * K / 8, [&](int64_t begin, int64_t end, int) {
    float block[kBlockK * kMaxTileCols];
    for (int64_t p = begin; p < end; ++p) {
      const int columns = static_cast<int>(std::min(width, N - p * width));
      if (type == DType::f32) {
        pack_right(kernels, reinterpret_cast<float*>(panels) + p * width * K, b, p * width, columns, 0, K);
        continue;
      }
      uint16_t* rounded = reinterpret_cast<uint16_t*>(panels) + p * width * K;
      for (int64_t k0 = 0; k0 < K; k0 += kBlockK) {
        const int64_t k1 = std::min(K, k0 + kBlockK);
        pack_right(kernels, block, b, p * width, columns, k0, k1);
        for (int64_t i = 0; i < (k1 - k0) * width; ++i) rounded[k0 * width + i] = f32_to_bf16(block[i]);
      }
    }
  });
}

size_t matmul_scratch_bytes() {
  return (kPackedLeftFloats + kBlockK * kMaxTileCols) * sizeof(float);
}

void matmul_block(const Kernels& kernels, float* scratch, const Product& p, int64_t m0, int64_t m1,
                  int64_t n0, int64_t n1, float* c, int64_t c_stride) {
  const int rows = static_cast<int>(m1 - m0);
  const int width = kernels.tile_cols;
  const int tiles = static_cast<int>(ceil_div(rows, kernels.tile_rows));
  if (p.K == 0) return clear_or_bias(c, c_stride, rows, n1 - n0, p.add, p.bias ? p.bias + n0 : nullptr);
  float* packed_a = scratch;
  float* panel = scratch + kPackedLeftFloats;
  // As many blocks of k at once as packed rows fit: one for tall blocks, all for a few rows.
  const int64_t group = std::max(kBlockK, kPackedLeftFloats / rows / kBlockK * kBlockK);
  const int strip_panels = rows <= kStripRows && p.b.packed ? kernels.strip_panels[rows - 1] : 0;
  for (int64_t g0 = 0; g0 < p.K; g0 += group) {
    const int64_t g1 = std::min(p.K, g0 + group);
    for (int64_t k0 = g0; k0 < g1; k0 += kBlockK) {
      pack_left(kernels, packed_a + (k0 - g0) * rows, p.a, m0, rows, tiles, k0, std::min(g1, k0 + kBlockK));
    }
    for (int64_t j = n0; j < n1;) {
      const bool use_strip = strip_panels > 0 && j + strip_panels * width <= n1;
      const int columns = static_cast<int>(std::min<int64_t>(width, n1 - j));
      for (int64_t k0 = g0; k0 < g1; k0 += kBlockK) {
        const int64_t k1 = std::min(g1, k0 + kBlockK), count = k1 - k0;
        const float* left = packed_a + (k0 - g0) * rows;
        const bool adding = p.add || k0 > 0;
        const float* last_bias = p.bias && k1 == p.K ? p.bias + j : nullptr;
        const float* right = panel;
        if (p.b.packed.f32) {
          right = p.b.packed.f32 + j * p.K + k0 * width;
        } else if (p.b.packed.bf16) {
          if (!use_strip) kernels.expand_bf16(panel, p.b.packed.bf16 + j * p.K + k0 * width, count * width);
        } else {
          pack_right(kernels, panel, p.b, j, columns, k0, k1);
        }
        if (use_strip && p.b.packed.bf16) {
          kernels.strip_bf16[rows - 1](count, left, p.b.packed.bf16 + j * p.K + k0 * width, width * p.K,
                                       c + (j - n0), c_stride, adding, last_bias);
          continue;
        }
        if (use_strip) {
          kernels.strip[rows - 1](count, left, right, width * p.K, c + (j - n0), c_stride, adding, last_bias);
          continue;
        }
        for (int t = 0; t < tiles; ++t) {
          const int start = tile_start(rows, tiles, t), n = tile_start(rows, tiles, t + 1) - start;
          run_tile(kernels, n, columns, count, left + start * count, right, c + start * c_stride + (j - n0),
                   c_stride, adding, last_bias);
        }
      }
      j += use_strip ? strip_panels * width : width;
    }
  }
  for (int64_t m = m0; m < m1 && p.sharp; ++m) sharpen(kernels, p, m, n0, n1, c + (m - m0) * c_stride);
}

void matmul(CpuContext& context, const Product& p, float* c, int64_t c_stride) {
  if (p.M == 0 || p.N == 0) return;
  context.flop += 2 * p.M * p.N * p.K;
  const Kernels& kernels = context.kernels;
  const int64_t width = kernels.tile_cols;
  // A weight costs a load even if there are few rows; packing costs about as much as four rows.
  const int64_t work = p.N * p.K / kernels.width * (p.b.packed ? std::max<int64_t>(p.M, 2) : p.M + 4);
  const int threads = context.threads_for(work);
  const int64_t panels = ceil_div(p.N, width), tiles = ceil_div(p.M, kernels.tile_rows);
  int64_t row_parts = ceil_div(p.M, kMaxBlockRows), column_parts = 1;
  if (threads > 1) {
    const int64_t wanted = std::min<int64_t>(4 * threads, work / CpuContext::kWorkPerThread);
    column_parts = std::clamp<int64_t>(ceil_div(wanted, row_parts), 1, std::max<int64_t>(1, panels / 4));
    if (row_parts * column_parts < threads) row_parts = std::min(tiles, ceil_div(threads, column_parts));
    if (row_parts * column_parts < threads) column_parts = std::min(panels, ceil_div(threads, row_parts));
  }
  context.reserve_thread_scratch(threads, matmul_scratch_bytes());
  context.pool.run(row_parts * column_parts, threads, [&](int64_t task, int thread) {
    const int64_t i = task / column_parts, j = task % column_parts;
    const int64_t m0 = p.M * i / row_parts, m1 = p.M * (i + 1) / row_parts;
    const int64_t n0 = panels * j / column_parts * width;
    const int64_t n1 = std::min(p.N, panels * (j + 1) / column_parts * width);
    float* scratch = reinterpret_cast<float*>(context.thread_scratch[thread].data());
    matmul_block(kernels, scratch, p, m0, m1, n0, n1, c + m0 * c_stride + n0, c_stride);
  });
}

void linear_forward(CpuContext& context, float* y, const float* x, const float* w, const void* packed,
                    const float* bias, int64_t T, int64_t N, int64_t K) {
  matmul(context,
         {T, N, K, {{x, K, nullptr}, false}, {panels_in(packed), {w, K, nullptr}, true}, bias, false, true},
         y, N);
}

void linear_backward_input(CpuContext& context, float* dx, const float* dy, const float* w, int64_t T,
                           int64_t N, int64_t K, bool accumulate) {
  matmul(context,
         {T, K, N, {{dy, N, nullptr}, false}, {{}, {w, K, nullptr}, false}, nullptr, accumulate, false}, dx,
         K);
}

void linear_backward_weight(CpuContext& context, float* dw, float* dbias, const float* dy, const float* x,
                            int64_t T, int64_t N, int64_t K) {
  matmul(context, {N, K, T, {{dy, N, nullptr}, true}, {{}, {x, K, nullptr}, false}, nullptr, true, false}, dw,
         K);
  if (!dbias) return;
  context.for_ranges(N, 64, T * N / context.kernels.width, [&](int64_t begin, int64_t end, int) {
    for (int64_t t = 0; t < T; ++t) context.kernels.add(dbias + begin, dy + t * N + begin, end - begin);
  });
}

}  // namespace skillgate
