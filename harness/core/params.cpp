// SPDX-License-Identifier: Apache-2.0
#include "harness/core/params.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {

DEFINE_SPECIAL_MEMBERS(ParamSpec);
DEFINE_SPECIAL_MEMBERS(Params);

std::string ParamSpec::default_text() const {
  if (kind == choice) return choices.front();
  return automatic.empty() ? number(fallback) : automatic;
}

ParamSpec real_param(std::string name, double fallback, double low, double high, std::string meaning) {
  ParamSpec spec;
  spec.name = std::move(name), spec.meaning = std::move(meaning);
  spec.fallback = fallback, spec.low = low, spec.high = high;
  return spec;
}
ParamSpec integer_param(std::string name, double fallback, double low, double high, std::string meaning) {
  ParamSpec spec = real_param(std::move(name), fallback, low, high, std::move(meaning));
  spec.kind = ParamSpec::integer;
  return spec;
}
ParamSpec automatic_param(std::string name, std::string formula, double low, double high, std::string meaning) {
  ParamSpec spec = real_param(std::move(name), std::nan(""), low, high, std::move(meaning));
  spec.automatic = std::move(formula);
  return spec;
}
ParamSpec choice_param(std::string name, std::vector<std::string> choices, std::string meaning) {
  ParamSpec spec = real_param(std::move(name), 0, 0, 0, std::move(meaning));
  spec.kind = ParamSpec::choice, spec.choices = std::move(choices);
  return spec;
}

ParamSpec tuned(ParamSpec spec, std::vector<double> grid) {
  spec.grid = std::move(grid);
  return spec;
}
std::string grid_text(const ParamSpec &spec) {
  std::vector<std::string> values;
  for (double value : spec.grid) values.push_back(number(value));
  return join(values, ", ");
}

Params &Params::set(const std::string &name, double number) { return values_[name] = {number, ""}, *this; }
Params &Params::set(const std::string &name, const std::string &text) { return values_[name] = {0, text}, *this; }

double Params::real_or(const std::string &name, double fallback) const {
  const double value = real(name);
  return std::isnan(value) ? fallback : value;
}

const Params::Value &Params::at(const std::string &name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw std::logic_error("parameter '" + name + "' was never declared");
  return found->second;
}

std::string Params::str() const {
  std::vector<std::string> parts;
  for (const auto &[name, value] : values_) {
    if (value.text.empty() && std::isnan(value.number)) continue;
    parts.push_back(name + "=" + (value.text.empty() ? number(value.number) : value.text));
  }
  return join(parts, ",");
}

void parse_assignment(const std::string &text, Assignments &into) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    usage_error("'" + text + "' is not of the form name=value");
  into[text.substr(0, equals)] = text.substr(equals + 1);
}

namespace {
void assign(Params &params, const ParamSpec &spec, const std::string &text, const std::string &owner) {
  const std::string what = owner + ": parameter " + spec.name;
  if (spec.kind == ParamSpec::choice) {
    if (std::find(spec.choices.begin(), spec.choices.end(), text) == spec.choices.end())
      usage_error(what + " cannot be '" + text + "'" + suggestion(text, spec.choices) + " (one of " +
                  join(spec.choices, ", ") + ")");
    params.set(spec.name, text);
    return;
  }
  const double value = parse_number(text, what);
  if (spec.kind == ParamSpec::integer && value != std::floor(value))
    usage_error(what + " needs a whole number, got '" + text + "'");
  if (value < spec.low || value > spec.high)
    usage_error(what + " must lie in [" + number(spec.low) + ", " + number(spec.high) + "], got " + text);
  params.set(spec.name, value);
}
} // namespace

Params resolve(const std::vector<ParamSpec> &specs, const Assignments &given, const std::string &owner) {
  Params params;
  std::vector<std::string> known;
  for (const ParamSpec &spec : specs) {
    known.push_back(spec.name);
    const auto found = given.find(spec.name);
    if (found != given.end())
      assign(params, spec, found->second, owner);
    else if (spec.kind == ParamSpec::choice)
      params.set(spec.name, spec.choices.front());
    else
      params.set(spec.name, spec.fallback);
  }
  for (const auto &[name, text] : given)
    if (!params.has(name))
      usage_error(owner + " has no parameter '" + name + "'" +
                  (known.empty() ? "; it takes none" : suggestion(name, known)));
  return params;
}

} // namespace recollect
