// SPDX-License-Identifier: Apache-2.0
// Vectors of the CPU's widest registers, for tile/host.cpp and prefix_solve.cpp.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

/// Unrolls a loop. Small arrays of vectors then stay in registers; the compiler's own unrolling would leave them in
/// memory.
#define UNROLL _Pragma("GCC unroll 16")

namespace recollect::tile::host {

#if defined(__AVX512F__)
constexpr int bytes = 64, registers = 32;
#elif defined(__AVX__)
constexpr int bytes = 32, registers = 16;
#elif defined(__aarch64__)
constexpr int bytes = 16, registers = 32;
#else
constexpr int bytes = 16, registers = 16;
#endif
template <class Real> using Vector __attribute__((vector_size(bytes))) = Real;
template <class Real> constexpr int lanes = bytes / sizeof(Real);

template <class Real> inline Vector<Real> load(const Real *from) {
  Vector<Real> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class V, class Real> inline void store(const V &v, Real *to) { std::memcpy(to, &v, sizeof v); }

/// Transposes the W x W block in W registers, in log2 W rounds. Each round exchanges quarters of blocks twice as large
/// as in the round before.
template <class Real> void transpose_registers(Vector<Real> *x) {
  constexpr int W = lanes<Real>;
  using Index = std::conditional_t<sizeof(Real) == 8, std::int64_t, std::int32_t>;
  using Mask = Vector<Index>;
  UNROLL for (int step = 1; step < W; step *= 2) {
    Mask low, high;
    for (int l = 0; l < W; ++l) {
      low[l] = l & step ? l - step + W : l;
      high[l] = l & step ? l + W : l + step;
    }
    UNROLL for (int i = 0; i < W; ++i) if (!(i & step)) {
      const Vector<Real> a = x[i], b = x[i + step];
#ifdef __clang__
      for (int l = 0; l < W; ++l) {
        x[i][l] = low[l] < W ? a[low[l]] : b[low[l] - W];
        x[i + step][l] = high[l] < W ? a[high[l]] : b[high[l] - W];
      }
#else
      x[i] = __builtin_shuffle(a, b, low), x[i + step] = __builtin_shuffle(a, b, high);
#endif
    }
  }
}

} // namespace recollect::tile::host
