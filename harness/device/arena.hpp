// SPDX-License-Identifier: Apache-2.0
// Memory for kernels. Memory that outlives a kernel comes from the arena of the call. The scratch of a team comes from
// the team's stack.
#pragma once
#include "harness/device/transfer.hpp"
#include <cstdint>
#include <vector>

namespace recollect {

/// A bump allocator of uninitialised device memory. Memory stays valid until release() of an earlier mark, or reset().
/// After reset(), the same requests are served from one block without allocation. Throws OverMemory.
class Arena {
public:
  template <class Real> Array<Real> take(size_t n) {
    return Array<Real>(reinterpret_cast<Real *>(bytes(n * sizeof(Real))), n);
  }

  size_t mark() const { return used_; }
  /// Memory taken since the mark may be reused by kernels that are launched later.
  void release(size_t mark) { used_ = mark; }

  void reset();

  /// Address of the arena's block. While this address does not change, the same requests after reset() get the same
  /// memory.
  std::uintptr_t begin() const { return std::uintptr_t(block_.data()); }

private:
  using Bytes = Array<char>;
  struct Overflow {
    size_t begin;
    Bytes memory;
  };
  static Bytes make(size_t n);
  char *bytes(size_t n);

  Bytes block_;
  std::vector<Overflow> overflow_;
  size_t used_ = 0, most_ = 0;
};

/// Hands out one team's scratch memory piece by piece. Without memory (`base` null) it only measures how much memory
/// the requests need. The pointers that it then returns are invalid but not null, because some requests depend on
/// whether a pointer is null.
template <class Real> struct Stack {
  Real *base = nullptr;
  size_t used = 0; // number of reals handed out

  KOKKOS_FUNCTION Real *take(size_t n) {
    constexpr size_t line = 64 / sizeof(Real);
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    Real *const begin = base + used; // on the host `base` may be null: then only the size is measured
#else
    Real *const begin = base ? base + used : reinterpret_cast<Real *>((used + line) * sizeof(Real));
#endif
    used += (n + line - 1) / line * line;
    return begin;
  }
};

} // namespace recollect
