// SPDX-License-Identifier: Apache-2.0
// Groups the cases of a run.
#pragma once
#include "harness/files/results.hpp"

namespace recollect {

/// The cases of a run that differ only in their seed. Tuning trials are left out.
struct Ensemble {
  std::string experiment, task, variant, form, real;
  std::string headline;                                   // the task's first metric
  std::string setting, chosen;                            // "tuned", "beta=0.5"
  std::map<std::string, std::string> of_task, of_variant; // name -> value as text, as planned
  double chance = 0, ceiling = 0;                         // chance and ceiling of the headline; NaN if unknown
  double state_bytes = 0;                                 // per head
  bool larger_is_better = false;                          // of the headline
  /// Metric -> seed -> value. NaN and Inf are values.
  std::map<std::string, std::map<std::uint64_t, double>> values;
};

/// A metric's values in order of the seed; empty if the ensemble lacks the metric.
std::vector<double> values_of(const Ensemble &ensemble, const std::string &metric);

/// The ensembles of a run in the order of its plan. Ensembles without a result are left out.
std::vector<Ensemble> ensembles_of(const Results &results);

/// The values of two ensembles in one metric for the seeds that both have, in order of the seed.
struct SharedSeeds {
  std::vector<double> first, second;
};
SharedSeeds shared_seeds(const Ensemble &first, const Ensemble &second, const std::string &metric);

/// Parameters with more than one value: of a task within its experiment, of a layer within its task.
class Swept {
public:
  explicit Swept(const std::vector<Ensemble> &all);
  /// Name -> value in `one`, for swept parameters only.
  std::map<std::string, std::string> of_task(const Ensemble &one) const;
  std::map<std::string, std::string> of_variant(const Ensemble &one) const;

private:
  /// (experiment, task, variant or "", name) -> the parameter's values
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::set<std::string>> values_;
  std::map<std::string, std::string> several(const Ensemble &one, const std::string &variant,
                                             const std::map<std::string, std::string> &mine) const;
};

} // namespace recollect
