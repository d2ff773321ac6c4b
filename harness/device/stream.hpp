// SPDX-License-Identifier: Apache-2.0
// A queue of kernels beside others.
#pragma once
#include "harness/device/launch_space.hpp"

namespace recollect {

/// On a GPU what is put into different lanes runs side by side, what is put into one in order; elsewhere all of it in order.
class Lane {
public:
  Lane();
  ~Lane(); // once all in it is over
  Lane(const Lane &) = delete;
  Lane &operator=(const Lane &) = delete;

  /// While it lives, this lane is in force: queue(), and so everything that is started, is its own.
  class Within {
  public:
    explicit Within(const Lane &lane) : before_(lanes::in_force) { lanes::in_force = &lane.queue_; }
    ~Within() { lanes::in_force = before_; }
    Within(const Within &) = delete;
    Within &operator=(const Within &) = delete;

  private:
    const lanes::Queue *before_;
  };

private:
  lanes::Queue queue_;
};

} // namespace recollect
