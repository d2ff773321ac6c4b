// SPDX-License-Identifier: Apache-2.0
#include "harness/core/state_formula.hpp"
#include "harness/core/text.hpp"
#include <array>
#include <cmath>
#include <functional>
#include <stdexcept>

namespace recollect {
namespace {

// The formula is fitted at three consecutive values of each size, so interpolation divides only by 1 and 2, exactly.
constexpr int points = 3, first_point = 2;

/// The sizes that a formula depends on, with a value for each.
using Sizes = std::map<std::string, int>;

class Count {
public:
  explicit Count(const Variant &variant) : variant_(variant), defaults_(resolve(variant.params, {}, variant.name)) {}
  StateShape at(const Sizes &sizes) const {
    Shape shape{1, 1, 1, first_point, first_point};
    Params params = defaults_;
    for (const auto &[name, value] : sizes)
      if (name == "Dk")
        shape.Dk = value;
      else if (name == "Dv")
        shape.Dv = value;
      else
        params.set(name, value);
    return variant_.state_shape(shape, params);
  }

private:
  const Variant &variant_;
  Params defaults_;
};

/// Lagrange interpolation: the polynomial of degree 2 in each of `names` that equals `value` at the fitted points. The
/// sizes in `sizes` are fixed.
Polynomial interpolated(std::vector<std::string> names, Sizes sizes, const std::function<int(const Sizes &)> &value) {
  if (names.empty()) return value(sizes);
  const std::string name = names.back();
  names.pop_back();
  Polynomial sum;
  for (int i = first_point; i < first_point + points; ++i) {
    sizes[name] = i;
    Polynomial term = interpolated(names, sizes, value);
    for (int j = first_point; j < first_point + points; ++j)
      if (j != i) term = term * (Polynomial::symbol(name) + -j) * (1.0 / (i - j));
    sum = sum + term;
  }
  return sum;
}

struct Fit {
  Polynomial rows, columns;
};
Fit fit(const Count &count, const std::vector<std::string> &names) {
  return {interpolated(names, {}, [&](const Sizes &sizes) { return count.at(sizes).rows; }),
          interpolated(names, {}, [&](const Sizes &sizes) { return count.at(sizes).columns; })};
}

/// Whether the formula also gives the layer's count at sizes to which it was not fitted.
bool holds(const Fit &fit, const Count &count, const std::vector<std::string> &names) {
  for (const std::array<int, 3> &values : {std::array<int, 3>{5, 9, 6}, {16, 7, 5}, {64, 128, 7}}) {
    Sizes sizes{{"Dk", values[0]}, {"Dv", values[1]}};
    Params params;
    for (const std::string &name : names)
      if (name != "Dk" && name != "Dv") sizes[name] = values[2], params.set(name, values[2]);
    const Shape shape{1, 1, 1, values[0], values[1]};
    const StateShape wanted = count.at(sizes);
    if (fit.rows.at(shape, params) != wanted.rows || fit.columns.at(shape, params) != wanted.columns) return false;
  }
  return true;
}

bool is_sum(const std::string &text) {
  return text.find(" + ") != std::string::npos || text.find(" - ") != std::string::npos;
}

} // namespace

std::string StateFormula::str() const {
  const std::string size = (rows * columns).str();
  if (!is_sum(size)) return size;
  const auto factor = [](const std::string &text) { return is_sum(text) ? "(" + text + ")" : text; };
  std::string first = rows.str(), second = columns.str();
  if (is_sum(first) && !is_sum(second)) std::swap(first, second);
  return factor(first) + " " + factor(second);
}

StateFormula state_formula(const Variant &variant) {
  const Count count(variant);
  if (count.at({}).size() == 0) return {cost::T, cost::Dk + cost::Dv, {}};
  std::vector<std::string> names{"Dk", "Dv"};
  std::vector<std::string> fixed;
  const auto size = [&](const ParamSpec &p, int value) {
    return count.at({{"Dk", 5}, {"Dv", 9}, {p.name, value}}).size();
  };
  for (const ParamSpec &p : variant.params) {
    const bool automatic = !p.automatic.empty();
    if ((p.kind != ParamSpec::integer && !automatic) || size(p, 2) == size(p, 3)) continue;
    std::vector<std::string> more = names;
    more.push_back(p.name);
    if (holds(fit(count, more), count, more))
      names = more;
    else
      fixed.push_back(p.name + " = " + p.default_text());
  }
  const Fit found = fit(count, names);
  if (!holds(found, count, names))
    throw std::logic_error("the state of " + variant.name + " has no formula in Dk and Dv");
  return {found.rows, found.columns, fixed};
}

} // namespace recollect
