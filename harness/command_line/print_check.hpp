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
  std::string seed;                   // seed of the inputs; "" if unknown
  std::string command;                // repeats the check
  std::vector<Text> texts = {};       // packed texts
  std::vector<TypedArray> types = {}; // types of the inputs
};

/// "right", "WRONG" or "cannot decide".
const char *verdict_of(Judgement judgement);
/// One line that says why the candidate is not right: the diagnosis, where the error is, or what could not be decided.
std::string in_short(const Checked &checked);
/// The largest errors over all parts, in units of rounding noise: "worst row 1.3, head 0.4".
std::string ratios_of(const Checked &checked);

/// Prints the verdict, a line per part, the errors by ranges of steps, what was not checked, where and what is wrong,
/// and the command.
void print_checked(std::ostream &out, const CheckReport &report);
/// The same as JSON. Keys of parts are the user's names; a part also has the definition's name if that differs. Numbers
/// that are not finite are null, and a part that was not given is {"checked": false}.
nlohmann::ordered_json checked_json(const CheckReport &report);
/// Adds a test case, marked as failed unless the verdict is "right".
void add_case(JUnit &suite, const std::string &name, double seconds, const Checked &checked,
              const std::string &command);

} // namespace recollect
