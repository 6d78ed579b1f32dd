#include "cpu/thread_pool.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "backend/status.h"
#include "cpu/cores.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace skillgate {
namespace {

// Jobs often follow each other within microseconds: look that long before sleeping.
constexpr int kSpins = 1000;

inline void pause_briefly() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

template <class T>
T wait_while(const std::atomic<T>& value, T old) {
  for (int i = 0; i < kSpins; ++i) {
    T seen = value.load(std::memory_order_acquire);
    if (seen != old) return seen;
    pause_briefly();
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(int threads) : own_cores_(threads <= usable_cores()) {
  for (int i = 1; i < threads; ++i) {
    workers_.push_back(std::make_unique<Worker>());
    Worker& worker = *workers_.back();
    try {
      worker.thread = std::thread([&worker, i] { serve(worker, i); });
    } catch (const std::system_error& error) {
      workers_.pop_back();
      stop();
      throw Failure("ERR_THREADS", "expected to start " + std::to_string(threads) +
                                       " threads, the system gave " + std::to_string(i) + ": " +
                                       error.what());
    }
  }
}

ThreadPool::~ThreadPool() {
  stop();
}

void ThreadPool::stop() {
  for (auto& worker : workers_) {
    worker->job = nullptr;
    worker->ticket.fetch_add(1, std::memory_order_release);
    worker->ticket.notify_one();
  }
  for (auto& worker : workers_) worker->thread.join();
}

void ThreadPool::take(Job& job, int thread) {
  for (;;) {
    int64_t task = job.next.fetch_add(1, std::memory_order_relaxed);
    if (task >= job.tasks) return;
    job.call(job.context, task, thread);
  }
}

void ThreadPool::serve(Worker& worker, int thread) {
  uint32_t seen = 0;
  for (;;) {
    seen = wait_while(worker.ticket, seen);
    Job* job = worker.job;
    if (!job) return;
    // A thread that slept is often woken on the core of who wakes it, and the two then share it for
    // milliseconds.
    leave_core(job->core);
    take(*job, thread);
    // The job lives on the caller's stack: after the count falls to 0 it may be gone, so the caller polls and
    // is never notified through it.
    job->working.fetch_sub(1, std::memory_order_release);
  }
}

void ThreadPool::run_tasks(int64_t tasks, int threads, const void* context, Call call) {
  int used = static_cast<int>(std::min<int64_t>({tasks, threads, this->threads()}));
  if (used <= 1) {
    for (int64_t task = 0; task < tasks; ++task) call(context, task, 0);
    return;
  }
  Job job;
  job.call = call;
  job.context = context;
  job.tasks = tasks;
  job.core = own_cores_ ? current_core() : -1;
  job.working.store(used - 1, std::memory_order_relaxed);
  for (int i = 0; i + 1 < used; ++i) {
    workers_[i]->job = &job;
    workers_[i]->ticket.fetch_add(1, std::memory_order_release);
    workers_[i]->ticket.notify_one();
  }
  take(job, 0);
  for (int spins = 0; job.working.load(std::memory_order_acquire) != 0; ++spins) {
    if (spins < kSpins) {
      pause_briefly();
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace skillgate
