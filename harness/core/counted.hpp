// SPDX-License-Identifier: Apache-2.0
// Numbers that count the operations on them. A form that is run on such numbers yields its cost.
#pragma once
#include <atomic>
#include <cmath>
#include <limits>

namespace recollect {

/// A double that counts the operations of all threads. Every addition, subtraction, multiplication or division counts
/// as one flop; multiplications and divisions also count as one product. A call of a function such as exp counts as one
/// function. Changes of sign, comparisons and copies are free, and so are fabs, floor, fmax, fmin and rounding.
struct Counted {
  double value;
  static inline std::atomic<long> flops{0}, products{0}, functions{0};

  Counted() = default;
  constexpr Counted(double x) : value(x) {}
  explicit operator double() const { return value; }
  explicit operator int() const { return int(value); }
  Counted &operator+=(Counted b) { return *this = *this + b; }
  Counted &operator-=(Counted b) { return *this = *this - b; }
  Counted &operator*=(Counted b) { return *this = *this * b; }
  Counted &operator/=(Counted b) { return *this = *this / b; }
  Counted operator-() const { return -value; }

  friend Counted operator+(Counted a, Counted b) { return flop(a.value + b.value); }
  friend Counted operator-(Counted a, Counted b) { return flop(a.value - b.value); }
  friend Counted operator*(Counted a, Counted b) { return product(a.value * b.value); }
  friend Counted operator/(Counted a, Counted b) { return product(a.value / b.value); }
  friend bool operator<(Counted a, Counted b) { return a.value < b.value; }
  friend bool operator>(Counted a, Counted b) { return a.value > b.value; }
  friend bool operator<=(Counted a, Counted b) { return a.value <= b.value; }
  friend bool operator>=(Counted a, Counted b) { return a.value >= b.value; }
  friend bool operator==(Counted a, Counted b) { return a.value == b.value; }
  friend bool operator!=(Counted a, Counted b) { return a.value != b.value; }

  static Counted flop(double x) { return flops.fetch_add(1, std::memory_order_relaxed), Counted(x); }
  static Counted product(double x) { return products.fetch_add(1, std::memory_order_relaxed), flop(x); }
  static Counted function(double x) { return functions.fetch_add(1, std::memory_order_relaxed), Counted(x); }
};

namespace math {
inline Counted cos(Counted x) { return Counted::function(std::cos(x.value)); }
inline Counted sin(Counted x) { return Counted::function(std::sin(x.value)); }
inline Counted exp(Counted x) { return Counted::function(std::exp(x.value)); }
inline Counted log(Counted x) { return Counted::function(std::log(x.value)); }
inline Counted log1p(Counted x) { return Counted::function(std::log1p(x.value)); }
inline Counted erf(Counted x) { return Counted::function(std::erf(x.value)); }
inline Counted tanh(Counted x) { return Counted::function(std::tanh(x.value)); }
inline Counted sqrt(Counted x) { return Counted::function(std::sqrt(x.value)); }
inline Counted pow(Counted x, Counted y) { return Counted::function(std::pow(x.value, y.value)); }
inline Counted fabs(Counted x) { return std::fabs(x.value); }
inline Counted floor(Counted x) { return std::floor(x.value); }
inline Counted fmax(Counted x, Counted y) { return std::fmax(x.value, y.value); }
inline Counted fmin(Counted x, Counted y) { return std::fmin(x.value, y.value); }
inline Counted round_half_even(Counted x) { return std::nearbyint(x.value); }
} // namespace math

} // namespace recollect

template <> class std::numeric_limits<recollect::Counted> : public std::numeric_limits<double> {};
