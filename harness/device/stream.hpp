// SPDX-License-Identifier: Apache-2.0
// A queue of kernels beside others.
#pragma once
#include "harness/device/launch_space.hpp"

namespace recollect {

/// On a GPU what is put into different lanes runs side by side, what is put into one in order; elsewhere all of it in order.
class DeviceStream {
public:
  DeviceStream();
  ~DeviceStream(); // once all in it is over
  DeviceStream(const DeviceStream &) = delete;
  DeviceStream &operator=(const DeviceStream &) = delete;

  /// While it lives, this lane is in force: queue(), and so everything that is started, is its own.
  class Within {
  public:
    explicit Within(const DeviceStream &stream) : before_(streams::in_force) { streams::in_force = &stream.queue_; }
    ~Within() { streams::in_force = before_; }
    Within(const Within &) = delete;
    Within &operator=(const Within &) = delete;

  private:
    const streams::Queue *before_;
  };

private:
  streams::Queue queue_;
};

} // namespace recollect
