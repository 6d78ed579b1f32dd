// A fixed set of threads that run the tasks of one call at a time. The caller takes part.
//
// Which thread runs a task is not fixed, so a task's result must not depend on it; every op is written so
// that a task owns its outputs and sums in an order that does not know the number of threads.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace skillgate {

class ThreadPool {
 public:
  // threads: at least 1, the caller included. Failure ERR_THREADS where the system gives fewer.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(task, thread) for task = 0 .. tasks - 1 on at most `threads` threads, thread = 0 .. threads
  // - 1. body must not throw.
  template <class Body>
  void run(int64_t tasks, int threads, const Body& body) {
    using Plain = std::remove_reference_t<Body>;
    run_tasks(tasks, threads, &body, [](const void* context, int64_t task, int thread) {
      (*static_cast<const Plain*>(context))(task, thread);
    });
  }

 private:
  using Call = void (*)(const void* context, int64_t task, int thread);
  struct Job {
    Call call;
    const void* context;
    int64_t tasks;
    int core;  // the caller's
    std::atomic<int64_t> next{0};
    std::atomic<int> working{0};
  };
  struct alignas(64) Worker {
    std::atomic<uint32_t> ticket{0};  // one more for each job; the last one tells the thread to end
    Job* job = nullptr;               // null: end
    std::thread thread;
  };

  void run_tasks(int64_t tasks, int threads, const void* context, Call call);
  void stop();
  static void take(Job& job, int thread);
  static void serve(Worker& worker, int thread);

  const bool own_cores_;  // there is a core for every thread
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace skillgate
