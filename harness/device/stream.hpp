// SPDX-License-Identifier: Apache-2.0
// A stream of a GPU (CUDA, HIP): a queue of kernels and copies.
#pragma once
#include "harness/device/launch_space.hpp"

namespace recollect {

/// On a GPU, work in different streams runs concurrently, work in one stream in order. On a host all work runs in
/// order.
class DeviceStream {
public:
  DeviceStream();
  ~DeviceStream(); // waits for the work in the stream
  DeviceStream(const DeviceStream &) = delete;
  DeviceStream &operator=(const DeviceStream &) = delete;

  /// While an object of this type exists, queue() returns the given stream. So all kernels and copies start in this
  /// stream.
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
