// The instructions of native/cuda/tensor_core.cuh on the emulator; fragments as that file lays them out.
#pragma once
#include <cuda_bf16.h>

#include <cstdint>
#include <cstring>

#include "emulator/block.h"

namespace emulation {

inline float half_of(uint32_t pair, int i) {
  return __bfloat162float(__nv_bfloat16{static_cast<uint16_t>(pair >> (16 * i))});
}

// Each element's 16 products are added to it one after the other, in order of k.
inline void multiply_add(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  LaneWords own{};
  std::memcpy(own.word, a, sizeof a);
  std::memcpy(own.word + 4, b, sizeof b);
  const LaneWords* lanes = meet("mma.sync", &own, sizeof own);
  const int g = running->lane / 4, t = running->lane % 4;
  for (int i = 0; i < 4; i++) {
    const int upper = i / 2;      // row g or g + 8
    const int n = 2 * t + i % 2;  // column
    float sum = c[i];
    for (int k = 0; k < 16; k++) {
      const int pair = k % 8 / 2, late = k / 8;
      const uint32_t left = lanes[4 * g + pair].word[2 * late + upper];
      const uint32_t right = lanes[4 * n + pair].word[4 + late];
      sum += half_of(left, k % 2) * half_of(right, k % 2);
    }
    c[i] = sum;
  }
}

template <bool kTransposed>
void load_matrices(uint32_t* r, int count, const void* row, const char* name) {
  LaneWords own{};
  std::memcpy(own.word, &row, sizeof row);
  if (reinterpret_cast<uintptr_t>(row) % 16 != 0)
    fail(std::string(name) + ": a row is not aligned to 16 bytes");
  const LaneWords* lanes = meet(name, &own, sizeof own);
  const int g = running->lane / 4, t = running->lane % 4;
  for (int i = 0; i < count; i++) {
    const uint16_t* rows[8];
    for (int j = 0; j < 8; j++) std::memcpy(&rows[j], lanes[8 * i + j].word, sizeof rows[j]);
    const uint16_t low = kTransposed ? rows[2 * t][g] : rows[g][2 * t];
    const uint16_t high = kTransposed ? rows[2 * t + 1][g] : rows[g][2 * t + 1];
    r[i] = static_cast<uint32_t>(low) | static_cast<uint32_t>(high) << 16;
  }
  // The instruction reads before any lane goes on and writes there.
  meet("end of ldmatrix", nullptr, 0);
}
template <bool kTransposed>
void load_matrices_x4(uint32_t (&r)[4], const void* row) {
  load_matrices<kTransposed>(r, 4, row, "ldmatrix.x4");
}
template <bool kTransposed>
void load_matrices_x2(uint32_t (&r)[2], const void* row) {
  load_matrices<kTransposed>(r, 2, row, "ldmatrix.x2");
}

inline void async_copy_16(void* to, const void* from, int valid) {
  if (reinterpret_cast<uintptr_t>(to) % 16 != 0 || reinterpret_cast<uintptr_t>(from) % 16 != 0)
    fail("cp.async: an address is not aligned to 16 bytes");
  start_copy({to, from, 16, valid});
}
inline void async_copy_commit() {
  commit_copies();
}
template <int kOpen>
void async_copy_wait() {
  finish_copies(kOpen);
}

}  // namespace emulation
