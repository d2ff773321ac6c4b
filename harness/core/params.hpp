// SPDX-License-Identifier: Apache-2.0
// Named parameters of variants, tasks and claims. Each is declared once, with its default, range and meaning.
#pragma once
#include "harness/core/special_members.hpp"
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace recollect {

struct ParamSpec {
  SPECIAL_MEMBERS(ParamSpec);
  enum Kind { integer, real, choice } kind = real;
  std::string name;
  double fallback = 0; // NaN: computed from the shape by the formula `automatic`
  double low = 0, high = 0;
  std::vector<std::string> choices; // the first is the default
  std::string automatic;            // formula used when no value is given; "" if `fallback` is used
  std::string meaning;
  std::vector<double> grid; // values that `run --tune` tries in addition to the default

  std::string default_text() const;
};

constexpr double no_limit = std::numeric_limits<double>::infinity();

ParamSpec integer_param(std::string name, double fallback, double low, double high, std::string meaning);
ParamSpec real_param(std::string name, double fallback, double low, double high, std::string meaning);
/// A real whose default is a formula of the shape, such as "1/sqrt(Dk)". Params holds NaN if the user gives no value.
ParamSpec automatic_param(std::string name, std::string formula, double low, double high, std::string meaning);
ParamSpec choice_param(std::string name, std::vector<std::string> choices, std::string meaning);
/// `spec` with `grid`, the values that `run --tune` tries in addition to the default.
ParamSpec tuned(ParamSpec spec, std::vector<double> grid);
/// The values of the grid as a text "a, b, c", without the default.
std::string grid_text(const ParamSpec &spec);

/// Values of the declared parameters. Asking for an undeclared parameter throws a logic error.
class Params {
public:
  SPECIAL_MEMBERS(Params);
  struct Value {
    double number = 0;
    std::string text; // the value of a choice; "" for numbers
  };
  double real(const std::string &name) const { return at(name).number; }
  /// The value, or `fallback` if the user gave none.
  double real_or(const std::string &name, double fallback) const;
  int integer(const std::string &name) const { return static_cast<int>(at(name).number); }
  const std::string &text(const std::string &name) const { return at(name).text; }
  bool has(const std::string &name) const { return values_.count(name) != 0; }
  Params &set(const std::string &name, double number);
  Params &set(const std::string &name, const std::string &text);
  /// "d=16,n=100", sorted by name. This text is for readers; files store typed columns.
  std::string str() const;
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

private:
  const Value &at(const std::string &name) const;
  std::map<std::string, Value> values_;
};

using Assignments = std::map<std::string, std::string>; // name -> text, as given on the command line

/// Adds the assignment "name=value" to `into`; usage error if the text has another form.
void parse_assignment(const std::string &text, Assignments &into);

/// The defaults, overridden by `given`. Usage error for an unknown name or a bad value; its message names `owner`, the
/// variant, task or claim.
Params resolve(const std::vector<ParamSpec> &specs, const Assignments &given, const std::string &owner);

} // namespace recollect
