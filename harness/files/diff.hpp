// SPDX-License-Identifier: Apache-2.0
// What changed between two results files, and what of it is worse.
#pragma once
#include "harness/files/results.hpp"

namespace recollect {

struct Change {
  std::string kind; // "verdict" | "status" | "metric" | "time" | "gone" | "new"
  std::string what; // the claim, the case, the metric
  std::string before, after;
  bool worse = false; // fails a gate
};

struct Difference {
  std::vector<Change> changes;
  size_t compared = 0; // claims, cases, metrics and times that both files have
  bool worse() const;
};

/// Claims: a verdict or a pass that changed; one that is gone is worse. Cases: a status that changed. Metrics: means over
/// seeds that differ by more than their standard errors allow (6.47 of them), or where there is one seed by more than
/// rounding (1e-6, or `resolution` of their sum: where other machines round otherwise, a single read may come out
/// otherwise); any such change is worse, since nobody asked for it. Trials of --tune are left out. Times: medians whose bootstrap intervals do not
/// overlap and which differ by 10%; slower is worse.
Difference diff(const Results &before, const Results &after, double resolution = 1e-6);

std::string as_text(const Difference &difference);
std::string as_markdown(const Difference &difference);

} // namespace recollect
