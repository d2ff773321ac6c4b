// SPDX-License-Identifier: Apache-2.0
// The cost of a layer per token, as a polynomial in the layer's sizes. Each layer's descriptor states this cost. A test
// compares it with the counted operations of the recurrent form (counted.hpp).
#pragma once
#include "harness/core/params.hpp"
#include "harness/core/types.hpp"
#include <map>
#include <memory>
#include <string>

namespace recollect {

/// A sum of products of powers of named sizes. Powers may be negative: 6 Dv Dk + 2 Dk T / block.
class Polynomial {
public:
  SPECIAL_MEMBERS(Polynomial);
  Polynomial(double constant) { add({}, constant); }
  static Polynomial symbol(const std::string &name);
  /// A parameter called `name`. If it has no value, the value of `automatic` is used.
  static Polynomial symbol(const std::string &name, const Polynomial &automatic);
  friend Polynomial operator+(Polynomial a, const Polynomial &b);
  friend Polynomial operator*(const Polynomial &a, const Polynomial &b);
  /// The divisor b must have exactly one term.
  friend Polynomial operator/(const Polynomial &a, const Polynomial &b);
  /// The value at these sizes. The step t is averaged over the sequence: (T + 1) / 2 for t, (T + 1) (2 T + 1) / 6 for
  /// t^2. Other names are the variant's parameters. Throws a logic error for an unknown name.
  double at(const Shape &shape, const Params &params) const;
  std::string str() const; // "6 Dk Dv + 2 Dk T / block"

private:
  using Powers = std::map<std::string, int>;
  void add(const Powers &powers, double coefficient);
  std::map<Powers, double> terms_;
  std::map<std::string, std::shared_ptr<const Polynomial>> automatic_;
};

/// Cost of the recurrent form per token and head, averaged over a sequence, to leading order in the sizes.
struct Cost {
  Polynomial flops;     // additions, subtractions, multiplications and divisions
  Polynomial functions; // exponentials, roots, sines ...
  Cost(Polynomial arithmetic = {}, Polynomial calls = {}) : flops(std::move(arithmetic)), functions(std::move(calls)) {}
  /// True if the recurrent form repeats work for readability. The cost then leaves out the repetitions.
  bool least = false;
  std::string str() const;
};

namespace cost {
extern const Polynomial Dk, Dv, T, t; // t: the step, 1 ... T
inline Polynomial parameter(const std::string &name) { return Polynomial::symbol(name); }
inline Cost at_least(Cost cost) {
  cost.least = true;
  return cost;
}
} // namespace cost

} // namespace recollect
