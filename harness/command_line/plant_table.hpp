// SPDX-License-Identifier: Apache-2.0
// The table of criteria: how many kernels with a planted mistake, and how many correct kernels, each criterion refuses.
#pragma once
#include "harness/check/precision.hpp"
#include "harness/core/variant.hpp"
#include <iosfwd>

namespace recollect {

struct PlantOptions {
  std::vector<const Variant *> layers;
  std::vector<Precision> precisions;
  size_t ways = 1; // number of ways in which each mistake is made, at most
};

/// Plants the mistakes and writes CSV. A row is for one type and one mistake. It says how many kernels with the mistake
/// were checked, how many of them judge() and each criterion of other projects refuse, and how many the diagnosis
/// names. Only mistakes whose effect is at least 1.5 times our limits count. Correct kernels have separate rows. `log`
/// gets the mistakes that were not refused or not named, and the totals of each layer. Returns true if, in every type,
/// 98% of the kernels with a mistake are refused, 85% are named, and no correct kernel is refused.
bool plant_table(const PlantOptions &options, std::ostream &csv, std::ostream &log);

} // namespace recollect
