// SPDX-License-Identifier: Apache-2.0
// Math functions for kernels. Kokkos moved them out of Kokkos::Experimental in 3.7;
// nothing else here depends on the version.
#pragma once
#include "harness/core/counted.hpp"
#include "harness/core/taped.hpp"
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstring>
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

namespace host {
/// What exp needs to know of a type: numbers whose last bit counts wholes, the integer of the same size, where results
/// leave the type's range, and ln 2 in two parts, the first with so few bits that its products with exponents are exact.
template <class Real> struct ExpConstants;
template <> struct ExpConstants<float> {
  using Integer = std::int32_t;
  static constexpr int mantissa = 23, bias = 127, terms = 7;
  static constexpr float whole = 12582912.0f, low = -104, high = 89, ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
};
template <> struct ExpConstants<double> {
  using Integer = std::int64_t;
  static constexpr int mantissa = 52, bias = 1023, terms = 13;
  static constexpr double whole = 6755399441055744.0, low = -746, high = 710, ln2_high = 0.693145751953125,
                          ln2_low = 1.42860682030941723212e-6;
};

/// exp without branches or calls, so that loops of it become vector code: e^x = 2^n e^r with |r| <= ln(2) / 2, and the
/// Taylor series of e^r up to a remainder below half a unit in the last place. 2^n goes in two factors, so that
/// subnormal results are rounded and not cut off.
template <class Real> inline Real exp(Real x) {
  using K = ExpConstants<Real>;
  using Integer = typename K::Integer;
  x = x < K::low ? K::low : x > K::high ? K::high : x; // NaN stays
  const Real shifted = x * Real(1.44269504088896340736) + K::whole, n = shifted - K::whole;
  const Real r = (x - n * K::ln2_high) - n * K::ln2_low;
  Real sum = 1;
#pragma GCC unroll 16 // a loop inside would keep the caller's from becoming vector code
  for (int k = K::terms; k > 0; --k) sum = 1 + sum * r * (1 / Real(k));
  Integer bits, offset;
  const Real whole = K::whole;
  std::memcpy(&bits, &shifted, sizeof bits), std::memcpy(&offset, &whole, sizeof offset);
  const Integer power = bits - offset, half = power >> 1;
  using Word = std::make_unsigned_t<Integer>; // of NaN the power is anything: shifts of negative numbers are undefined
  const Word first = Word(half + K::bias) << K::mantissa, second = Word(power - half + K::bias) << K::mantissa;
  Real one, other;
  std::memcpy(&one, &first, sizeof one), std::memcpy(&other, &second, sizeof other);
  return sum * one * other;
}
} // namespace host

template <class Real> KOKKOS_FORCEINLINE_FUNCTION Real exp(Real x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return source::exp(x);
#else
  return host::exp(x);
#endif
}

template <class Real> KOKKOS_FUNCTION Real sigmoid(Real x) {
  const Real small = exp(-fabs(x)), share = 1 / (1 + small); // the exponent is never positive: no overflow
  return x >= 0 ? share : small * share;
}
template <class Real> KOKKOS_FUNCTION Real silu(Real x) { return x * sigmoid(x); }

/// Nearest integer, ties to even (the IEEE default; at ties this differs from std::round: theorem1_tie_mode).
/// From 2^52 (float: 2^23) on, numbers are integers: adding that much and taking it off again rounds. Written as
/// selections of a value, not of a result, because that is what vectorises.
template <class Real> KOKKOS_FUNCTION Real round_half_even(Real x) {
  constexpr Real whole = sizeof(Real) == sizeof(double) ? Real(4503599627370496.0) : Real(8388608.0);
  const Real size = fabs(x), offset = size < whole ? whole : Real(0), shift = x < 0 ? -offset : offset;
  return (x + shift) - shift;
}
} // namespace recollect::math

template <> struct Kokkos::reduction_identity<recollect::Counted> {
  static recollect::Counted max() { return reduction_identity<double>::max(); }
};
template <> struct Kokkos::reduction_identity<recollect::Taped> {
  static recollect::Taped max() { return reduction_identity<double>::max(); }
};
