// SPDX-License-Identifier: Apache-2.0
// Output for users: tables on the terminal, JSON and JUnit files.
#pragma once
#include "harness/bench/bench.hpp"
#include "harness/files/results.hpp"
#include "harness/numerics/verdict.hpp"
#include "harness/run/compare.hpp"
#include "harness/run/provenance.hpp"
#include <iosfwd>

namespace recollect {

void print_variants(std::ostream &out, const std::vector<const Variant *> &list);
void print_tasks(std::ostream &out, const std::vector<const Task *> &list);
void print_claims(std::ostream &out, const std::vector<const Claim *> &list);
void print_plan(std::ostream &out, const std::vector<Case> &plan);
void print_variants_json(std::ostream &out, const std::vector<const Variant *> &list);
void print_tasks_json(std::ostream &out, const std::vector<const Task *> &list);
void print_claims_json(std::ostream &out, const std::vector<const Claim *> &list);
void print_plan_json(std::ostream &out, const std::vector<Case> &plan);
/// Everything about one entry: rule, source, inputs, parameters with defaults.
void describe(std::ostream &out, const Variant &variant);
void describe(std::ostream &out, const Task &task);
void describe(std::ostream &out, const Claim &claim);

/// A claim in full, and its finding if it was measured; `meta` names the program for the citation.
void explain(std::ostream &out, const Claim &claim, const Finding *finding, const Facts &meta);
/// Lists the claims that run a variant.
void explain_claims(std::ostream &out, const Variant &variant);

/// One line per case: what ran, its metrics, its time.
void print_record(std::ostream &out, const Case &c, const Record &record);
/// A table per task: every layer at every swept value, with mean and standard error of each metric, next to chance and
/// ceiling. `metrics`: names of metrics, or "all"; if empty, the headline. A table of untuned layers says that they are
/// untuned.
void print_cells(std::ostream &out, const std::vector<Ensemble> &all, const std::vector<std::string> &metrics = {});
/// Says why cases were left out, and the remarks on cases: each reason once, with its layers. Failures have separate
/// lines.
void print_remarks(std::ostream &out, const Results &results);
/// For every pair of these layers on every task: paired difference, interval, p and q.
void print_comparisons(std::ostream &out, const std::vector<Ensemble> &all, const std::vector<std::string> &layers,
                       const std::vector<std::string> &metrics = {});
/// Layers whose state takes at most `bytes`, the best first, then the comparisons of their pairs.
void print_ranking(std::ostream &out, const std::vector<Ensemble> &all, double bytes, bool every_pair);
void print_facts(std::ostream &out, const Facts &facts);
void print_facts_json(std::ostream &out, const Facts &facts);

/// One line per case: median with its interval, noise and discarded samples, tokens per second, and the limit
/// (BenchResult::limit) as a fraction of the median. For a peer also its time over `ours`, the median seconds of the
/// form timed in turn with it.
void print_bench(std::ostream &out, const BenchResult &result, double ours);
void print_ceilings(std::ostream &out, const Ceilings &ceilings);
void print_growth(std::ostream &out, const std::vector<Growth> &fits);

/// id, measured, predicted, standard error, verdict, expected: one row per claim (its decisive point), or one per
/// point. Failing points are always shown, the worst in the claim's row. Last line: "N passed, M failed". `quiet`: only
/// failures and the last line.
void print_findings(std::ostream &out, const std::vector<Finding> &findings, bool every_point, bool quiet = false);
/// A table per claim and law of the measurements at the user's points, with the smallest relative error that each
/// detects.
void print_sweep(std::ostream &out, const std::vector<Finding> &findings);
/// The outcome of a finding: "holds", "holds_asymptotically", "not_tested" or "failed". For a refutation, the outcome
/// is the scope: "refuted" (the paper asserts it), "boundary", "typo" or "untrained". The report's pages use the same
/// names.
std::string outcome_name(const Finding &finding);
std::string findings_json(const std::vector<Finding> &findings);
std::string findings_junit(const std::vector<Finding> &findings);

} // namespace recollect
