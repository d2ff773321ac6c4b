// SPDX-License-Identifier: Apache-2.0
// Times work on the device, with caches that hold nothing of it.
#pragma once
#include "harness/numerics/sampling.hpp"
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace recollect {

/// Work on buffers of its own: `reset` puts them into their first state, `launch` is what is timed.
struct Pass {
  std::function<void()> reset, launch;
};

/// On CUDA a sample lies between two events, in a stream that is held until all of it is queued, so that the host's
/// launches do not count. Work shorter than 0.3 ms is recorded as a graph of so many passes that it takes as long; where
/// its buffers would stay in the cache the passes take turns on several sets of them. The clock of the multiprocessors
/// is read before and after. Elsewhere a sample is one pass by the host's clock.
class Stopwatch {
public:
  /// `make` is called for every set of buffers; a pass reads and writes `bytes` of them. Runs passes to warm up.
  Stopwatch(const std::function<Pass()> &make, double bytes);
  ~Stopwatch();
  Stopwatch(const Stopwatch &) = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;

  /// Seconds of one pass.
  Sample sample();
  /// "events, caches flushed", "graph of 12 passes, 3 buffer sets" ...; says so where the host's launches count.
  std::string method() const;
  /// The first set of buffers, after its last pass.
  const Pass &first() const;

private:
  struct Device;
  std::unique_ptr<Device> device_;
};

/// The clock that samples are compared with, in hertz: what the driver calls the device's; 0 where none can be read.
double default_clock();

} // namespace recollect
