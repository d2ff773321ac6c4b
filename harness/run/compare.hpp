// SPDX-License-Identifier: Apache-2.0
// Ranks the layers of a run and compares them in pairs, with intervals and p-values.
#pragma once
#include "harness/numerics/paired.hpp"
#include "harness/run/ensembles.hpp"

namespace recollect {

/// Groups the ensembles: all ensembles of a group have the same experiment, the same task and the same task parameters,
/// except for the parameters named in `except`.
using EnsembleList = std::vector<const Ensemble *>;
std::vector<EnsembleList> under_same_conditions(const std::vector<Ensemble> &all,
                                                const std::vector<std::string> &except = {});

/// The ensembles sorted by the mean of the headline, best first; means that are not finite come last.
EnsembleList ranked(EnsembleList layers);

struct ComparedPair {
  const Ensemble *first, *second;
  size_t seeds;           // number of seeds that both layers have
  PairedComparison found; // of the differences first - second; NaN without a shared seed
  double q;               // p adjusted for the number of pairs compared (false_discovery.hpp); NaN if p is NaN
};
/// Compares each pair of layers over the seeds that both layers have.
std::vector<ComparedPair> compare(const std::vector<std::pair<const Ensemble *, const Ensemble *>> &pairs,
                                  const std::string &metric);

/// Every pair of `layers` once, in their order. With `of_best`, only the pairs that contain the first layer.
std::vector<std::pair<const Ensemble *, const Ensemble *>> pairs_of(const EnsembleList &layers, bool of_best);

} // namespace recollect
