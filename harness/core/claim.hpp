// SPDX-License-Identifier: Apache-2.0
// The type that files of theory/ return: a statement of a paper, and how it is measured.
#pragma once
#include "harness/core/reading.hpp"
#include "harness/core/types.hpp"
#include <functional>
#include <optional>

namespace recollect {

/// holds_under: true under the condition that the claim names, false without it. holds_asymptotically: wrong at every
/// finite size, by an error that follows a measured law and vanishes in a limit.
enum class Verdict { holds, holds_asymptotically, refuted, not_tested, inconclusive, holds_under };
/// Why a statement is not tested.
enum class Reason { none, under_specified, not_numeric, needs_training, needs_gpu };
enum class Effort { quick, full };

/// The role of a point: what its measurement is compared with, and what follows from the comparison:
///   statement   the paper's sentence; decides the verdict
///   limit       the law of the statement's error; decides whether the statement holds asymptotically
///   condition   the statement under the condition that the claim names; decides whether the verdict is holds_under
///   obligation  the exact form, the correction, or a premise; must hold, whatever the verdict is
///   rival       a similar statement or system that is wrong; must be refuted
enum class Role { statement, limit, obligation, rival, condition };
/// A rival law predicts another value for the same measurement. A rival system is another system, which is measured
/// too.
enum class RivalKind { none, law, system };

const char *name_of(Verdict);
const char *name_of(Scope);
const char *name_of(Reason);
const char *name_of(Role);
const char *name_of(RivalKind);

/// How a claim is to be measured: its effort, seeds and points.
struct Protocol {
  Effort effort = Effort::quick;
  std::uint64_t seed = 1;
  std::optional<Params> point; // parameters from the user, which replace the suite's points
  bool full() const { return effort == Effort::full; }
};

/// One measurement, made by the functions of verdict.hpp.
struct Point {
  SPECIAL_MEMBERS(Point);
  Role role = Role::obligation;
  RivalKind rival = RivalKind::none;
  std::string label; // for readers only; formulas are marked $x_t$, as in the texts of a Claim
  Params params;
  double measured = 0, predicted = 0;
  double standard_error = 0; // standard error of `measured`; 0 for exact algebra
  double tolerance = 0;      // largest |measured - predicted| that passes; derived from standard_error and rounding
  enum Relation { equal, at_most, at_least } relation = equal;
  Verdict verdict = Verdict::inconclusive;
};
const char *name_of(Point::Relation);

struct Claim {
  SPECIAL_MEMBERS(Claim);
  std::string id;          // as in the ledger, with every '-' replaced by '_'
  std::string file;        // the file that defines the claim, "theory/PAPER/STEM.cpp"; set by the registry
  std::string source;      // "000 Eq 7, App A"
  std::string statement;   // a fair paraphrase, with every condition that the paper states
  std::string exact;       // the exact form, the condition, or the corrected statement
  std::string explanation; // why the claim has this verdict, and what the paper meant if that is evident
  Verdict expected = Verdict::holds;
  Scope scope = Scope::none;       // set for a refuted claim: scope_of(reading)
  Reading reading;                 // what was read in the paper before the claim was called refuted
  std::string condition;           // set for holds_under: the condition
  Reason reason = Reason::none;    // set for not_tested
  std::vector<std::string> covers; // ledger rows that this claim measures; may be none
  std::vector<std::string> tasks;
  std::vector<std::string> variants; // layers that `measure` runs; empty if it computes with matrices only
  Effort suite = Effort::quick;      // the smallest suite that contains the claim
  std::vector<ParamSpec> params;     // what --point accepts
  /// Returns every point, rivals included. Null for claims that are not tested. Usage error if the statement does not
  /// apply at the user's own point (Protocol::point).
  std::function<std::vector<Point>(const Protocol &)> measure;
};
/// "layer" if the claim runs layers of the registry, "algebra" if it is about matrices only.
const char *system_of(const Claim &);
/// The scope of a refutation, the reason why the claim is not tested, or the condition under which it holds, without
/// the marks of formulas. "" if the expected verdict has none of these.
std::string qualifier(const Claim &);
/// The verdict, with the claim's qualifier if it is the expected verdict: "refuted (paper)", "holds_under (unit keys)",
/// "holds".
std::string qualified(Verdict, const Claim &);

} // namespace recollect
