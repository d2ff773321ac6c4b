// SPDX-License-Identifier: Apache-2.0
// Tuning: free parameters of a layer (temperature, ridge, gates as constants) are chosen from the small grids that the
// descriptors carry, on separate seeds. Reported results come from other seeds.
#pragma once
#include "harness/run/plan.hpp"

namespace recollect {

/// A parameter that the user left open, and the values to try: its default, then its grid.
struct Free {
  bool of_task = false; // a gate, which the task sets for the layer
  std::string name;
  double fallback = 0; // the default; NaN if it is a formula
  std::vector<double> grid;
};

/// The free parameters of a layer on a task: the layer's parameters with a grid, and the task's constant gates that the
/// layer reads. If the layer reads both alpha and lambda, only alpha is free, because only their product matters. Empty
/// if the task's headline is better neither when larger nor when smaller.
std::vector<Free> free_parameters(const Variant &variant, const Task &task, const Assignments &of_variant,
                                  const Assignments &of_task);

/// `c` with every combination of the free parameters, the defaults first.
std::vector<Case> trials(const Case &c, const std::vector<Free> &free);

/// Results of a run's trials so far.
class Trials {
public:
  /// `headlines`: case index -> headline, for the cases that an interrupted run recorded.
  Trials(const std::vector<Case> &plan, const std::map<int, double> &headlines);
  /// Adds the headline of a finished trial.
  void add(const Case &trial, double headline);
  /// The tuned case with the parameters whose trials have the best mean (of equal means, the first tried), and these
  /// parameters. The defaults if no trial has a headline.
  std::pair<Case, Choice> settled(const Case &c) const;

private:
  struct Candidate {
    const Case *first;
    std::string params; // of layer and task
    std::vector<double> headlines;
  };
  std::map<int, std::vector<Candidate>> groups_;
};

} // namespace recollect
