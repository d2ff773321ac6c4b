// SPDX-License-Identifier: Apache-2.0
// Numbers with 113 bits of significand, for difference quotients of a form (harness/call/quotients.hpp).
#pragma once
#include <limits>

namespace recollect {

/// A binary128 number, with the operations that forms use. Memory filled with zero bits holds the number 0.
struct Quad {
#if defined(__CUDACC__) // nvcc rejects __float128 in device code, where no form runs on Quad
  using Number = double;
#elif defined(__SIZEOF_FLOAT128__)
  using Number = __float128;
#else // long double is binary128
  static_assert(std::numeric_limits<long double>::digits >= 113, "no type of 113 bits on this platform");
  using Number = long double;
#endif
  Number value;

  Quad() = default;
  constexpr Quad(double x) : value(x) {}
  explicit operator double() const { return double(value); }
  explicit operator int() const { return int(value); }
  Quad &operator+=(Quad b) { return *this = *this + b; }
  Quad &operator-=(Quad b) { return *this = *this - b; }
  Quad &operator*=(Quad b) { return *this = *this * b; }
  Quad &operator/=(Quad b) { return *this = *this / b; }
  Quad operator-() const { return of(-value); }

  friend Quad operator+(Quad a, Quad b) { return of(a.value + b.value); }
  friend Quad operator-(Quad a, Quad b) { return of(a.value - b.value); }
  friend Quad operator*(Quad a, Quad b) { return of(a.value * b.value); }
  friend Quad operator/(Quad a, Quad b) { return of(a.value / b.value); }
  friend bool operator<(Quad a, Quad b) { return a.value < b.value; }
  friend bool operator>(Quad a, Quad b) { return a.value > b.value; }
  friend bool operator<=(Quad a, Quad b) { return a.value <= b.value; }
  friend bool operator>=(Quad a, Quad b) { return a.value >= b.value; }
  friend bool operator==(Quad a, Quad b) { return a.value == b.value; }
  friend bool operator!=(Quad a, Quad b) { return a.value != b.value; }

  static Quad of(Number x) {
    Quad made;
    made.value = x;
    return made;
  }
};

namespace math { // correct to 113 bits within the range of float64
Quad cos(Quad x);
Quad sin(Quad x);
Quad exp(Quad x);
Quad log(Quad x);
Quad log1p(Quad x);
Quad erf(Quad x);
Quad tanh(Quad x);
Quad sqrt(Quad x);
Quad pow(Quad x, Quad y);
Quad floor(Quad x);
inline Quad fabs(Quad x) { return x < 0 ? -x : x; }
inline Quad fmax(Quad x, Quad y) { return x < y ? y : x; }
inline Quad fmin(Quad x, Quad y) { return y < x ? y : x; }
/// Adding and subtracting 2^112 rounds to a whole number, ties to even.
inline Quad round_half_even(Quad x) {
  const Quad shift = fabs(x) < 0x1p112 ? (x < 0 ? -0x1p112 : 0x1p112) : 0.0;
  return (x + shift) - shift;
}
} // namespace math

} // namespace recollect

template <> class std::numeric_limits<recollect::Quad> : public std::numeric_limits<double> {};
