// SPDX-License-Identifier: Apache-2.0
// Which of a run's layers is better, and how sure that is.
#pragma once
#include "harness/numerics/paired.hpp"
#include "harness/run/ensembles.hpp"

namespace recollect {

/// Ensembles of one experiment and task whose task parameters are equal, those named in `except` left out.
using EnsembleList = std::vector<const Ensemble *>;
std::vector<EnsembleList> under_same_conditions(const std::vector<Ensemble> &all,
                                                const std::vector<std::string> &except = {});

/// By the mean of the headline, the best first; those with a mean that is not finite last.
EnsembleList ranked(EnsembleList layers);

struct ComparedPair {
  const Ensemble *first, *second;
  size_t seeds;           // that both have
  PairedComparison found; // first - second; NaN without a shared seed
  double q;               // p adjusted for the pairs compared here (false_discovery.hpp); NaN where p is
};
/// Each pair over the seeds that both have.
std::vector<ComparedPair> compare(const std::vector<std::pair<const Ensemble *, const Ensemble *>> &pairs,
                                  const std::string &metric);

/// Every pair, each once, the earlier first; or, `of_best`, the first with each of the others.
std::vector<std::pair<const Ensemble *, const Ensemble *>> pairs_of(const EnsembleList &layers, bool of_best);

} // namespace recollect
