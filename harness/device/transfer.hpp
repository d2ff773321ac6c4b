// SPDX-License-Identifier: Apache-2.0
// Allocates device arrays and copies numbers to and from them. Copies run in order with the kernels; the host waits
// only when it reads.
#pragma once
#include "harness/core/in_pieces.hpp"
#include "harness/device/launch_space.hpp"
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace recollect {

/// A GPU waits for all kernels before it allocates or frees memory, which takes longer than a small kernel. So small
/// arrays that are no longer used are cached and reused within their stream, where the next use runs after the previous
/// one.
namespace caching {

// Limits in bytes: the size of one cached array, and the size of all cached arrays of one type together.
constexpr size_t largest = size_t(4) << 20, most = size_t(256) << 20;

/// True while allocations are counted; then nothing is cached.
inline bool paused = false;
/// How often a cached array was reused. Kokkos's tools do not see this.
inline size_t again = 0;

template <class Real> struct Kept {
  std::map<std::pair<size_t, size_t>, std::vector<Array<Real>>> of_size; // by stream and size
  size_t bytes = 0;
};
template <class Real> Kept<Real> &kept() {
  static Kept<Real> all;
  static const bool emptied = (Kokkos::push_finalize_hook([] { all = {}; }), true);
  (void)emptied;
  return all;
}

inline size_t capacity_for(size_t n) {
  size_t capacity = 64;
  while (capacity < n) capacity *= 2;
  return capacity;
}

} // namespace caching

/// A device array of n numbers, uninitialised.
template <class Real> Array<Real> allocated(const std::string &label, size_t n) {
  const auto anew = [&label](size_t size) {
    return Array<Real>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), size);
  };
  if (on_host || caching::paused || n == 0 || n * sizeof(Real) > caching::largest) return anew(n);
  caching::Kept<Real> &kept = caching::kept<Real>();
  const size_t capacity = caching::capacity_for(n);
  std::vector<Array<Real>> &equals = kept.of_size[{streams::number(), capacity}];
  for (const Array<Real> &array : equals)
    if (array.use_count() == 1) return ++caching::again, Kokkos::subview(array, std::make_pair(size_t(0), n));
  const Array<Real> array = anew(capacity);
  if (kept.bytes + capacity * sizeof(Real) <= caching::most) {
    kept.bytes += capacity * sizeof(Real);
    equals.push_back(array);
  }
  return Kokkos::subview(array, std::make_pair(size_t(0), n));
}

/// A device array that holds element(i) for i < n. Host threads compute these elements in any order.
template <class Real, class Element> Array<Real> uploaded(const std::string &label, size_t n, const Element &element) {
  const Array<Real> device = allocated<Real>(label, n);
  const auto fill = [&element](Real *host) {
    return [&element, host](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) host[i] = static_cast<Real>(element(i));
    };
  };
  if constexpr (on_host) {
    in_pieces(n, fill(device.data()), cost_of_copies);
  } else {
    const auto host = Kokkos::create_mirror_view(device);
    in_pieces(n, fill(host.data()), cost_of_copies);
    // Host memory is pageable, so deep_copy() has read it when it returns.
    Kokkos::deep_copy(queue(), device, host);
  }
  return device;
}

template <class Real> std::vector<double> download(const Array<Real> &device) {
  const auto host = Kokkos::create_mirror_view(device);
  Kokkos::deep_copy(queue(), host, device);
  queue().fence();
  return std::vector<double>(host.data(), host.data() + host.extent(0));
}

template <class To, class From> void copy(const To &to, const From &from) { Kokkos::deep_copy(queue(), to, from); }
template <class Real> void fill(const Array<Real> &array, Real value) { Kokkos::deep_copy(queue(), array, value); }

} // namespace recollect
