// SPDX-License-Identifier: Apache-2.0
// What changed between two results files, and which changes are for the worse.
#pragma once
#include "harness/files/results.hpp"

namespace recollect {

struct Change {
  std::string kind; // "verdict" | "status" | "metric" | "time" | "gone" | "new"
  std::string what; // name of the claim, case or metric
  std::string before, after;
  bool worse = false; // whether the change is for the worse, by the rules of diff()
};

struct Difference {
  std::vector<Change> changes;
  size_t compared = 0; // number of claims, cases, metrics and times that are in both files
  bool worse() const;
};

/// The changes, and when they are for the worse:
///   claims    the verdict changed, or the claim passes in one file only: worse, unless it failed before and passes now
///   cases     the status changed: worse if it is now `failed`. Trials of --tune are ignored
///   metrics   the means over seeds differ by more than 6.47 standard errors (none with one seed) plus the fraction
///             `resolution` of the sum of their absolute values: worse. A larger `resolution` tolerates single reads
///             that change on another machine
///   times     the medians differ by more than 10%, and their bootstrap intervals do not overlap: worse if slower
/// A claim or case that is gone is worse; a new one is worse if it failed.
Difference diff(const Results &before, const Results &after, double resolution = 1e-6);

std::string as_text(const Difference &difference);
std::string as_markdown(const Difference &difference);

} // namespace recollect
