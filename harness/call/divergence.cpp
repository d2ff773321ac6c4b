// SPDX-License-Identifier: Apache-2.0
#include "harness/call/divergence.hpp"
#include "harness/core/registry.hpp"
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace recollect {

std::string divergence(const Output &output, const Shape &shape) {
  const size_t T = size_t(shape.T), Dv = size_t(shape.Dv);
  const auto bad = [](double x) { return !std::isfinite(x); };
  size_t first = T, head = 0;
  for (size_t i = 0; i < output.o.size(); ++i)
    if (bad(output.o[i]) && i / Dv % T < first) first = i / Dv % T, head = i / Dv / T;
  if (first < T) return "step " + std::to_string(first) + " of head " + std::to_string(head);
  return std::any_of(output.state.begin(), output.state.end(), bad) ? "the final state" : "";
}

std::string diverged(const Output &output, const Shape &shape, Real real) {
  const std::string where = divergence(output, shape);
  return where.empty() ? "" : std::string("diverged in ") + name_of(real) + " at " + where;
}

std::string unresolved(const Variant &variant, const Sequence &sequence, const Run &run) {
  if (!variant.worst_condition || !sequence.state.empty()) return "";
  const Conditioned worst =
      variant.worst_condition(sequence, params_of(variant, run), 1 / epsilon_of(wide_of(run.real)));
  if (worst.number == 0) return "";
  std::ostringstream text;
  text << name_of(wide_of(run.real)) << " does not resolve the matrix solved at step " << worst.step << " of head "
       << worst.head << ", of condition number " << std::setprecision(2) << worst.number;
  return text.str();
}

std::string settle(const Variant &variant, const Sequence &sequence, const Run &run, Output &output) {
  const std::string said = diverged(output, sequence.shape, run.real);
  if (said.empty()) return unresolved(variant, sequence, run);
  const Form &form = find_form(variant, run.form, sequence.shape, params_of(variant, run));
  if (form.name == variant.forms[0].name || !form.exact) return said;
  Run definition = run;
  definition.form = variant.forms[0].name;
  Output recurrent = forward(variant, sequence, definition);
  if (!divergence(recurrent, sequence.shape).empty()) return said;
  output = std::move(recurrent);
  return definition.form + " in place of " + form.name + ", which " + said;
}

} // namespace recollect
