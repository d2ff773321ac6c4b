// SPDX-License-Identifier: Apache-2.0
// The CPU's exponential of a number or a vector (vectors.hpp). Host C++ without Kokkos.
#pragma once
#include <cstdint>
#include <cstring>
#if defined(__AVX512F__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

namespace recollect::math::host {

/// Constants of exp for a floating-point type. Integer and Word have the same size as the type. `whole` is
/// 1.5 * 2^mantissa; near it, neighbouring numbers differ by 1. `low` and `high` limit the arguments. ln2_high +
/// ln2_low is ln 2, and ln2_high is so short that its products with exponents are exact.
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

/// The first and the last step of exp.
template <class Real, class X, class Integers, class Words> struct ExpSteps {
  using K = ExpConstants<Real>;
  /// x clamped to [low, high]. NaN stays NaN.
  static X within_range(X x) {
    const X within = x < K::low ? K::low + X{} : x;
    return within > K::high ? K::high + X{} : within;
  }
  /// x 2^n, rounded once, with n = shifted - whole. 2^n is applied as two factors, so that subnormal results are
  /// rounded instead of flushed to 0.
  static X scaled(X x, X shifted) {
    Integers bits;
    typename K::Integer offset;
    const Real whole = K::whole;
    std::memcpy(&bits, &shifted, sizeof bits), std::memcpy(&offset, &whole, sizeof offset);
    const Integers power = bits - offset, half = power >> 1;
    // The words are unsigned, because for NaN the exponent is arbitrary, and shifts of negative numbers are undefined.
    const Words first = (Words)(half + K::bias) << K::mantissa, second = (Words)(power - half + K::bias) << K::mantissa;
    X one, other;
    std::memcpy(&one, &first, sizeof one), std::memcpy(&other, &second, sizeof other);
    return x * one * other;
  }
};

#if defined(__AVX512F__) && !defined(__CUDACC__) // nvcc does not know these intrinsics
/// AVX-512 does each step in one or two instructions, which saves fourteen of thirty instructions. NaN stays NaN,
/// because min and max return the second argument if one argument is NaN. The masked intrinsics are used because g++ 12
/// warns of uninitialised registers in the others.
template <class Integers, class Words> struct ExpSteps<float, float __attribute__((vector_size(64))), Integers, Words> {
  using X = float __attribute__((vector_size(64)));
  using K = ExpConstants<float>;
  static constexpr __mmask16 all = 0xffff;
  static X within_range(X x) {
    const __m512 within = _mm512_maskz_max_ps(all, _mm512_set1_ps(K::low), __m512(x));
    return X(_mm512_maskz_min_ps(all, _mm512_set1_ps(K::high), within));
  }
  static X scaled(X x, X shifted) { return X(_mm512_maskz_scalef_ps(all, __m512(x), __m512(shifted - K::whole))); }
};
template <class Integers, class Words>
struct ExpSteps<double, double __attribute__((vector_size(64))), Integers, Words> {
  using X = double __attribute__((vector_size(64)));
  using K = ExpConstants<double>;
  static constexpr __mmask8 all = 0xff;
  static X within_range(X x) {
    const __m512d within = _mm512_maskz_max_pd(all, _mm512_set1_pd(K::low), __m512d(x));
    return X(_mm512_maskz_min_pd(all, _mm512_set1_pd(K::high), within));
  }
  static X scaled(X x, X shifted) { return X(_mm512_maskz_scalef_pd(all, __m512d(x), __m512d(shifted - K::whole))); }
};
#endif

/// exp without branches or calls, so that the compiler can vectorise loops that call it. e^x is 2^n e^r with
/// |r| <= ln(2) / 2, and e^r is a Taylor series whose remainder is below half a unit in the last place. X is one number
/// of type Real or a vector of such numbers. Integers and Words hold as many signed and unsigned integers.
template <class Real, class X = Real, class Integers = typename ExpConstants<Real>::Integer,
          class Words = typename ExpConstants<Real>::Word>
inline X exp(X x) {
  using K = ExpConstants<Real>;
  using Steps = ExpSteps<Real, X, Integers, Words>;
  const X within = Steps::within_range(x);
  const X shifted = within * Real(1.44269504088896340736) + K::whole, n = shifted - K::whole;
  const X r = (within - n * K::ln2_high) - n * K::ln2_low;
  X sum = Real(inverse_factorials[K::terms]) + X{};
#pragma GCC unroll 16 // an inner loop would prevent vectorisation of the caller's loop
  for (int k = K::terms - 1; k >= 0; --k) sum = sum * r + Real(inverse_factorials[k]);
  return Steps::scaled(sum, shifted);
}

} // namespace recollect::math::host
