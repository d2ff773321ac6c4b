// SPDX-License-Identifier: Apache-2.0
// Groups the cases of a run that differ only in their seed.
#pragma once
#include "harness/files/results.hpp"

namespace recollect {

/// The cases of a run that differ only in their seed. Tuning trials are left out.
struct Ensemble {
  std::string experiment, task, variant, form, real;
  std::string headline;                                   // the task's first metric
  std::string setting, chosen;                            // for example "tuned" and "beta=0.5"
  std::map<std::string, std::string> of_task, of_variant; // name of a parameter -> its planned value, as text
  double chance = 0, ceiling = 0;                         // chance and ceiling of the headline; NaN if unknown
  double state_bytes = 0;                                 // size of the state of one head
  bool larger_is_better = false;                          // whether a larger headline is better
  /// Metric -> seed -> value, which may be NaN or Inf.
  std::map<std::string, std::map<std::uint64_t, double>> values;
};

/// A metric's values in order of the seed; empty if the ensemble lacks the metric.
std::vector<double> values_of(const Ensemble &ensemble, const std::string &metric);

/// The ensembles of a run in the order of its plan. Ensembles without a result are left out.
std::vector<Ensemble> ensembles_of(const Results &results);

/// The values of one metric in two ensembles, for the seeds that both ensembles have, in order of the seed.
struct SharedSeeds {
  std::vector<double> first, second;
};
SharedSeeds shared_seeds(const Ensemble &first, const Ensemble &second, const std::string &metric);

/// Finds the parameters that take more than one value. Task parameters are compared among all ensembles of the same
/// experiment and task, layer parameters among all ensembles of the same experiment, task and layer.
class Swept {
public:
  explicit Swept(const std::vector<Ensemble> &all);
  /// The parameters of `one` that take more than one value: name -> value.
  std::map<std::string, std::string> of_task(const Ensemble &one) const;
  std::map<std::string, std::string> of_variant(const Ensemble &one) const;

private:
  /// (experiment, task, variant, name of a parameter) -> the parameter's values; variant is "" for task parameters.
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::set<std::string>> values_;
  std::map<std::string, std::string> several(const Ensemble &one, const std::string &variant,
                                             const std::map<std::string, std::string> &mine) const;
};

} // namespace recollect
