// SPDX-License-Identifier: Apache-2.0
// CUDA graphs, for work that launches the same kernels on the same memory many times. Without a graph, the host takes
// longer to launch a hundred small kernels than the GPU takes to run them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace recollect {

/// On CUDA, records the work as a graph, and launches this graph from then on. Elsewhere runs the work every time. The
/// graph runs in the current stream.
class DeviceGraph {
public:
  /// Everything that the kernels depend on: sizes, and the addresses of their memory. Equal keys mean equal work.
  using Key = std::vector<std::uintptr_t>;

  /// Work that allocates, frees or waits needs the host and cannot be recorded. So the work is run directly until one
  /// run has done none of these. While a Kokkos tool is loaded, the work is always run directly, because tools see
  /// nothing inside a graph.
  void operator()(const Key &key, const std::function<void()> &work);
  /// Whether the last call launched a graph.
  bool replayed() const { return replayed_; }

private:
  struct Graph;
  Key key_;
  enum class Stage { watched, ready, refused } stage_ = Stage::watched; // ready: a run needed no host
  bool replayed_ = false;
  std::shared_ptr<Graph> graph_;
};

} // namespace recollect
