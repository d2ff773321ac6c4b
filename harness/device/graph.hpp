// SPDX-License-Identifier: Apache-2.0
// Work that starts the same kernels on the same memory over and over: to start a hundred small ones takes a host longer than
// a GPU takes to run them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace recollect {

/// On CUDA, work is recorded as a graph and started as one from then on; elsewhere it is run every time. It runs
/// where its kernels would, in the lane in force.
class DeviceGraph {
public:
  /// All that kernels of the work depend on: sizes, and where their memory begins. What is done with equal keys is the same.
  using Key = std::vector<std::uintptr_t>;

  /// Work that needs the host, since it allocates, frees or waits, is never recorded: it is run plainly until a run needed
  /// no host, and always while one of Kokkos's tools looks on, which would see nothing of a graph.
  void operator()(const Key &key, const std::function<void()> &work);
  /// Whether the last work was started as a graph.
  bool replayed() const { return replayed_; }

private:
  struct Graph;
  Key key_;
  enum class Stage { watched, ready, refused } stage_ = Stage::watched; // ready: a run needed no host
  bool replayed_ = false;
  std::shared_ptr<Graph> graph_;
};

} // namespace recollect
