// SPDX-License-Identifier: Apache-2.0
// Math functions for kernels. Kokkos 3.7 moved them out of Kokkos::Experimental; nothing else in this file depends on
// the version.
#pragma once
#include "harness/core/counted.hpp"
#include "harness/core/quad.hpp"
#include "harness/core/taped.hpp"
#include "harness/device/exp_host.hpp"
#include <Kokkos_Core.hpp>
#include <type_traits>
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

template <class Real> KOKKOS_FORCEINLINE_FUNCTION Real exp(Real x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return source::exp(x);
#else
  return host::exp<Real>(x);
#endif
}

template <class Real> KOKKOS_FUNCTION Real sigmoid(Real x) {
  const Real small = exp(-fabs(x)), share = 1 / (1 + small); // the exponent is never positive: no overflow
  return x >= 0 ? share : small * share;
}
template <class Real> KOKKOS_FUNCTION Real silu(Real x) { return x * sigmoid(x); }

/// The nearest integer; ties go to even, as is the IEEE default. (std::round rounds ties away from zero; the claim
/// theorem1_tie_mode measures the difference.) All numbers from 2^52 (float: 2^23) on are integers, so adding and
/// subtracting such a number rounds. The conditions select an operand and not a result, so that the compiler can
/// vectorise.
template <class Real> KOKKOS_FUNCTION Real round_half_even(Real x) {
  constexpr Real whole = sizeof(Real) == sizeof(double) ? Real(4503599627370496.0) : Real(8388608.0);
  const Real size = fabs(x), offset = size < whole ? whole : Real(0), shift = x < 0 ? -offset : offset;
  return (x + shift) - shift;
}
} // namespace recollect::math

template <> struct Kokkos::reduction_identity<recollect::Counted> {
  static recollect::Counted max() { return reduction_identity<double>::max(); }
};
template <> struct Kokkos::reduction_identity<recollect::Quad> {
  static recollect::Quad max() { return reduction_identity<double>::max(); }
};
template <> struct Kokkos::reduction_identity<recollect::Taped> {
  static recollect::Taped max() { return reduction_identity<double>::max(); }
};
