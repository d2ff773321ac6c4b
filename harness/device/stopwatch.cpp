// SPDX-License-Identifier: Apache-2.0
#include "harness/device/stopwatch.hpp"
#include "harness/device/ceilings.hpp"
#include "harness/device/launch.hpp"
#include "harness/device/queueing.hpp"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace recollect {

#ifdef KOKKOS_ENABLE_CUDA
namespace {

using launching::cuda_check;
constexpr double short_work = 3e-4; // seconds
constexpr size_t most_sets = 16, most_passes = 256;
constexpr unsigned long long first_hold = 50'000, longest_hold = 50'000'000; // nanoseconds

__global__ void hold(unsigned long long nanoseconds) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < nanoseconds);
}

struct Reading {
  unsigned long long nanoseconds, cycles; // 0, 0: not read
};

__global__ void read_clocks(Reading *of_multiprocessor, unsigned count) {
  unsigned which; // number of this multiprocessor; numbers may have gaps
  Reading r;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(which));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(r.nanoseconds));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(r.cycles));
  if (which < count) of_multiprocessor[which] = r;
}

/// Clock readings of all multiprocessors before and after the timed work, in memory that the host can read.
class Readings {
public:
  Readings() : count_(size_t(Execution().cuda_device_prop().multiProcessorCount)) {
    cuda_check(cudaHostAlloc(&at_, 2 * count_ * sizeof(Reading), cudaHostAllocDefault), "reading clocks");
  }
  ~Readings() { cudaFreeHost(at_); }
  Readings(const Readings &) = delete;
  Readings &operator=(const Readings &) = delete;
  void clear() { std::fill(at_, at_ + 2 * count_, Reading{0, 0}); }
  void take(bool after, cudaStream_t stream) {
    read_clocks<<<unsigned(count_), 1, 0, stream>>>(at_ + (after ? count_ : 0), unsigned(count_));
    cuda_check(cudaGetLastError(), "reading clocks");
  }
  /// The clock in hertz: the median over multiprocessors that were read both times; 0 if there is none.
  double clock() const {
    std::vector<double> all;
    for (size_t i = 0; i < count_; ++i) {
      const Reading &a = at_[i], &b = at_[count_ + i];
      if (a.nanoseconds && b.nanoseconds > a.nanoseconds)
        all.push_back(1e9 * double(b.cycles - a.cycles) / double(b.nanoseconds - a.nanoseconds));
    }
    return all.empty() ? 0 : median_of(all);
  }

private:
  size_t count_;
  Reading *at_ = nullptr;
};

class Event {
public:
  Event() { cuda_check(cudaEventCreate(&event_), "an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;
  void record(cudaStream_t stream) const { cuda_check(cudaEventRecord(event_, stream), "an event"); }
  void wait() const { cuda_check(cudaEventSynchronize(event_), "what is timed"); }
  bool over() const { return cudaEventQuery(event_) == cudaSuccess; }
  double until(const Event &end) const {
    float milliseconds = 0;
    cuda_check(cudaEventElapsedTime(&milliseconds, event_, end.event_), "an event");
    return double(milliseconds) / 1e3;
  }

private:
  cudaEvent_t event_ = nullptr;
};

} // namespace

struct Stopwatch::Device {
  Device(const std::function<Pass()> &make, double bytes) {
    sets.push_back(make());
    for (int i = 0; i < 3; ++i) { // only the first round allocates memory
      sets[0].reset(), sets[0].launch();
      flush_caches();
    }
    const double once = sample().seconds;
    if (once >= short_work) return;
    const double cached = 3.0 * Execution().cuda_device_prop().l2CacheSize;
    while (sets.size() < most_sets && double(sets.size()) * bytes < cached) {
      sets.push_back(make());
      for (int i = 0; i < 2; ++i) sets.back().reset(), sets.back().launch();
    }
    const size_t wanted = std::min(most_passes, size_t(std::ceil(short_work / std::max(once, 1e-6))));
    passes = (wanted + sets.size() - 1) / sets.size() * sets.size();
    record();
    sample();
  }
  ~Device() {
    if (graph) cudaGraphExecDestroy(graph);
  }

  static cudaStream_t stream() { return queue().cuda_stream(); }

  void queue_passes() const {
    const Queueing only;
    for (size_t i = 0; i < passes; ++i) sets[i % sets.size()].launch();
  }

  /// Records the passes as a graph. `graph` stays null if some of the work cannot be recorded.
  void record() {
    for (const Pass &set : sets) set.reset();
    cudaGraph_t recorded = nullptr;
    cuda_check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal), "a recording");
    bool whole = true;
    try {
      queue_passes();
    } catch (const std::exception &) { // Kokkos throws for a call that may not be recorded
      whole = false;
    }
    whole = cudaStreamEndCapture(stream(), &recorded) == cudaSuccess && whole;
    if (whole && cudaGraphInstantiateWithFlags(&graph, recorded, 0) != cudaSuccess) graph = nullptr;
    if (recorded) cudaGraphDestroy(recorded);
    cudaGetLastError(); // clears the error, which the next kernel would report
  }

  Sample sample() {
    for (;;) {
      for (const Pass &set : sets) set.reset();
      flush_caches();
      readings.clear();
      hold<<<1, 1, 0, stream()>>>(held);
      readings.take(false, stream());
      start.record(stream());
      if (graph)
        cuda_check(cudaGraphLaunch(graph, stream()), "a recording");
      else
        queue_passes();
      end.record(stream());
      const bool late = start.over();
      readings.take(true, stream());
      Kokkos::fence();
      end.wait();
      if (late && !host_counts) { // the stream was released before everything was queued
        if (held < longest_hold) {
          held *= 4;
          continue;
        }
        host_counts = true, held = first_hold;
      }
      const double clock = readings.clock(), usual = default_clock();
      return {start.until(end) / double(passes), clock > 0 && usual > 0 ? clock / usual : 1};
    }
  }

  std::string method() const {
    std::string text = graph ? "graph of " + std::to_string(passes) + " passes" : "events";
    if (!graph && passes > 1) text += " around " + std::to_string(passes) + " passes";
    text += sets.size() > 1 ? ", " + std::to_string(sets.size()) + " buffer sets" : ", caches flushed";
    return host_counts ? text + ", the host's launches count" : text;
  }

  std::vector<Pass> sets;
  size_t passes = 1;
  cudaGraphExec_t graph = nullptr;
  Event start, end;
  Readings readings;
  unsigned long long held = first_hold;
  bool host_counts = false;
};

double default_clock() {
  int kilohertz = 0;
  if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, Execution().cuda_device()) != cudaSuccess) return 0;
  return 1e3 * kilohertz;
}
#else
struct Stopwatch::Device {
  Device(const std::function<Pass()> &make, double) : pass(make()) {
    double last = sample().seconds;
    for (int i = 0; i < 10 && last < 1; ++i) { // until two times in a row agree to 5%
      const double now = sample().seconds;
      if (std::fabs(now - last) < 0.05 * last) return;
      last = now;
    }
  }
  Sample sample() {
    pass.reset();
    flush_caches();
    const auto start = std::chrono::steady_clock::now();
    pass.launch();
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 1};
  }
  std::string method() const { return "host clock, caches flushed"; }

  Pass pass;
};

double default_clock() { return 0; }
#endif

Stopwatch::Stopwatch(const std::function<Pass()> &make, double bytes) : device_(new Device(make, bytes)) {}
Stopwatch::~Stopwatch() = default;
Sample Stopwatch::sample() { return device_->sample(); }
std::string Stopwatch::method() const { return device_->method(); }
const Pass &Stopwatch::first() const {
#ifdef KOKKOS_ENABLE_CUDA
  return device_->sets[0];
#else
  return device_->pass;
#endif
}

} // namespace recollect
