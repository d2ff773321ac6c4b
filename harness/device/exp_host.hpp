// SPDX-License-Identifier: Apache-2.0
// The host's exponential, of a number or of a vector of them (vectors.hpp). Host C++ without Kokkos.
#pragma once
#include <cstdint>
#include <cstring>

namespace recollect::math::host {

/// What exp needs to know of a type: integers of the same size, numbers whose last bit counts wholes, where results leave
/// the type's range, and ln 2 in two parts, the first with so few bits that its products with exponents are exact.
template <class Real> struct ExpConstants;
template <> struct ExpConstants<float> {
  using Integer = std::int32_t;
  using Word = std::uint32_t;
  static constexpr int mantissa = 23, bias = 127, terms = 7;
  static constexpr float whole = 12582912.0f, low = -104, high = 89, ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
};
template <> struct ExpConstants<double> {
  using Integer = std::int64_t;
  using Word = std::uint64_t;
  static constexpr int mantissa = 52, bias = 1023, terms = 13;
  static constexpr double whole = 6755399441055744.0, low = -746, high = 710, ln2_high = 0.693145751953125,
                          ln2_low = 1.42860682030941723212e-6;
};

/// 1/k!
constexpr double inverse_factorials[] = {
    1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
    1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};

/// exp without branches or calls, so that loops of it become vector code: e^x = 2^n e^r with |r| <= ln(2) / 2, and the
/// Taylor series of e^r up to a remainder below half a unit in the last place. 2^n goes in two factors, so that
/// subnormal results are rounded and not cut off. X holds numbers `Real`, Integers and Words as many integers.
template <class Real, class X = Real, class Integers = typename ExpConstants<Real>::Integer,
          class Words = typename ExpConstants<Real>::Word>
inline X exp(X x) {
  using K = ExpConstants<Real>;
  X within = x < K::low ? K::low + X{} : x; // NaN stays
  within = x > K::high ? K::high + X{} : within;
  const X shifted = within * Real(1.44269504088896340736) + K::whole, n = shifted - K::whole;
  const X r = (within - n * K::ln2_high) - n * K::ln2_low;
  X sum = Real(inverse_factorials[K::terms]) + X{};
#pragma GCC unroll 16 // a loop inside would keep the caller's from becoming vector code
  for (int k = K::terms - 1; k >= 0; --k) sum = sum * r + Real(inverse_factorials[k]);
  Integers bits;
  typename K::Integer offset;
  const Real whole = K::whole;
  std::memcpy(&bits, &shifted, sizeof bits), std::memcpy(&offset, &whole, sizeof offset);
  const Integers power = bits - offset, half = power >> 1;
  // Of NaN the power is anything: shifts of negative numbers are undefined.
  const Words first = (Words)(half + K::bias) << K::mantissa, second = (Words)(power - half + K::bias) << K::mantissa;
  X one, other;
  std::memcpy(&one, &first, sizeof one), std::memcpy(&other, &second, sizeof other);
  return sum * one * other;
}

} // namespace recollect::math::host
