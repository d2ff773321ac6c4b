// SPDX-License-Identifier: Apache-2.0
// Numbers that record how they were computed, for reverse-mode automatic differentiation. They give the gradient of a
// form's outputs with respect to all inputs.
#pragma once
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace recollect {

/// The recorded operations. The operands of an operation precede its result, also if several threads record.
class Tape {
public:
  /// The index of every constant: 0, so that zeroed memory holds constants.
  static constexpr std::int64_t constant = 0;

  /// Reserves space for `capacity` operations. Operations beyond this number are dropped, and full() is then true.
  explicit Tape(size_t capacity) : steps_(new Step[capacity + 1]), capacity_(capacity + 1) {} // uninitialised
  /// The tape on which numbers record themselves; null if there is none.
  static Tape *&current() {
    static Tape *tape = nullptr;
    return tape;
  }

  std::int64_t record(std::int64_t a, double slope_a, std::int64_t b, double slope_b) {
    const size_t index = used_.fetch_add(1, std::memory_order_relaxed);
    if (index < capacity_) steps_[index] = {a, b, slope_a, slope_b};
    return std::int64_t(index);
  }
  bool full() const { return used_ > capacity_; }

  /// Derivatives of sum_i weights[i] * (number i of the tape). On entry `adjoint` [size()] holds the weights; on return
  /// adjoint[i] is the derivative with respect to number i. A weight of 0 contributes nothing, even where a slope is
  /// infinite.
  void go_back(std::vector<double> &adjoint) const {
    for (size_t i = adjoint.size(); i-- > size_t(constant) + 1;) {
      const double weight = adjoint[i];
      if (weight == 0) continue;
      const Step &s = steps_[i];
      if (s.a != constant) adjoint[size_t(s.a)] += weight * s.slope_a;
      if (s.b != constant) adjoint[size_t(s.b)] += weight * s.slope_b;
    }
  }
  /// Number of entries, including the one that stands for all constants.
  size_t size() const { return used_; }

private:
  struct Step {
    std::int64_t a, b;
    double slope_a, slope_b;
  };
  std::unique_ptr<Step[]> steps_;
  size_t capacity_;
  std::atomic<size_t> used_{size_t(constant) + 1};
};

struct Taped {
  double value;
  std::int64_t index; // index on the tape

  Taped() = default;
  constexpr Taped(double x) : value(x), index(Tape::constant) {}
  /// The number y = f(a), where `slope` is f'(a).
  Taped(double y, Taped a, double slope) : Taped(y, a, slope, Taped(0), 0) {}
  Taped(double y, Taped a, double slope_a, Taped b, double slope_b) : Taped(y) {
    if (a.index != Tape::constant || b.index != Tape::constant)
      index = Tape::current()->record(a.index, slope_a, b.index, slope_b);
  }
  /// An independent variable.
  static Taped variable(double x) {
    Taped found(x);
    found.index = Tape::current()->record(Tape::constant, 0, Tape::constant, 0);
    return found;
  }

  explicit operator double() const { return value; }
  explicit operator int() const { return int(value); }
  Taped &operator+=(Taped b) { return *this = *this + b; }
  Taped &operator-=(Taped b) { return *this = *this - b; }
  Taped &operator*=(Taped b) { return *this = *this * b; }
  Taped &operator/=(Taped b) { return *this = *this / b; }
  Taped operator-() const { return {-value, *this, -1}; }

  friend Taped operator+(Taped a, Taped b) { return {a.value + b.value, a, 1, b, 1}; }
  friend Taped operator-(Taped a, Taped b) { return {a.value - b.value, a, 1, b, -1}; }
  friend Taped operator*(Taped a, Taped b) { return {a.value * b.value, a, b.value, b, a.value}; }
  friend Taped operator/(Taped a, Taped b) {
    const double ratio = a.value / b.value;
    return {ratio, a, 1 / b.value, b, -ratio / b.value};
  }
  friend bool operator<(Taped a, Taped b) { return a.value < b.value; }
  friend bool operator>(Taped a, Taped b) { return a.value > b.value; }
  friend bool operator<=(Taped a, Taped b) { return a.value <= b.value; }
  friend bool operator>=(Taped a, Taped b) { return a.value >= b.value; }
  friend bool operator==(Taped a, Taped b) { return a.value == b.value; }
  friend bool operator!=(Taped a, Taped b) { return a.value != b.value; }
};

/// Where a function has no derivative, the tape records a one-sided slope: at a tie of fmax or fmin the slope of the
/// first operand, and 1 for fabs at 0. ReLU, written as x > 0 ? x : 0, has slope 0 at 0. The backward passes of layers
/// use the same slopes (tests/variants/zeros_and_ties.cpp).
namespace math {
inline Taped cos(Taped x) { return {std::cos(x.value), x, -std::sin(x.value)}; }
inline Taped sin(Taped x) { return {std::sin(x.value), x, std::cos(x.value)}; }
inline Taped exp(Taped x) {
  const double y = std::exp(x.value);
  return {y, x, y};
}
inline Taped log(Taped x) { return {std::log(x.value), x, 1 / x.value}; }
inline Taped log1p(Taped x) { return {std::log1p(x.value), x, 1 / (1 + x.value)}; }
inline Taped erf(Taped x) { return {std::erf(x.value), x, M_2_SQRTPI * std::exp(-x.value * x.value)}; }
inline Taped tanh(Taped x) {
  const double decay = std::exp(-2 * std::fabs(x.value)); // 1 - tanh(x)^2 cancels at large x
  return {std::tanh(x.value), x, 4 * decay / ((1 + decay) * (1 + decay))};
}
inline Taped sqrt(Taped x) {
  const double y = std::sqrt(x.value);
  return {y, x, 0.5 / y};
}
inline Taped pow(Taped x, Taped y) {
  const double z = std::pow(x.value, y.value);
  const double by_x = y.value == 0 ? 0 : y.value * std::pow(x.value, y.value - 1); // x^0 is 1 also at x = 0
  return {z, x, by_x, y, x.value > 0 ? z * std::log(x.value) : 0};
}
inline Taped fabs(Taped x) { return x.value < 0 ? -x : x; }
inline Taped fmax(Taped x, Taped y) { return x.value < y.value ? y : x; }
inline Taped fmin(Taped x, Taped y) { return y.value < x.value ? y : x; }
/// The derivative is 0.
inline Taped floor(Taped x) { return std::floor(x.value); }
/// Straight-through estimator (slope_of in variants/kernels/attention/similarity.hpp): layers with roundings are
/// trained with slope 1, although the derivative is 0.
inline Taped round_half_even(Taped x) { return {std::nearbyint(x.value), x, 1}; }
} // namespace math

} // namespace recollect

template <> class std::numeric_limits<recollect::Taped> : public std::numeric_limits<double> {};
