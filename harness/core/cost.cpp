// SPDX-License-Identifier: Apache-2.0
#include "harness/core/cost.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace recollect {

DEFINE_SPECIAL_MEMBERS(Polynomial);

Polynomial Polynomial::symbol(const std::string &name) {
  Polynomial p;
  p.add({{name, 1}}, 1);
  return p;
}
Polynomial Polynomial::symbol(const std::string &name, const Polynomial &automatic) {
  Polynomial p = symbol(name);
  p.automatic_[name] = std::make_shared<const Polynomial>(automatic);
  return p;
}

const Polynomial cost::Dk = Polynomial::symbol("Dk"), cost::Dv = Polynomial::symbol("Dv"),
                 cost::T = Polynomial::symbol("T"), cost::t = Polynomial::symbol("t");

void Polynomial::add(const Powers &powers, double coefficient) {
  if (coefficient == 0) return;
  double &sum = terms_[powers];
  if ((sum += coefficient) == 0) terms_.erase(powers);
}

Polynomial operator+(Polynomial a, const Polynomial &b) {
  for (const auto &[powers, coefficient] : b.terms_) a.add(powers, coefficient);
  a.automatic_.insert(b.automatic_.begin(), b.automatic_.end());
  return a;
}

Polynomial operator*(const Polynomial &a, const Polynomial &b) {
  Polynomial product;
  product.automatic_ = a.automatic_;
  product.automatic_.insert(b.automatic_.begin(), b.automatic_.end());
  for (const auto &[left, x] : a.terms_)
    for (const auto &[right, y] : b.terms_) {
      Polynomial::Powers powers = left;
      for (const auto &[name, power] : right)
        if ((powers[name] += power) == 0) powers.erase(name);
      product.add(powers, x * y);
    }
  return product;
}

Polynomial operator/(const Polynomial &a, const Polynomial &b) {
  if (b.terms_.size() != 1) throw std::logic_error("a cost is divided by a single product of sizes");
  Polynomial::Powers powers = b.terms_.begin()->first;
  for (auto &[name, power] : powers) power = -power;
  Polynomial reciprocal;
  reciprocal.add(powers, 1 / b.terms_.begin()->second);
  return a * reciprocal;
}

double Polynomial::at(const Shape &n, const Params &params) const {
  const double T = n.T;
  const auto value = [&](const std::string &name, int power) {
    if (name == "t" && power == 1) return (T + 1) / 2;
    if (name == "t" && power == 2) return (T + 1) * (2 * T + 1) / 6;
    if (name == "t") throw std::logic_error("a cost grows with t or t^2");
    double size = name == "Dk" ? n.Dk : name == "Dv" ? n.Dv : name == "T" ? T : params.real(name);
    if (std::isnan(size)) size = automatic_.at(name)->at(n, params);
    return std::pow(size, power);
  };
  double sum = 0;
  for (const auto &[powers, coefficient] : terms_) {
    double product = coefficient;
    for (const auto &[name, power] : powers) product *= value(name, power);
    sum += product;
  }
  return sum;
}

std::string Polynomial::str() const {
  std::vector<std::pair<int, std::string>> sum; // highest degree first
  for (const auto &[powers, coefficient] : terms_) {
    std::vector<std::string> above, below;
    int degree = 0;
    for (const auto &[name, power] : powers) {
      const int size = std::abs(power);
      (power > 0 ? above : below).push_back(size == 1 ? name : name + "^" + std::to_string(size));
      degree += power;
    }
    if (coefficient != 1 || above.empty()) above.insert(above.begin(), number(coefficient));
    sum.emplace_back(-degree, join(above, " ") + (below.empty() ? "" : " / " + join(below, " / ")));
  }
  std::stable_sort(sum.begin(), sum.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  std::string text;
  for (const auto &[degree, term] : sum)
    text += text.empty() ? term : term[0] == '-' ? " - " + term.substr(1) : " + " + term;
  return text.empty() ? "0" : text;
}

std::string Cost::str() const {
  const std::string calls = functions.str();
  return std::string(least ? "at least " : "") + "$" + flops.str() + "$ flops" +
         (calls == "0" ? "" : ", $" + calls + "$ calls of exp, sqrt or the like");
}

} // namespace recollect
