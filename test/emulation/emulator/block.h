// Runs a kernel: the threads of each block are fibers that change only where they wait for each other, in a
// seeded random order. Blocks run one after the other in random order, the blocks of a cluster together.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulator/fiber.h"
#include "emulator/guarded.h"
#include "emulator/random.h"

namespace emulation {

struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};

constexpr int kWarp = 32;

// What one lane brings to a warp-wide operation.
struct LaneWords {
  uint32_t word[8];
};

struct Thread;

struct Barrier {
  std::vector<Thread*> waiting;
  // What ThreadSanitizer is told orders a round's threads: two places in turn, for one thread may wait in the next
  // round before another has gone on from this one.
  char order[2];
  unsigned rounds = 0;
};

// The lanes of a warp meet here for shuffles, votes and tensor-core instructions, always all 32. Two sets of
// words in turn: a lane may bring the next operation's words while another still reads the last one's.
struct Warp {
  LaneWords words[2][kWarp];
  const char* operation = nullptr;  // of those that wait
  Barrier barrier;
};

struct SharedVariable {
  const void* tag;  // one address for each declaration
  Guarded memory;
};

struct Block {
  Index3 index;
  unsigned rank = 0;  // in its cluster
  Guarded dynamic_shared;
  std::vector<SharedVariable> variables;
  Barrier barrier;
  std::vector<Warp> warps;
};

// One cp.async: performed only when its group is waited for.
struct PendingCopy {
  void* to;
  const void* from;
  int bytes, valid;  // the rest becomes 0
};

struct Thread {
  Index3 index;
  Block* block = nullptr;
  Warp* warp = nullptr;
  int lane = 0;
  unsigned parity = 0;
  std::vector<PendingCopy> open_group;
  std::vector<std::vector<PendingCopy>> groups;
  std::unique_ptr<Fiber> fiber;
};

extern Thread* running;  // the device thread that runs; null outside a kernel

struct Launch {
  std::string name;
  Index3 grid, block;
  size_t shared_bytes = 0;
  unsigned cluster = 1;  // blocks along x
  std::function<void()> body;
};

extern const Launch* launched;  // the kernel that runs

// Empty, or what went wrong: a barrier that not all threads reach, lanes that meet in different operations,
// memory written out of bounds.
std::string run_kernel(const Launch& launch, uint64_t seed);

// Called by device threads.
[[noreturn]] void fail(const std::string& what);  // ends the kernel
void wait_for_block();
void wait_for_cluster();
void* shared_variable(const void* tag, size_t bytes);
void* dynamic_shared();
void* in_block_of_cluster(void* shared, unsigned rank);  // the same place in another block's shared memory
// Brings words and waits for the other lanes; returns all 32 lanes' words.
const LaneWords* meet(const char* operation, const void* words, size_t bytes);
// cp.async: copies are performed when at most `open` groups may be left open.
void start_copy(const PendingCopy& copy);
void commit_copies();
void finish_copies(size_t open);

}  // namespace emulation
