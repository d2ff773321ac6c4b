// SPDX-License-Identifier: Apache-2.0
// Results of `check` as text, as JSON and as JUnit.
#pragma once
#include "harness/call/layer_inputs.hpp"
#include "harness/check/check.hpp"
#include "harness/check/users_case.hpp"
#include "harness/command_line/junit.hpp"
#include <iosfwd>
#include <nlohmann/json.hpp>

namespace recollect {

/// One candidate's verdict, and the facts needed to repeat it.
struct CheckReport {
  std::string layer;
  Shape shape;
  const PartList &reference; // the definition's results
  const Checked &checked;
  Precision precision;
  std::string seed;                   // of the inputs; "" if unknown
  std::string command;                // repeats the check
  std::vector<Text> texts = {};       // packed texts
  std::vector<TypedArray> types = {}; // types of the inputs
};

/// "right", "WRONG" or "cannot decide".
const char *verdict_of(Judgement judgement);
/// Why the candidate is not right, in one line: the diagnosis, or the location, or what could not be decided.
std::string in_short(const Checked &checked);
/// "largest error of a row 1.3, of a head 0.4 (in rounding noise)": one line over all parts.
std::string ratios_of(const Checked &checked);

/// The verdict, one line per part, the curve over steps, what was not checked, where and what is wrong, and the
/// command.
void print_checked(std::ostream &out, const CheckReport &report);
/// Parts have the user's names, and the definition's if they differ. Numbers that are not finite are null; a part that
/// was not given is {"checked": false}.
nlohmann::ordered_json checked_json(const CheckReport &report);
/// Adds a test case, marked as failed unless the verdict is "right".
void add_case(JUnit &suite, const std::string &name, double seconds, const Checked &checked,
              const std::string &command);

} // namespace recollect
