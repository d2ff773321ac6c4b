// SPDX-License-Identifier: Apache-2.0
// Times work on the device with cold caches.
#pragma once
#include "harness/numerics/sampling.hpp"
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace recollect {

/// Work on its own buffers: `reset` restores their initial contents, `launch` is timed.
struct Pass {
  std::function<void()> reset, launch;
};

/// On CUDA a sample is timed by two events, in a stream that is blocked until all work is queued, so that launches on
/// the host do not count. If a pass is shorter than 0.3 ms, a sample is a graph of so many passes that it takes 0.3 ms.
/// If the buffers of these passes would stay in the cache, the passes alternate between several sets of buffers. The
/// clock of the multiprocessors is read before and after the work. On other backends a sample is one pass, timed by the
/// host's clock.
class Stopwatch {
public:
  /// Calls `make` once per set of buffers, and runs passes to warm up. `bytes` is the number of bytes that a pass reads
  /// and writes.
  Stopwatch(const std::function<Pass()> &make, double bytes);
  ~Stopwatch();
  Stopwatch(const Stopwatch &) = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;

  /// The time of one pass.
  Sample sample();
  /// How a sample is taken: "events, caches flushed", "graph of 12 passes, 3 buffer sets" ... It says so if times
  /// include launches on the host.
  std::string method() const;
  /// The first set of buffers, after its last pass.
  const Pass &first() const;

private:
  struct Device;
  std::unique_ptr<Device> device_;
};

/// The nominal clock of the device in hertz, according to the driver; Sample::clock is relative to it. 0 if unknown.
double default_clock();

} // namespace recollect
