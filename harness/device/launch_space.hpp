// SPDX-License-Identifier: Apache-2.0
// The execution space of kernels, and the type of device arrays.
#pragma once
#include "harness/core/in_pieces.hpp"
#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>

/// Forces the inlining of a function that takes objects of a kernel by reference. If such a function is not inlined, a
/// GPU reads these objects from local memory, which is slow.
#ifdef __CUDACC__
#define RECOLLECT_IN_LINE KOKKOS_FORCEINLINE_FUNCTION
#else
#define RECOLLECT_IN_LINE KOKKOS_FUNCTION
#endif

/// On a GPU, unrolls the loop that follows, a loop over a few values in registers.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define RECOLLECT_UNROLL _Pragma("unroll")
#else
#define RECOLLECT_UNROLL
#endif

namespace recollect {

#ifdef RECOLLECT_SPACE
using Execution = Kokkos::RECOLLECT_SPACE;
#else
using Execution = Kokkos::DefaultExecutionSpace;
#endif
template <class Real> using Array = Kokkos::View<Real *, Execution>;

namespace streams {
/// The current stream (stream.hpp). Number 0 is the default stream, which always exists.
struct Queue {
  Execution execution;
  size_t number;
};
inline const Queue *in_force = nullptr;
inline size_t number() { return in_force ? in_force->number : 0; }
} // namespace streams

/// The current stream: kernels and copies run in it in order.
inline Execution queue() { return streams::in_force ? streams::in_force->execution : Execution(); }

/// Indices 0 ... n - 1 for Kokkos's loops. HintLightWeight passes the functor as a kernel argument. Without this hint
/// Kokkos copies functors over 512 bytes to one buffer, and waits for the previous kernel before reusing the buffer.
inline auto over(size_t n) {
  return Kokkos::Experimental::require(Kokkos::RangePolicy<Execution>(queue(), 0, n),
                                       Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Execution::memory_space>::accessible;
#ifdef KOKKOS_ENABLE_CUDA
constexpr bool on_cuda = std::is_same<Execution, Kokkos::Cuda>::value;
#else
constexpr bool on_cuda = false;
#endif

/// Divides 0 ... n - 1 into pieces and calls piece(loop, begin, end) for each of them, on the threads of the CPU.
void on_host_threads(const std::string &label, size_t n, const void *loop, Piece piece);

/// Calls f(i) for i < n, in any order and in parallel. On the CPU, every f is passed to Kokkos in the same functor
/// type, because Kokkos's templates take longer to compile than most loops.
template <class F> void parallel_loop(const std::string &label, size_t n, const F &f) {
  if constexpr (on_host)
    on_host_threads(label, n, &f, [](const void *loop, size_t begin, size_t end) {
      const F &body = *static_cast<const F *>(loop);
      for (size_t i = begin; i < end; ++i) body(i);
    });
  else
    Kokkos::parallel_for(label, over(n), f);
}

} // namespace recollect
