// SPDX-License-Identifier: Apache-2.0
// Tuning chooses the free parameters of a layer, such as a temperature, a ridge or a constant gate, from the small
// grids in the descriptors. It uses other seeds than the reported results.
#pragma once
#include "harness/run/plan.hpp"

namespace recollect {

/// A parameter that the user left open, and the values to try: its default, then its grid.
struct Free {
  bool of_task = false; // true: a gate, which the task sets for the layer
  std::string name;
  double fallback = 0; // the default; NaN if it is a formula
  std::vector<double> grid;
};

/// The free parameters of a layer on a task: those of the layer that have a grid, and the task's constant gates that
/// the layer reads. If the layer reads both alpha and lambda, only alpha is free, because only their product matters.
/// There are no free parameters if neither larger nor smaller values of the task's headline are better.
std::vector<Free> free_parameters(const Variant &variant, const Task &task, const Assignments &of_variant,
                                  const Assignments &of_task);

/// Copies of `c`, one for every combination of values of the free parameters. The first has the defaults.
std::vector<Case> trials(const Case &c, const std::vector<Free> &free);

/// The results of the trials that a run has finished so far.
class Trials {
public:
  /// `headlines`: case index -> headline, for the cases that an interrupted run recorded.
  Trials(const std::vector<Case> &plan, const std::map<int, double> &headlines);
  /// Adds the headline of a finished trial.
  void add(const Case &trial, double headline);
  /// The case `c` with the parameters whose trials have the best mean headline, and the choice of these parameters. Of
  /// equal means, the one tried first is best. If no trial has a headline, the defaults are chosen.
  std::pair<Case, Choice> settled(const Case &c) const;

private:
  struct Candidate {
    const Case *first;
    std::string params; // the parameters of layer and task, as text
    std::vector<double> headlines;
  };
  std::map<int, std::vector<Candidate>> groups_;
};

} // namespace recollect
