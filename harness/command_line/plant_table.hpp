// SPDX-License-Identifier: Apache-2.0
// The table of criteria: how many planted mistakes of the catalogue each refuses, and how many right kernels.
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

/// CSV, a row a type and mistake: how many were planted that show (1.5 times our limits or more), how many of them ours and
/// each criterion in use refuses, how many are named; "right kernels" are rows of their own. What is missed or not named is
/// told on `log`, with the totals of each layer. Whether 98% are refused, 85% named, and no right kernel is.
bool plant_table(const PlantOptions &options, std::ostream &csv, std::ostream &log);

} // namespace recollect
