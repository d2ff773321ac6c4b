// SPDX-License-Identifier: Apache-2.0
// run() starts a kernel that calls body(team, unit, scratch) once per unit. `scratch` is uninitialised memory of the
// team for this unit, in the fastest memory that has space.
#pragma once
#include "harness/core/error.hpp"
#include "harness/device/arena.hpp"
#include "harness/device/team.hpp"
#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace recollect {

struct Launch {
  std::string label;
  size_t units;
  int threads = 128; // per team, on a GPU
  Math math = Math::exact;
};

namespace launching {

/// Calls start() and reports it to Kokkos's tools as a parallel loop. This shows the kernels that Kokkos does not
/// launch itself.
template <class Start> void shown(const std::string &label, const Start &start) {
  std::uint64_t kernel = 0;
  Kokkos::Tools::beginParallelFor(label, 0, &kernel);
  start();
  Kokkos::Tools::endParallelFor(kernel);
}

template <class Real, class Body>
void on_threads(const Launch &launch, Arena &arena, size_t scratch, const Body &body) {
  const size_t workers = std::min<size_t>(launch.units, Execution().concurrency()), units = launch.units;
  Real *const memory = arena.take<Real>(workers * scratch).data();
  std::atomic<size_t> next(0); // units may differ in cost, so a thread takes the next unit when it is free
  std::atomic<size_t> *const counter = &next;
  const auto work = [=, &body](size_t worker) {
    for (size_t unit; (unit = counter->fetch_add(1)) < units;) body(Team(), unit, memory + worker * scratch);
  };
  if (workers == 1) return shown(launch.label, [&] { work(0); }); // waking other threads takes microseconds
  parallel_loop(launch.label, workers, work);
  Kokkos::fence();
}

#ifdef KOKKOS_ENABLE_CUDA
/// Whether the body's scratch is always in shared memory, so that the compiler can assume it.
template <class Body, class = void> struct OnChip : std::false_type {};
template <class Body> struct OnChip<Body, std::enable_if_t<Body::on_chip>> : std::true_type {};

/// Threads per team, if known at compile time. If it is 0, Launch::threads is the number, at most 256. A multiprocessor
/// runs 512 threads with 128 registers each, in several teams, so that one team works while another waits. A body may
/// ask for fewer teams with more registers.
template <class Body, class = void> constexpr int known_threads = 0;
template <class Body> constexpr int known_threads<Body, std::enable_if_t<(Body::threads > 0)>> = Body::threads;
template <class Body> constexpr int most_threads = known_threads<Body> ? known_threads<Body> : 256;
template <class Body, class = void> constexpr int teams_together = 512 / most_threads<Body>;
template <class Body>
constexpr int teams_together<Body, std::enable_if_t<(Body::teams_at_once > 0)>> = Body::teams_at_once;

template <class Real, class Body>
__global__ void __launch_bounds__(most_threads<Body>, teams_together<Body>)
    cuda_kernel(const __grid_constant__ Body body, size_t units, Real *memory, size_t scratch, Math math) {
  extern __shared__ __align__(128) unsigned char shared[];
  const Team team{int(threadIdx.x), int(blockDim.x), math};
  Real *own = reinterpret_cast<Real *>(shared);
  if (!OnChip<Body>::value && memory) own = memory + blockIdx.x * scratch;
  for (size_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
    body(team, unit, own);
    team.barrier();
  }
}

inline void cuda_check(cudaError_t status, const std::string &label) {
  if (status != cudaSuccess) input_error(label + " could not run on the GPU: " + cudaGetErrorString(status));
}

template <class Real> bool fits_on_chip(size_t scratch) {
  return (scratch + reduce_buffer) * sizeof(Real) <= Execution().cuda_device_prop().sharedMemPerBlockOptin;
}

/// Percent of a multiprocessor's shared memory that this many teams take together, rounded up.
inline int share_of(int teams, size_t bytes) {
  const cudaDeviceProp &device = Execution().cuda_device_prop();
  const size_t wanted = teams * (bytes + device.reservedSharedMemPerBlock), all = device.sharedMemPerMultiprocessor;
  return int((100 * wanted + all - 1) / all);
}

/// Whether a multiprocessor holds the scratch of this many teams at once.
template <class Real> bool fit_together(int teams, size_t scratch) {
  return fits_on_chip<Real>(scratch) && share_of(teams, scratch * sizeof(Real)) <= 100;
}

/// Scratch is in shared memory if it fits. Otherwise it is in device memory, and only as many blocks are started as can
/// run at the same time.
template <class Real, class Body> void on_blocks(const Launch &launch, Arena &arena, size_t scratch, const Body &body) {
  const size_t bytes = scratch * sizeof(Real),
               together = size_t(16) * Execution().cuda_device_prop().multiProcessorCount;
  const bool fits = fits_on_chip<Real>(scratch);
  if (OnChip<Body>::value && !fits) throw std::logic_error(launch.label + " does not fit into shared memory");
  const auto kernel = cuda_kernel<Real, Body>;
  if (fits && bytes > 0)
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)), launch.label);
  if (const int share = share_of(teams_together<Body>, bytes);
      fits && share > 50) // at 50% or less, more teams than these fit anyway
    cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, std::min(100, share)),
               launch.label); // the driver's default share of shared memory sometimes allows fewer teams
  const size_t blocks = std::min<size_t>(launch.units, fits ? size_t(1) << 30 : together);
  const int threads = known_threads<Body> ? known_threads<Body> : launch.threads;
  Real *const memory = fits ? nullptr : arena.take<Real>(blocks * scratch).data();
  shown(launch.label, [&] {
    kernel<<<unsigned(blocks), threads, fits ? bytes : 0, queue().cuda_stream()>>>(body, launch.units, memory, scratch,
                                                                                   launch.math);
    cuda_check(cudaGetLastError(), launch.label);
  });
}
#endif

/// On other GPUs, Kokkos's teams run the units, with scratch in device memory.
template <class Real, class Body> struct InTeams {
  using Member = typename Kokkos::TeamPolicy<Execution>::member_type;
  Body body;
  size_t units, scratch;
  Array<Real> memory;
  KOKKOS_FUNCTION void operator()(const Member &member) const {
    const Team team{int(member.team_rank()), int(member.team_size())};
    for (size_t unit = member.league_rank(); unit < units; unit += member.league_size()) {
      body(team, unit, memory.data() + member.league_rank() * scratch);
      team.barrier();
    }
  }
};
template <class Real, class Body> void in_teams(const Launch &launch, Arena &arena, size_t scratch, const Body &body) {
  const int blocks = int(std::min<size_t>(launch.units, 4096));
  Kokkos::parallel_for(launch.label, Kokkos::TeamPolicy<Execution>(queue(), blocks, launch.threads),
                       InTeams<Real, Body>{body, launch.units, scratch, arena.take<Real>(blocks * scratch)});
}

} // namespace launching

template <class Real, class Body> void run(const Launch &launch, Arena &arena, size_t scratch, const Body &body) {
  const size_t mark = arena.mark();
  if constexpr (on_host) launching::on_threads<Real>(launch, arena, scratch, body);
#ifdef KOKKOS_ENABLE_CUDA
  else if constexpr (on_cuda)
    launching::on_blocks<Real>(launch, arena, scratch, body);
#endif
  else
    launching::in_teams<Real>(launch, arena, scratch, body);
  arena.release(mark); // kernels run in order, so the next kernel may reuse the memory
}

} // namespace recollect
