// Tiles of a matrix product, held in registers; and the transpose that packs operands for them.
#pragma once
#include "cpu/kernels.h"
#include "cpu/simd.h"

namespace skillgate::SKILLGATE_TARGET {

#if defined(SKILLGATE_KERNELS_AVX512)
constexpr int kTileRows = 14;
#else
constexpr int kTileRows = 6;
#endif
constexpr int kTileCols = 2 * Vec::width;

template <int Vectors>
inline __attribute__((always_inline)) void store_row(const Vec* sum, float* c, bool add, const float* bias) {
#pragma GCC unroll 2
  for (int n = 0; n < Vectors; ++n) {
    Vec y = sum[n];
    if (add) y = Vec::load(c + n * Vec::width) + y;
    if (bias) y = y + Vec::load(bias + n * Vec::width);
    y.store(c + n * Vec::width);
  }
}

template <TileForm form, int Vectors, int Rows>
void tile(int64_t k, const float* a, const float* b, float* c, int64_t c_stride, bool add,
          const float* bias) {
  constexpr int64_t row_step = form == TileForm::row_major ? kBlockKeys : 1;
  constexpr int64_t k_step = form == TileForm::packed ? Rows : form == TileForm::row_major ? 1 : kBlockKeys;
  Vec sum[Rows][Vectors];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 2
    for (int n = 0; n < Vectors; ++n) sum[i][n] = Vec::zero();
  }
  for (; k > 0; --k) {
    Vec column[Vectors];
#pragma GCC unroll 2
    for (int n = 0; n < Vectors; ++n) column[n] = Vec::load(b + n * Vec::width);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      Vec row = Vec::set1(a[i * row_step]);
#pragma GCC unroll 2
      for (int n = 0; n < Vectors; ++n) sum[i][n] = fma(row, column[n], sum[i][n]);
    }
    a += k_step;
    b += Vectors * Vec::width;
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) store_row<Vectors>(sum[i], c + i * c_stride, add, bias);
}

inline __attribute__((always_inline)) Vec load_weights(const float* p) {
  return Vec::load(p);
}
inline __attribute__((always_inline)) Vec load_weights(const uint16_t* p) {
  return Vec::load_bf16(p);
}

template <int Panels, int Rows, class Element>
void strip(int64_t k, const float* a, const Element* b, int64_t b_stride, float* c, int64_t c_stride,
           bool add, const float* bias) {
  Vec sum[Rows][2 * Panels];
#pragma GCC unroll 4
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 16
    for (int n = 0; n < 2 * Panels; ++n) sum[i][n] = Vec::zero();
  }
  for (; k > 0; --k) {
    Vec row[Rows];
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) row[i] = Vec::set1(a[i]);
#pragma GCC unroll 8
    for (int p = 0; p < Panels; ++p) {
#pragma GCC unroll 2
      for (int n = 0; n < 2; ++n) {
        Vec column = load_weights(b + p * b_stride + n * Vec::width);
#pragma GCC unroll 4
        for (int i = 0; i < Rows; ++i) sum[i][2 * p + n] = fma(row[i], column, sum[i][2 * p + n]);
      }
    }
    a += Rows;
    b += kTileCols;
  }
#pragma GCC unroll 4
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 8
    for (int p = 0; p < Panels; ++p) {
      store_row<2>(sum[i] + 2 * p, c + i * c_stride + p * kTileCols, add,
                   bias ? bias + p * kTileCols : nullptr);
    }
  }
}

inline void transpose(float* to, int64_t to_stride, const float* const* rows, int n, int padded_n, int64_t at,
                      int64_t count) {
  for (int i = 0; i < n; i += kTransposeBlock) {
    int block_rows = n - i < kTransposeBlock ? n - i : kTransposeBlock;
    int64_t j = 0;
    for (; j + kTransposeBlock <= count; j += kTransposeBlock) {
      transpose_block(to + j * to_stride + i, to_stride, rows + i, block_rows, at + j);
    }
    for (; j < count; ++j) {
      for (int r = 0; r < block_rows; ++r) to[j * to_stride + i + r] = rows[i + r][at + j];
    }
  }
  for (int64_t j = 0; n < padded_n && j < count; ++j) {
    for (int i = n; i < padded_n; ++i) to[j * to_stride + i] = 0.f;
  }
}

inline void pack_panel(float* to, const float* const* rows, int64_t count, int64_t column, int columns,
                       int padded) {
  constexpr int W = Vec::width;
  if (columns == 2 * W && padded == 2 * W) {
    for (int64_t k = 0; k < count; ++k) {
      const float* from = rows[k] + column;
      Vec::load(from).store(to + k * 2 * W);
      Vec::load(from + W).store(to + k * 2 * W + W);
    }
    return;
  }
  for (int64_t k = 0; k < count; ++k) {
    const float* from = rows[k] + column;
    float* row = to + k * padded;
    for (int j = 0; j < padded; j += W) {
      int left = columns - j;
      Vec v = left >= W ? Vec::load(from + j) : left > 0 ? Vec::load_partial(from + j, left) : Vec::zero();
      v.store(row + j);
    }
  }
}

inline void expand_bf16(float* to, const uint16_t* from, int64_t n) {
  for (int64_t i = 0; i < n; i += Vec::width) Vec::load_bf16(from + i).store(to + i);
}

inline void split_row(float* to, const float* from, int size, int tiles, int64_t step) {
  for (int t = 0; t < tiles; ++t) {
    for_each_some(
        size, [&](int64_t i, int c) { store_some(load_some(from + t * size + i, c), to + t * step + i, c); });
  }
}

template <TileForm form, int Vectors, int... Rows>
constexpr void fill_tiles(TileKernel (&to)[kMaxTileRows], std::integer_sequence<int, Rows...>) {
  ((to[Rows] = tile<form, Vectors, Rows + 1>), ...);
}

template <TileForm form>
constexpr void fill_form(Kernels& k) {
  using Counts = std::make_integer_sequence<int, kTileRows>;
  fill_tiles<form, 1>(k.tile[static_cast<int>(form)][0], Counts{});
  fill_tiles<form, 2>(k.tile[static_cast<int>(form)][1], Counts{});
}

constexpr void fill_matmul(Kernels& k) {
  k.width = Vec::width;
  k.tile_rows = kTileRows;
  k.tile_cols = kTileCols;
  fill_form<TileForm::packed>(k);
  fill_form<TileForm::row_major>(k);
  fill_form<TileForm::transposed>(k);
  k.strip[0] = strip<4, 1, float>;
  k.strip[1] = strip<2, 2, float>;
  k.strip[2] = strip<2, 3, float>;
  k.strip_bf16[0] = strip<4, 1, uint16_t>;
  k.strip_bf16[1] = strip<2, 2, uint16_t>;
  k.strip_bf16[2] = strip<2, 3, uint16_t>;
  k.strip_panels[0] = 4;
  k.strip_panels[1] = 2;
  k.strip_panels[2] = 2;
  k.transpose = transpose;
  k.pack_panel = pack_panel;
  k.split_row = split_row;
  k.expand_bf16 = expand_bf16;
}

}  // namespace skillgate::SKILLGATE_TARGET
