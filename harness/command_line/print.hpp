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
/// Prints everything about one entry: rule, source, inputs, parameters with defaults.
void describe(std::ostream &out, const Variant &variant);
void describe(std::ostream &out, const Task &task);
void describe(std::ostream &out, const Claim &claim);

/// Prints a claim in full, and its finding if it was measured. `meta` has the version and commit for the citation.
void explain(std::ostream &out, const Claim &claim, const Finding *finding, const Facts &meta);
/// Lists the claims whose measurements run the variant.
void explain_claims(std::ostream &out, const Variant &variant);

/// One line per case: what ran, its metrics, its time.
void print_record(std::ostream &out, const Case &c, const Record &record);
/// Prints a table per task. A row is one layer at one swept value, with mean and standard error of each metric. The
/// heading has chance and ceiling, and says so if layers are untuned. `metrics` has names of metrics or "all"; if it is
/// empty, the headline metric is shown.
void print_cells(std::ostream &out, const std::vector<Ensemble> &all, const std::vector<std::string> &metrics = {});
/// Prints why cases were skipped, and the remarks on cases: each text once, with the layers that it concerns. Failed
/// cases are not included; print_record() prints them.
void print_remarks(std::ostream &out, const Results &results);
/// Compares every two of these layers on every task, over the seeds that they share: difference, its interval, p and q.
void print_comparisons(std::ostream &out, const std::vector<Ensemble> &all, const std::vector<std::string> &layers,
                       const std::vector<std::string> &metrics = {});
/// For --state-bytes: ranks the layers, whose states take at most `bytes`, the best first. Then compares the best layer
/// with each other layer, or with `every_pair` every two layers.
void print_ranking(std::ostream &out, const std::vector<Ensemble> &all, double bytes, bool every_pair);
void print_facts(std::ostream &out, const Facts &facts);
void print_facts_json(std::ostream &out, const Facts &facts);

/// One line per case: median with its interval, noise and discarded samples, tokens per second, and the lower limit of
/// the time (BenchResult::limit) as a fraction of the median. For a peer also the ratio of its time to `ours`, the
/// median of our form that was timed in alternation with it.
void print_bench(std::ostream &out, const BenchResult &result, double ours);
void print_ceilings(std::ostream &out, const Ceilings &ceilings);
void print_growth(std::ostream &out, const std::vector<Growth> &fits);

/// A table with the columns id, measured, predicted, standard error, verdict and expected. It has one row per claim,
/// which shows the claim's decisive point, or with `every_point` a row per point. Failing points always have rows, and
/// the worst of them is in the claim's row. The last line is "N passed, M failed". With `quiet`, only failures and the
/// last line are printed.
void print_findings(std::ostream &out, const std::vector<Finding> &findings, bool every_point, bool quiet = false);
/// For --point: the measurements at the user's points, with the smallest relative error that each measurement detects.
/// There is one table for each claim and each label of its points.
void print_sweep(std::ostream &out, const std::vector<Finding> &findings);
/// The outcome of a finding: "holds", "holds_under", "holds_asymptotically", "not_tested" or "failed". For a
/// refutation, the outcome is its scope: "refuted" (the paper asserts what is refuted), "boundary", "typo" or
/// "untrained". The pages of the report use the same names.
std::string outcome_name(const Finding &finding);
std::string findings_json(const std::vector<Finding> &findings);
std::string findings_junit(const std::vector<Finding> &findings);

} // namespace recollect
