// SPDX-License-Identifier: Apache-2.0
#include "harness/core/cost.hpp"
#include <cmath>
#include <cstdlib>

namespace recollect {
namespace {

/// sum = product (('+' | '-') product)*;  product = power ('/'? power)*;  power = atom ('^' atom)?
class Formula {
public:
  Formula(const std::string &text, const std::map<std::string, double> &values) : text_(text), values_(values) {}
  double value() {
    const double found = sum();
    if (next() != '\0') fail();
    return found;
  }

private:
  [[noreturn]] void fail() const { throw std::logic_error("not a formula: '" + text_ + "'"); }
  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  double sum() {
    double total = product();
    while (true) {
      if (take('+'))
        total += product();
      else if (take('-'))
        total -= product();
      else
        return total;
    }
  }
  double product() {
    double total = power();
    while (next() == '/' || next() == '(' || std::isalnum(next())) {
      const bool divide = take('/');
      total = divide ? total / power() : total * power();
    }
    return total;
  }
  double power() {
    const double base = atom();
    return take('^') ? std::pow(base, atom()) : base;
  }
  double atom() {
    if (take('(')) {
      const double inside = sum();
      if (!take(')')) fail();
      return inside;
    }
    if (std::isdigit(next())) {
      char *end;
      const double number = std::strtod(text_.c_str() + at_, &end);
      at_ = size_t(end - text_.c_str());
      return number;
    }
    std::string name;
    for (next(); at_ < text_.size() && (std::isalnum(text_[at_]) || text_[at_] == '_'); ++at_) name += text_[at_];
    if (name == "sqrt") return std::sqrt(atom());
    const auto found = values_.find(name);
    if (found == values_.end()) fail();
    return found->second;
  }
  const std::string &text_;
  const std::map<std::string, double> &values_;
  size_t at_ = 0;
};

} // namespace

double evaluate(const std::string &formula, const std::map<std::string, double> &values) {
  return Formula(formula, values).value();
}

double flops_a_token(const Variant &variant, const Shape &shape, const Params &params) {
  std::map<std::string, double> values{{"Dk", shape.Dk}, {"Dv", shape.Dv}, {"T", shape.T}, {"t", (shape.T + 1) / 2.0}};
  const size_t unit = variant.cost.find(" flops");
  const std::string formula = variant.cost.substr(0, unit);
  for (const ParamSpec &spec : variant.params) {
    if (spec.kind == ParamSpec::choice) continue;
    const double given = params.real(spec.name); // automatic ones only where the formula has them: some are prose
    if (!std::isnan(given))
      values[spec.name] = given;
    else if (formula.find(spec.name) != std::string::npos)
      values[spec.name] = evaluate(spec.automatic, values);
  }
  return evaluate(formula, values);
}

double state_bytes(const Variant &variant, const Shape &shape, const Params &params, Real real) {
  const size_t state = variant.state_shape(shape, params).size();
  const double numbers = state ? double(state) : double(shape.T) * (shape.Dk + shape.Dv);
  return numbers * (real == Real::f32 ? 4 : 8);
}

} // namespace recollect
