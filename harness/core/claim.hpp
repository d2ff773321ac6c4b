// SPDX-License-Identifier: Apache-2.0
// What the files of theory/ return: statements of the papers, each beside the way it is measured.
#pragma once
#include "harness/core/reading.hpp"
#include "harness/core/types.hpp"
#include <functional>
#include <optional>

namespace recollect {

/// holds_under: true under the condition that the claim names, and not without it. holds_asymptotically: misses at a
/// finite size, by an error whose law is measured and goes to zero in a limit.
enum class Verdict { holds, holds_asymptotically, refuted, not_tested, inconclusive, holds_under };
/// Why a statement is not tested.
enum class Reason { none, under_specified, not_numeric, needs_training, needs_gpu };
enum class Effort { quick, full };

/// What a point is held against:
///   statement   the sentence as the paper makes it: decides the verdict
///   limit       the error of the statement against its limit: what "asymptotically" rests on
///   condition   the statement under the condition that the claim names: what "under" rests on
///   obligation  the exact form, the correction, a premise: must hold whatever the verdict
///   rival       a nearby statement or system that is wrong: must come out refuted
enum class Role { statement, limit, obligation, rival, condition };
/// A rival law predicts something else for the same measurement; a rival system is another system, measured anew.
enum class RivalKind { none, law, system };

const char *name_of(Verdict);
const char *name_of(Scope);
const char *name_of(Reason);
const char *name_of(Role);
const char *name_of(RivalKind);

/// How a claim is to be measured.
struct Protocol {
  Effort effort = Effort::quick;
  std::uint64_t seed = 1;
  std::optional<Params> point; // the user's own parameters, in place of the suite's points
  bool full() const { return effort == Effort::full; }
};

/// One measurement, made by the functions of verdict.hpp.
struct Point {
  Role role = Role::obligation;
  RivalKind rival = RivalKind::none;
  std::string label; // for people; no code reads it
  Params params;
  double measured = 0, predicted = 0;
  double standard_error = 0; // of `measured`; 0 for exact algebra
  double tolerance = 0;      // |measured - predicted| allowed, derived from standard_error and round-off
  enum Relation { equal, at_most, at_least } relation = equal;
  Verdict verdict = Verdict::inconclusive;
};
const char *name_of(Point::Relation);

struct Claim {
  std::string id;          // as in the ledger, with '_'
  std::string file;        // "theory/PAPER/STEM.cpp", that defines it; set by the registry
  std::string source;      // "000 Eq 7, App A"
  std::string statement;   // a fair paraphrase, with every condition that the paper states
  std::string exact;       // the exact form, the condition, or the corrected statement
  std::string explanation; // why the verdict is what it is, and what the paper meant where that is plain
  Verdict expected = Verdict::holds;
  Scope scope = Scope::none;       // of a refutation: scope_of(reading)
  Reading reading;                 // of the paper, before it was called refuted
  std::string condition;           // of a claim that holds under one
  Reason reason = Reason::none;    // of a claim that is not tested
  std::vector<std::string> covers; // ledger rows measured here; may be none
  std::vector<std::string> tasks;
  std::vector<std::string> variants; // the layers that `measure` runs; none: algebra on matrices
  Effort suite = Effort::quick;      // the smallest suite that carries it
  std::vector<ParamSpec> params;     // what --point accepts
  /// Every point, rivals among them; null exactly for claims that are not tested. Usage error where the statement does
  /// not apply at the protocol's point.
  std::function<std::vector<Point>(const Protocol &)> measure;
};
/// "layer" where the claim runs layers of the registry, "algebra" where it is about matrices alone.
const char *system_of(const Claim &);
/// What the expected verdict says beyond its name: the scope of a refutation, the reason for not testing, the condition;
/// or "".
std::string qualifier(const Claim &);
/// "refuted (paper)", "holds_under (unit keys)", "holds": a verdict with what the claim says beyond it.
std::string qualified(Verdict, const Claim &);

} // namespace recollect
