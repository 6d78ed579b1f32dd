#include "emulator/block.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "emulator/sanitizers.h"

namespace emulation {

Thread* running = nullptr;
const Launch* launched = nullptr;

namespace {

#if EMULATION_ADDRESS_SANITIZER || EMULATION_THREAD_SANITIZER
constexpr size_t kStackBytes = 256 << 10;
#else
constexpr size_t kStackBytes = 64 << 10;
#endif

// Blocks take fibers of these sets in turn. To ThreadSanitizer a fiber that ran a block knows what that block did: the
// next one is to run on fibers that do not.
constexpr size_t kFiberSets = EMULATION_THREAD_SANITIZER ? 2 : 1;

// The threads of the blocks that run together, and which of them can go on.
struct Team {
  std::vector<Block> blocks;
  Barrier cluster_barrier;
  size_t threads = 0, finished = 0, turn = 0;
  std::vector<Thread*> ready;
  Random random{0};
  std::string fault;
};

Team team;
Fiber* outside = nullptr;
std::vector<std::unique_ptr<Thread>> pool;  // threads, with their stacks, are used again
char kernel_starts, threads_ended;          // what orders a kernel's threads among those of other kernels

// Leaves the running thread for one that is ready; for the outside where none is.
void run_another() {
  Thread* self = running;
  Fiber* to = outside;
  running = nullptr;
  if (team.fault.empty() && !team.ready.empty()) {
    const uint32_t i = team.random.below(static_cast<uint32_t>(team.ready.size()));
    std::swap(team.ready[i], team.ready.back());
    running = team.ready.back();
    team.ready.pop_back();
    to = running->fiber.get();
  }
  if (running == self && self) return;
  Fiber::switch_between(self ? *self->fiber : *outside, *to);
}

void thread_main(void* argument) {
  auto* self = static_cast<Thread*>(argument);
  for (;;) {
    observe(&kernel_starts);
    launched->body();
    publish(&threads_ended);
    {
      const Unseen unseen;
      self->open_group.clear();
      self->groups.clear();
    }
    team.finished++;
    run_another();
  }
}

void wait_at(Barrier& barrier, size_t expected) {
  char* order = &barrier.order[barrier.rounds % 2];
  publish(order);
  {
    const Unseen unseen;
    barrier.waiting.push_back(running);
    if (barrier.waiting.size() == expected) {
      team.ready.insert(team.ready.end(), barrier.waiting.begin(), barrier.waiting.end());
      barrier.waiting.clear();
      barrier.rounds++;
    }
  }
  run_another();
  observe(order);
}

std::string deadlock() {
  std::string at;
  for (const Block& b : team.blocks) {
    if (!b.barrier.waiting.empty())
      at += std::to_string(b.barrier.waiting.size()) + " threads at a block barrier; ";
    for (const Warp& w : b.warps)
      if (!w.barrier.waiting.empty())
        at += std::to_string(w.barrier.waiting.size()) + " lanes at " + w.operation + "; ";
  }
  return launched->name + ": " + std::to_string(team.finished) + " of " + std::to_string(team.threads) +
         " threads ended while others wait: " + at;
}

// Threads of a kernel that stopped half-way have told what they did only where they last waited.
void observe_stopped_threads() {
  auto both = [](Barrier& b) {
    observe(&b.order[0]);
    observe(&b.order[1]);
  };
  both(team.cluster_barrier);
  for (Block& b : team.blocks) {
    both(b.barrier);
    for (Warp& w : b.warps) both(w.barrier);
  }
}

void check_guards(const Block& b) {
  bool intact = b.dynamic_shared.intact();
  for (const SharedVariable& v : b.variables) intact = intact && v.memory.intact();
  if (!intact && team.fault.empty()) team.fault = launched->name + ": shared memory written out of bounds";
}

void prepare(Block& b, Index3 index, unsigned rank, size_t block_threads) {
  const Unseen unseen;
  b.index = index;
  b.rank = rank;
#if EMULATION_THREAD_SANITIZER
  b.dynamic_shared = Guarded();  // where nobody has been: memory of the block before would make races of both
  b.variables.clear();
#endif
  if (launched->shared_bytes != b.dynamic_shared.bytes()) b.dynamic_shared = Guarded(launched->shared_bytes);
  if (launched->shared_bytes) b.dynamic_shared.poison();
  for (SharedVariable& v : b.variables) v.memory.poison();
  b.warps.resize((block_threads + kWarp - 1) / kWarp);
}

void run_team(const std::vector<Index3>& indices) {
  const Index3 d = launched->block;
  const size_t block_threads = size_t{d.x} * d.y * d.z;
  team.threads = block_threads * indices.size();
  team.finished = 0;
  team.ready.clear();
  const size_t set = team.turn++ % kFiberSets;
  while (pool.size() < team.threads * kFiberSets) {
    pool.push_back(std::make_unique<Thread>());
    pool.back()->fiber = std::make_unique<Fiber>(kStackBytes, thread_main, pool.back().get());
  }
  size_t next = 0;
  for (size_t i = 0; i < indices.size(); i++) {
    Block& b = team.blocks[i];
    prepare(b, indices[i], static_cast<unsigned>(i), block_threads);
    for (size_t t = 0; t < block_threads; t++) {
      Thread& thread = *pool[next++ * kFiberSets + set];
      thread.index = {static_cast<unsigned>(t % d.x), static_cast<unsigned>(t / d.x % d.y),
                      static_cast<unsigned>(t / d.x / d.y)};
      thread.block = &b;
      thread.warp = &b.warps[t / kWarp];
      thread.lane = static_cast<int>(t % kWarp);
      thread.parity = 0;
      team.ready.push_back(&thread);
    }
  }
  run_another();
  if (team.fault.empty() && team.finished != team.threads) team.fault = deadlock();
  for (const Block& b : team.blocks) check_guards(b);
}

}  // namespace

std::string run_kernel(const Launch& launch, uint64_t seed) {
  Fiber here;
  outside = &here;
  launched = &launch;
  publish(&kernel_starts);
  team.random = Random(seed);
  team.fault.clear();
  {
    const Unseen unseen;
    team.blocks.clear();
    team.blocks.resize(launch.cluster);
  }
  const uint64_t clusters = uint64_t{launch.grid.x} / launch.cluster * launch.grid.y * launch.grid.z;
  std::vector<uint64_t> order(clusters);
  std::iota(order.begin(), order.end(), 0);
  for (uint64_t i = clusters; i > 1; i--) std::swap(order[i - 1], order[team.random.next() % i]);
  std::vector<Index3> indices(launch.cluster);
  for (uint64_t c : order) {
    const uint64_t along_x = launch.grid.x / launch.cluster;
    for (unsigned r = 0; r < launch.cluster; r++)
      indices[r] = {static_cast<unsigned>(c % along_x) * launch.cluster + r,
                    static_cast<unsigned>(c / along_x % launch.grid.y),
                    static_cast<unsigned>(c / along_x / launch.grid.y)};
    run_team(indices);
    if (!team.fault.empty()) {
      observe_stopped_threads();
      const Unseen unseen;
      pool.clear();  // its threads stopped in mid-kernel
      break;
    }
  }
  observe(&threads_ended);
  launched = nullptr;
  return team.fault;
}

void fail(const std::string& what) {
  const Index3 b = running->block->index, t = running->index;
  auto text = [](const Index3& i) {
    return "(" + std::to_string(i.x) + ", " + std::to_string(i.y) + ", " + std::to_string(i.z) + ")";
  };
  team.fault = launched->name + ": block " + text(b) + " thread " + text(t) + ": " + what;
  publish(&threads_ended);
  run_another();
  std::abort();  // a thread of a kernel that failed is never gone on with
}

void wait_for_block() {
  const Index3 d = launched->block;
  wait_at(running->block->barrier, size_t{d.x} * d.y * d.z);
}

void wait_for_cluster() {
  wait_at(team.cluster_barrier, team.threads);
}

void* shared_variable(const void* tag, size_t bytes) {
  std::vector<SharedVariable>& all = running->block->variables;
  for (SharedVariable& v : all)
    if (v.tag == tag) return v.memory.data();
  const Unseen unseen;
  all.push_back({tag, Guarded(bytes)});
  return all.back().memory.data();
}

void* dynamic_shared() {
  return running->block->dynamic_shared.data();
}

void* in_block_of_cluster(void* shared, unsigned rank) {
  const Block& own = *running->block;
  Block& other = team.blocks.at(rank);
  auto offset_in = [&](const Guarded& m) {
    const auto offset = static_cast<char*>(shared) - static_cast<char*>(m.data());
    return m.data() && offset >= 0 && static_cast<size_t>(offset) < m.bytes() ? offset : -1;
  };
  if (const auto offset = offset_in(own.dynamic_shared); offset >= 0)
    return static_cast<char*>(other.dynamic_shared.data()) + offset;
  for (const SharedVariable& v : own.variables)
    if (const auto offset = offset_in(v.memory); offset >= 0)
      for (SharedVariable& w : other.variables)
        if (w.tag == v.tag) return static_cast<char*>(w.memory.data()) + offset;
  fail("not in the shared memory of this block");
}

const LaneWords* meet(const char* operation, const void* words, size_t bytes) {
  Warp& w = *running->warp;
  if (!w.barrier.waiting.empty() && w.operation != operation && std::strcmp(w.operation, operation) != 0)
    fail(std::string(operation) + ": other lanes of the warp wait at " + w.operation);
  w.operation = operation;
  LaneWords* set = w.words[running->parity++ & 1];
  if (bytes) {
    const Unseen unseen;
    std::memcpy(&set[running->lane], words, bytes);
  }
  wait_at(w.barrier, kWarp);
  return set;
}

void start_copy(const PendingCopy& copy) {
  const Unseen unseen;
  running->open_group.push_back(copy);
}
void commit_copies() {
  const Unseen unseen;
  running->groups.push_back(std::exchange(running->open_group, {}));
}
void finish_copies(size_t open) {
  auto& groups = running->groups;
  size_t done = 0;
  for (; groups.size() - done > open; done++)
    for (const PendingCopy& c : groups[done]) {
      std::memcpy(c.to, c.from, static_cast<size_t>(c.valid));
      std::memset(static_cast<char*>(c.to) + c.valid, 0, static_cast<size_t>(c.bytes - c.valid));
    }
  const Unseen unseen;
  groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(done));
}

}  // namespace emulation
