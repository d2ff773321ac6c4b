// SPDX-License-Identifier: Apache-2.0
#include "harness/device/graph.hpp"
#include "harness/device/launch.hpp"

namespace recollect {

#ifdef KOKKOS_ENABLE_CUDA
namespace {

bool host_took_part = false; // global, because Kokkos's callbacks have no user data

/// While an object of this type exists, it notes whether work allocates, frees or waits. This includes uploads, which
/// allocate a host copy.
struct Watching {
  Watching() {
    namespace tools = Kokkos::Tools::Experimental;
    host_took_part = false, again = caching::again;
    tools::set_allocate_data_callback(
        [](Kokkos_Profiling_SpaceHandle, const char *, const void *, std::uint64_t) { host_took_part = true; });
    tools::set_deallocate_data_callback(
        [](Kokkos_Profiling_SpaceHandle, const char *, const void *, std::uint64_t) { host_took_part = true; });
    tools::set_begin_fence_callback([](const char *, std::uint32_t, std::uint64_t *) { host_took_part = true; });
  }
  ~Watching() {
    namespace tools = Kokkos::Tools::Experimental;
    tools::set_allocate_data_callback(nullptr);
    tools::set_deallocate_data_callback(nullptr);
    tools::set_begin_fence_callback(nullptr);
  }
  Watching(const Watching &) = delete;
  Watching &operator=(const Watching &) = delete;
  bool host_was_needed() const { return host_took_part || again != caching::again; }

  size_t again;
};

} // namespace

struct DeviceGraph::Graph {
  /// The graph of the work; null if some of the work cannot be recorded.
  static std::shared_ptr<Graph> of(const std::function<void()> &work) {
    const cudaStream_t stream = queue().cuda_stream();
    const auto made = std::make_shared<Graph>();
    cudaGraph_t graph = nullptr;
    launching::cuda_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "recording a graph");
    bool whole = true;
    try {
      work();
    } catch (const std::exception &) { // thrown by Kokkos for a call that may not be recorded
      whole = false;
    }
    whole = cudaStreamEndCapture(stream, &graph) == cudaSuccess && whole &&
            cudaGraphInstantiateWithFlags(&made->started, graph, 0) == cudaSuccess;
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError(); // clears the error, which the next kernel would report
    return whole ? made : nullptr;
  }
  Graph() = default;
  ~Graph() {
    if (started) cudaGraphExecDestroy(started);
  }
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;
  void start() const { launching::cuda_check(cudaGraphLaunch(started, queue().cuda_stream()), "recording a graph"); }

  cudaGraphExec_t started = nullptr;
};

void DeviceGraph::operator()(const Key &key, const std::function<void()> &work) {
  replayed_ = false;
  if (!on_cuda || Kokkos::Tools::profileLibraryLoaded()) return work();
  if (key != key_) key_ = key, stage_ = Stage::watched, graph_.reset();
  if (stage_ == Stage::ready && !graph_ && !(graph_ = Graph::of(work))) stage_ = Stage::refused;
  if (stage_ == Stage::refused) return work();
  replayed_ = graph_ != nullptr;
  if (replayed_) return graph_->start();
  const Watching watching;
  work();
  if (!watching.host_was_needed()) stage_ = Stage::ready;
}
#else
struct DeviceGraph::Graph {};
void DeviceGraph::operator()(const Key &, const std::function<void()> &work) { work(); }
#endif

} // namespace recollect
