// SPDX-License-Identifier: Apache-2.0
// The table of criteria: how many planted mistakes, and how many correct kernels, each criterion refuses.
#pragma once
#include "harness/check/precision.hpp"
#include "harness/core/variant.hpp"
#include <iosfwd>

namespace recollect {

struct PlantOptions {
  std::vector<const Variant *> layers;
  std::vector<Precision> precisions;
  size_t ways = 1; // of each mistake
};

/// Writes CSV, one row per type and mistake: how many mistakes were planted whose effect is at least 1.5 times our
/// limits; how many of these are refused by our criterion and by each of the other criteria; how many the diagnosis
/// names. Correct kernels have separate rows. `log` gets the mistakes that were not refused or not named, and each
/// layer's totals. Returns whether in every type 98% of the planted mistakes are refused and 85% are named, and no
/// correct kernel is refused.
bool plant_table(const PlantOptions &options, std::ostream &csv, std::ostream &log);

} // namespace recollect
