// The inner loops of every op, once for each instruction set. A kernel works on one thread's piece of one op;
// the op's .cc file cuts the work into pieces. All pointers are to float32 rows; n counts floats.
#pragma once
#include <cstdint>

#include "cpu/instruction_set.h"

namespace skillgate {

// How a matrix product tile finds a(i, k), i a row of the tile.
enum class TileForm {
  packed,     // a[k * rows + i]
  row_major,  // a[i * kBlockKeys + k]
  transposed  // a[k * kBlockKeys + i]
};
constexpr int kTileForms = 3;
constexpr int kBlockKeys = 64;    // keys a block of attention; the row stride of its score tiles
constexpr int kMaxTileRows = 14;  // of any instruction set
constexpr int kMaxTileCols = 32;
constexpr int kStripRows = 3;  // row counts that have a strip kernel

// c[i, j] = (add ? c[i, j] : 0) + sum_k a(i, k) * b[k * columns + j] + (bias ? bias[j] : 0), i < rows, j <
// columns, the sum over k one chain of fused multiply-adds from 0.
using TileKernel = void (*)(int64_t k, const float* a, const float* b, float* c, int64_t c_stride, bool add,
                            const float* bias);
// The same for `panels` panels of b that lie b_stride apart; panel p fills columns p * tile_cols of c.
template <class Element>
using StripKernel = void (*)(int64_t k, const float* a, const Element* b, int64_t b_stride, float* c,
                             int64_t c_stride, bool add, const float* bias);

// Over one tile of a row's vocabulary, y = x * inverse_temperature.
struct SoftmaxStats {
  float maximum;       // max y
  float sum;           // sum exp(y - maximum)
  float weighted_sum;  // sum exp(y - maximum) * (y - maximum)
};

// n rows are cut into `tiles` tiles whose sizes differ by at most one: the first row of tile t.
inline int tile_start(int n, int tiles, int t) {
  return n / tiles * t + (t < n % tiles ? t : n % tiles);
}

struct AdamWStep {
  float learning_rate, beta1, beta2, eps, weight_decay, gradient_scale;
  float first_correction, second_correction;  // 1 / (1 - beta^step)
};

struct Kernels {
  InstructionSet set;
  int width;                                     // floats a vector
  int tile_rows;                                 // of the largest tile
  int tile_cols;                                 // of a full tile, 2 * width
  TileKernel tile[kTileForms][2][kMaxTileRows];  // [form][vectors a row - 1][rows - 1]
  StripKernel<float> strip[kStripRows];          // [rows - 1], packed form
  StripKernel<uint16_t> strip_bf16[kStripRows];  // b in bf16
  int strip_panels[kStripRows];

  // Packing. transpose: to[j * to_stride + i] = rows[i][at + j] for i < n, j < count; 0 for n <= i <
  // padded_n.
  void (*transpose)(float* to, int64_t to_stride, const float* const* rows, int n, int padded_n, int64_t at,
                    int64_t count);
  // to[k * padded + j] = rows[k][column + j] for j < columns, 0 for columns <= j < padded; k < count.
  void (*pack_panel)(float* to, const float* const* rows, int64_t count, int64_t column, int columns,
                     int padded);
  // to[t * step + i] = from[t * size + i] for i < size, t < tiles.
  void (*split_row)(float* to, const float* from, int size, int tiles, int64_t step);

  void (*expand_bf16)(float* to, const uint16_t* from, int64_t n);  // n a multiple of width

  void (*add)(float* y, const float* x, int64_t n);                 // y += x
  void (*scale)(float* y, const float* x, float scale, int64_t n);  // y = scale * x
  float (*zero_if_finite)(const float* x, int64_t n);               // NaN if any x is not finite
  float (*dot)(const float* x, const float* y, int64_t n);
  double (*exact_dot)(const float* x, const float* y, int64_t n);  // in float64
  double (*exact_sum)(const float* x, int64_t n);                  // in float64
  // The first i from `begin` on with limit <= |x[i]| < infinity; n if there is none.
  int64_t (*find_large)(const float* x, int64_t begin, int64_t n, float limit);

  void (*rmsnorm)(float* y, float* rstd, const float* x, const float* w, int64_t n, float eps);
  void (*rmsnorm_backward)(float* dx, float* dw, const float* dy, const float* x, const float* w, int64_t n,
                           float rstd, bool accumulate);

  // One head: x of 2 * half floats. sign +1 rotates, -1 rotates back.
  void (*rope)(float* x, const float* cosine, const float* sine, int64_t half, float sign);

  void (*swiglu)(float* y, const float* gate, const float* up, int64_t n);
  void (*swiglu_backward)(float* dgate, float* dup, const float* dy, const float* gate, const float* up,
                          int64_t n);

  // One query's scores against one block of keys: s[0..visible) becomes exp(s - m), the rest of the block 0.
  // maximum and sum run on over the blocks; returns the factor by which earlier sums must shrink (1 if the
  // maximum stays).
  float (*softmax_block)(float* s, int visible, float* maximum, float* sum);
  // p[j] = exp(p[j] - lse), ds[j] = p[j] * (ds[j] - delta) for j < visible, else both 0.
  void (*softmax_block_backward)(float* p, float* ds, int visible, float lse, float delta);

  SoftmaxStats (*softmax_stats)(const float* x, int64_t n, float inverse_temperature);
  // x = -g * exp(x * inverse_temperature - maximum - log_sum)
  void (*softmax_backward)(float* x, int64_t n, float inverse_temperature, float maximum, float log_sum,
                           float g);
  // out = exp(x * inverse_temperature - maximum)
  void (*softmax_weights)(float* out, const float* x, int64_t n, float inverse_temperature, float maximum);

  void (*adamw)(float* w, const float* grad, float* m, float* v, int64_t n, const AdamWStep& step);
  double (*sum_of_squares)(const float* x, int64_t n);
};

extern const Kernels kKernelsPortable;
#if defined(__x86_64__)
extern const Kernels kKernelsAvx2;
extern const Kernels kKernelsAvx512;
#endif

inline const Kernels& kernels_for(InstructionSet set) {
#if defined(__x86_64__)
  if (set == InstructionSet::avx512) return kKernelsAvx512;
  if (set == InstructionSet::avx2) return kKernelsAvx2;
#endif
  (void)set;
  return kKernelsPortable;
}

}  // namespace skillgate
