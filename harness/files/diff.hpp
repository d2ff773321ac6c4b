// SPDX-License-Identifier: Apache-2.0
// What changed between two results files, and which changes are for the worse.
#pragma once
#include "harness/files/results.hpp"

namespace recollect {

struct Change {
  std::string kind; // "verdict" | "status" | "metric" | "time" | "gone" | "new"
  std::string what; // name of the claim, case or metric
  std::string before, after;
  bool worse = false; // whether the change is for the worse, as diff() defines below
};

struct Difference {
  std::vector<Change> changes;
  size_t compared = 0; // claims, cases, metrics and times in both files
  bool worse() const;
};

/// Claims: verdicts that changed, and claims that passed in one file only; a claim that is gone is a change for the
/// worse. Cases: a changed status. Metrics: means over seeds that differ by more than 6.47 standard errors; with one
/// seed by more than 1e-6 or the fraction `resolution` of their sum, because on another machine a single read may
/// change. Any such change counts as worse. Trials of --tune are ignored. Times: medians that differ by 10% and whose
/// bootstrap intervals do not overlap; slower is worse.
Difference diff(const Results &before, const Results &after, double resolution = 1e-6);

std::string as_text(const Difference &difference);
std::string as_markdown(const Difference &difference);

} // namespace recollect
