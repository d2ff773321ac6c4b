// SPDX-License-Identifier: Apache-2.0
// What a token costs, as a polynomial in the sizes: written in a descriptor, printed, evaluated, and held by a test
// against the operations that the recurrent form is seen to make (counted.hpp).
#pragma once
#include "harness/core/params.hpp"
#include "harness/core/types.hpp"
#include <map>
#include <memory>
#include <string>

namespace recollect {

/// Sums of products of named sizes, negative powers among them: 6 Dv Dk + 2 Dk T / block.
class Polynomial {
public:
  Polynomial(double constant = 0) { add({}, constant); }
  static Polynomial symbol(const std::string &name) {
    Polynomial p;
    p.add({{name, 1}}, 1);
    return p;
  }
  /// A parameter that has this value where it is left automatic.
  static Polynomial symbol(const std::string &name, const Polynomial &automatic) {
    Polynomial p = symbol(name);
    p.automatic_[name] = std::make_shared<const Polynomial>(automatic);
    return p;
  }
  friend Polynomial operator+(Polynomial a, const Polynomial &b);
  friend Polynomial operator*(const Polynomial &a, const Polynomial &b);
  /// b has one term.
  friend Polynomial operator/(const Polynomial &a, const Polynomial &b);
  /// A step's average over a sequence: of t it is (T + 1) / 2, of t^2 (T + 1) (2 T + 1) / 6. Other names are the
  /// variant's parameters. A logic error for a name that is neither.
  double at(const Shape &shape, const Params &params) const;
  std::string str() const; // "6 Dk Dv + 2 Dk T / block"

private:
  using Powers = std::map<std::string, int>;
  void add(const Powers &powers, double coefficient);
  std::map<Powers, double> terms_;
  std::map<std::string, std::shared_ptr<const Polynomial>> automatic_;
};

/// Of one token of one head, on average over a sequence, in the recurrent form and to leading order in the sizes.
struct Cost {
  Polynomial flops;     // additions, multiplications and divisions
  Polynomial functions; // exponentials, roots, sines ...
  Cost(Polynomial arithmetic = {}, Polynomial calls = {}) : flops(std::move(arithmetic)), functions(std::move(calls)) {}
  /// True: the recurrent form, written to be read, repeats work, and this is what it takes when nothing is repeated.
  bool least = false;
  std::string str() const;
};

namespace cost {
inline const Polynomial Dk = Polynomial::symbol("Dk"), Dv = Polynomial::symbol("Dv"), T = Polynomial::symbol("T"),
                        t = Polynomial::symbol("t"); // t: the step, 1 ... T
inline Polynomial parameter(const std::string &name) { return Polynomial::symbol(name); }
inline Cost at_least(Cost cost) {
  cost.least = true;
  return cost;
}
} // namespace cost

} // namespace recollect
