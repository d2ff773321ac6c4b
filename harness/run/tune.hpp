// SPDX-License-Identifier: Apache-2.0
// Tuning: free parameters of a layer (temperature, ridge, gates as constants) are chosen from the small grids that the
// descriptors carry, on separate seeds. Reported results come from other seeds.
#pragma once
#include "harness/run/plan.hpp"

namespace recollect {

/// A parameter that the user left open, and what to try: its default, then its grid.
struct Free {
  bool of_task = false; // a gate, which the task sets for the layer
  std::string name;
  double fallback = 0; // the default; NaN where it is a formula
  std::vector<double> grid;
};

/// Free in this cell: parameters of the variant with a grid, and of the task's constant gates those that the variant
/// reads. Where it reads lambda, alpha stays 1: constants matter only by their product. None where the task's headline
/// has no better end.
std::vector<Free> free_parameters(const Variant &variant, const Task &task, const Assignments &of_variant,
                                  const Assignments &of_task);

/// `c` at every combination of what is free, the defaults first.
std::vector<Case> trials(const Case &c, const std::vector<Free> &free);

/// What the trials of a run have come to so far.
class Trials {
public:
  /// `headlines`: of the cases that an interrupted run left, by index.
  Trials(const std::vector<Case> &plan, const std::map<int, double> &headlines);
  /// The headline of a trial that was run.
  void add(const Case &trial, double headline);
  /// A tuned case with the parameters whose trials had the best mean (of equals, the first tried), and what they are.
  /// Defaults where no trial has a headline.
  std::pair<Case, Choice> settled(const Case &c) const;

private:
  struct Candidate {
    const Case *first;
    std::vector<double> headlines;
  };
  std::map<int, std::vector<Candidate>> groups_;
};

} // namespace recollect
