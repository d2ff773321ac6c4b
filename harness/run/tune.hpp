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

/// The free parameters of this cell: the variant's parameters with a grid, and the task's constant gates that the
/// variant reads. For a variant that reads both lambda and alpha, alpha stays 1, since only the product of the two
/// constants matters. None if the task's headline has no better direction.
std::vector<Free> free_parameters(const Variant &variant, const Task &task, const Assignments &of_variant,
                                  const Assignments &of_task);

/// `c` with every combination of the free parameters, the defaults first.
std::vector<Case> trials(const Case &c, const std::vector<Free> &free);

/// Results of a run's trials so far.
class Trials {
public:
  /// `headlines`: by index, of cases that an interrupted run recorded.
  Trials(const std::vector<Case> &plan, const std::map<int, double> &headlines);
  /// Adds the headline of a finished trial.
  void add(const Case &trial, double headline);
  /// A tuned case with the parameters of the best mean over trials (the first tried, if equal), and these parameters.
  /// The defaults if no trial has a headline.
  std::pair<Case, Choice> settled(const Case &c) const;

private:
  struct Candidate {
    const Case *first;
    std::vector<double> headlines;
  };
  std::map<int, std::vector<Candidate>> groups_;
};

} // namespace recollect
