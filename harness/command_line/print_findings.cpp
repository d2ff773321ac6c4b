// SPDX-License-Identifier: Apache-2.0
// Terminal output of `verify`: a summary by scope, then every claim.
#include "harness/command_line/evidence.hpp"
#include "harness/command_line/print.hpp"
#include "harness/command_line/table.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <ostream>
#include <sstream>
#include <tuple>

namespace recollect {
namespace {

/// Sort key: the larger it is, the more a point tells about its claim. In this order it decides by: not a rival;
/// verdict not `holds`; a point of the statement; ratio of |measured - predicted| to the tolerance.
std::tuple<bool, bool, bool, double> strain(const Point &p) {
  const double ratio = std::fabs(p.measured - p.predicted) / p.tolerance;
  return {p.role != Role::rival, p.verdict != Verdict::holds, p.role == Role::statement,
          std::isnan(ratio) ? 0.0 : ratio};
}

/// Of the points for which admits(point) is true, the one with the largest strain(); null if there is none.
template <class Admits> const Point *first_of(const Finding &f, const Admits &admits) {
  const Point *found = nullptr;
  for (const Point &p : f.points)
    if (admits(p) && (!found || strain(*found) < strain(p))) found = &p;
  return found;
}

/// Whether a point that is not of the statement has a verdict that makes its claim fail: a rival that is not refuted,
/// or another point that does not hold.
bool unexpected(const Point &p) {
  return p.role == Role::rival ? p.verdict != Verdict::refuted
                               : p.role != Role::statement && p.verdict != Verdict::holds;
}

std::vector<std::string> point_row(const Finding &f, const Point &p, const std::string &verdict,
                                   const std::string &note) {
  const std::string relation = p.relation == Point::equal ? "" : p.relation == Point::at_most ? "<= " : ">= ";
  return {f.claim->id,
          brief(p.measured),
          relation + brief(p.predicted),
          brief(p.standard_error),
          verdict,
          name_of(f.claim->expected),
          note};
}

/// Role, kind of rival, label and parameters of a point: "rival (law) n for n-1 d=16,n=100".
std::string point_note(const Point &p) {
  std::vector<std::string> words{name_of(p.role)};
  if (p.role == Role::rival) words.push_back(std::string("(") + name_of(p.rival) + ")");
  for (const std::string &word : {unmarked(p.label), p.params.str()})
    if (!word.empty()) words.push_back(word);
  return join(words, " ");
}

/// The smallest relative error of the prediction that the point detects: " (detects 1e-9)". Empty for bounds and
/// rivals.
std::string detected(const Point &p) {
  if (p.role == Role::rival || p.relation != Point::equal || !(sensitivity(p) > 0)) return "";
  char text[40];
  std::snprintf(text, sizeof text, " (detects %.2g)", sensitivity(p));
  return text;
}

/// The verdict with its qualifier: "refuted (boundary)".
std::string verdict_text(const Finding &f) {
  const std::string beside = f.claim->condition.empty() ? qualifier(*f.claim) : ""; // a condition has a separate column
  return name_of(f.verdict) + (beside.empty() ? "" : " (" + beside + ")");
}

/// The point that represents a claim in the table. For a failed claim this is the worst failing point, if there is one.
/// Otherwise it is the counter-example, which `explain` prints too, or else the point with the largest strain().
const Point &decisive(const Finding &f) {
  const Point *const broken = f.passed ? nullptr : first_of(f, unexpected), *const example = counter_example(f);
  return broken ? *broken : example ? *example : *first_of(f, [](const Point &) { return true; });
}

void add_rows(Rows &rows, const Finding &f, bool every_point) {
  const auto beside = [&](const std::string &note) {
    rows.push_back({f.claim->id, "", "", "", verdict_text(f), name_of(f.claim->expected), note});
  };
  if (!f.tested()) return beside("");
  if (f.points.empty()) return beside("FAILED (no points)");
  const Point &shown = decisive(f);
  const std::string condition = f.claim->condition.empty() ? "" : "if " + qualifier(*f.claim);
  rows.push_back(point_row(f, shown, verdict_text(f), f.passed ? condition : "FAILED: " + point_note(shown)));
  for (const Point &p : f.points)
    if (every_point || (!f.passed && unexpected(p))) {
      rows.push_back(point_row(f, p, name_of(p.verdict), point_note(p) + (every_point ? detected(p) : "")));
      rows.back()[0] = "  . " + f.claim->id;
      rows.back()[5] = "";
    }
  if (!f.passed && std::none_of(f.points.begin(), f.points.end(), [](const Point &p) { return p.role == Role::rival; }))
    rows.push_back({"  . " + f.claim->id, "", "", "", "", "", "no rival: nothing shows that this claim could fail"});
}

/// The possible outcomes of a claim, in the order of printing.
enum Outcome : size_t {
  holds,
  under_a_condition,
  in_a_limit,
  as_asserted,
  at_a_boundary,
  typo,
  untrained,
  unqualified,
  not_tested,
  failed
};
const char *const outcome_names[] = {"holds",     "holds_under", "holds_asymptotically", "refuted", "boundary", "typo",
                                     "untrained", "refuted",     "not_tested",           "failed"};
const char *const outcome_texts[][2] = {
    {"statement holds", "statements hold"},
    {"holds under a condition", "hold under a condition"},
    {"holds in a limit", "hold in a limit"},
    {"refuted as asserted", "refuted as asserted"},
    {"refuted in a stricter reading", "refuted in a stricter reading"},
    {"typo", "typos"},
    {"effect of training, absent without it", "effects of training, absent without it"},
    {"refuted", "refuted"},
    {"not tested", "not tested"},
    {"FAILED: not as expected", "FAILED: not as expected"}};

Outcome outcome_of(const Finding &f) {
  if (!f.tested()) return not_tested;
  if (!f.passed) return failed;
  if (f.verdict == Verdict::holds) return holds;
  if (f.verdict == Verdict::holds_under) return under_a_condition;
  if (f.verdict != Verdict::refuted) return in_a_limit;
  switch (f.claim->scope) {
  case Scope::paper:
    return as_asserted;
  case Scope::boundary:
    return at_a_boundary;
  case Scope::typo:
    return typo;
  case Scope::untrained:
    return untrained;
  case Scope::none:
    break;
  }
  return unqualified;
}

/// Counts as a text: "3 needs_training, 2 not_numeric".
std::string tally(const std::map<std::string, int> &counts) {
  std::vector<std::string> parts;
  for (const auto &[name, count] : counts) parts.push_back(std::to_string(count) + " " + name);
  return join(parts, ", ");
}

void print_found(std::ostream &out, const std::vector<Finding> &findings) {
  std::map<Outcome, int> found;
  std::map<std::string, int> reasons, systems;
  for (const Finding &f : findings) {
    ++found[outcome_of(f)];
    ++(f.tested() ? systems[system_of(*f.claim)] : reasons[name_of(f.claim->reason)]);
  }
  for (const auto &[outcome, count] : found)
    out << count << ' ' << outcome_texts[outcome][count != 1]
        << (outcome == not_tested ? " (" + tally(reasons) + ")" : "") << '\n';
  if (!systems.empty()) out << "tested on: " << tally(systems) << '\n';
  out << '\n';
}

} // namespace

std::string outcome_name(const Finding &finding) { return outcome_names[outcome_of(finding)]; }

void print_findings(std::ostream &terminal, const std::vector<Finding> &findings, bool every_point, bool quiet) {
  std::ostringstream out;
  if (!quiet) print_found(out, findings);
  Rows rows{{"id", "measured", "predicted", "std.err", "verdict", "expected", ""}};
  int passed = 0, failed = 0;
  for (const Finding &f : findings) {
    if (!quiet || (f.tested() && !f.passed)) add_rows(rows, f, every_point);
    if (f.tested()) (f.passed ? passed : failed) += 1;
  }
  if (rows.size() > 1) print_table(out, rows);
  out << passed << " passed, " << failed << " failed\n";
  terminal << alarmed(out.str());
}

} // namespace recollect
