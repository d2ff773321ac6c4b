// SPDX-License-Identifier: Apache-2.0
// A pass normally returns when the device has finished it. While a Queueing object exists, a pass returns at once.
#pragma once
#include <Kokkos_Core.hpp>

namespace recollect {

/// While an object of this type exists, passes queue their kernels and do not wait for them.
class Queueing {
public:
  Queueing() : before_(on_) { on_ = true; }
  ~Queueing() { on_ = before_; }
  Queueing(const Queueing &) = delete;
  Queueing &operator=(const Queueing &) = delete;
  static bool on() { return on_; }

private:
  static inline bool on_ = false;
  bool before_;
};

/// Called at the end of every pass.
inline void end_of_pass() {
  if (!Queueing::on()) Kokkos::fence();
}

} // namespace recollect
