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
/// the host do not count. Work shorter than 0.3 ms is recorded as a graph of so many passes that it takes 0.3 ms. If
/// its buffers would stay in the cache, passes alternate between several sets of them. The clock of the multiprocessors
/// is read before and after. On other backends a sample is one pass, timed by the host's clock.
class Stopwatch {
public:
  /// `make` is called once per set of buffers. `bytes` is what a pass reads and writes. Runs passes to warm up.
  Stopwatch(const std::function<Pass()> &make, double bytes);
  ~Stopwatch();
  Stopwatch(const Stopwatch &) = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;

  /// Seconds of one pass.
  Sample sample();
  /// "events, caches flushed", "graph of 12 passes, 3 buffer sets" ...; a note follows if times include launches on the host.
  std::string method() const;
  /// The first set of buffers, after its last pass.
  const Pass &first() const;

private:
  struct Device;
  std::unique_ptr<Device> device_;
};

/// The clock, in hertz, with which samples are compared: the device's nominal clock according to the driver. 0 if
/// unknown.
double default_clock();

} // namespace recollect
