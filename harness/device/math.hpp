// SPDX-License-Identifier: Apache-2.0
// Math functions for kernels. Kokkos moved them out of Kokkos::Experimental in 3.7; nothing else here depends on the
// version.
#pragma once
#include <Kokkos_Core.hpp>
#if KOKKOS_VERSION < 30700
#include <Kokkos_MathematicalFunctions.hpp>
#endif

namespace recollect::math {
#if KOKKOS_VERSION < 30700
namespace source = Kokkos::Experimental;
#else
namespace source = Kokkos;
#endif
using source::cos;
using source::erf;
using source::exp;
using source::fabs;
using source::floor;
using source::fmax;
using source::fmin;
using source::log;
using source::log1p;
using source::pow;
using source::sin;
using source::sqrt;
using source::tanh;

template <class Real> KOKKOS_FUNCTION Real sigmoid(Real x) {
  return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x)); // the exponent is never positive: no overflow
}
template <class Real> KOKKOS_FUNCTION Real silu(Real x) { return x * sigmoid(x); }

/// Nearest integer, ties to even (the IEEE default; at ties this differs from std::round, see theory/swap_theorem.cpp).
/// From 2^52 (float: 2^23) on, numbers are integers: adding that much and taking it off again rounds. Written as
/// selections of a value, not of a result, because that is what vectorises.
template <class Real> KOKKOS_FUNCTION Real round_half_even(Real x) {
  constexpr Real whole = sizeof(Real) == sizeof(double) ? Real(4503599627370496.0) : Real(8388608.0);
  const Real size = fabs(x), offset = size < whole ? whole : Real(0), shift = x < 0 ? -offset : offset;
  return (x + shift) - shift;
}
} // namespace recollect::math
