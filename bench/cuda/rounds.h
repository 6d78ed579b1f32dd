// Contenders take turns, round by round, so that what the device does meanwhile (its clock, its heat) meets all of them.
#pragma once
#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace skillgate::bench {

struct Contender {
  std::function<void()> prepare;  // not timed; may be empty
  std::function<void()> run;
};

inline double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  const size_t n = x.size();
  return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

// Seconds of every round, a list for each contender; `wait` returns when the device is done. A first round is not counted.
inline std::vector<std::vector<double>> race(const std::vector<Contender>& contenders, int rounds,
                                             const std::function<void()>& wait) {
  std::vector<std::vector<double>> seconds(contenders.size());
  for (int round = 0; round <= rounds; round++)
    for (size_t i = 0; i < contenders.size(); i++) {
      if (contenders[i].prepare) contenders[i].prepare();
      wait();
      const auto begin = std::chrono::steady_clock::now();
      contenders[i].run();
      wait();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      if (round > 0) seconds[i].push_back(took.count());
    }
  return seconds;
}

// The median over the rounds of a's time over b's.
inline double median_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < a.size(); i++) ratios.push_back(a[i] / b[i]);
  return median(ratios);
}

}  // namespace skillgate::bench
