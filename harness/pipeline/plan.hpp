// SPDX-License-Identifier: Apache-2.0
// What is to be run, decided before anything runs. Pure.
#pragma once
#include "harness/core/task.hpp"

namespace recollect {

struct RunRequest {
  std::vector<std::string> variants{"all"}, tasks{"all"}; // names or globs
  std::string form = "fast";                              // a form's name, or "fast": the faster at the task's shape
  Real real = Real::f64;
  int chunk = 64;
  Schedule schedule = Schedule::automatic;
  Math math = Math::exact;
  std::uint64_t seed = 1;
  int seeds = 1;          // seeds seed ... seed + seeds - 1
  bool tune = false;      // each layer at the best of its grid (tune.hpp)
  int tuning_seeds = 3;   // of the trials: those after the seeds reported
  std::string experiment; // of a suite: what these cases are for
  /// "name" for every selected variant and task that has it, "owner.name" for one; lists and ranges of values
  /// (sweep.hpp) give every combination.
  Assignments settings;
  std::vector<std::string> shapes; // "d,dv" for every selected task that has them: pairs, each with all of `settings`
  int warmup = 0, repetitions = 1;
  double state_bytes =
      0; // of a head: each layer has the largest widths whose state fits (state_budget.hpp); 0: no limit
};

/// Where a case's free parameters come from:
///   fixed    nothing is free, or the user set it all
///   untuned  something is free and stands at its default
///   trial    a value of the grid, on a tuning seed
///   tuned    the best of its group's trials, filled in when they are done
enum class Setting { fixed, untuned, trial, tuned };
inline const char *name_of(Setting setting) {
  const char *const names[] = {"fixed", "untuned", "trial", "tuned"};
  return names[int(setting)];
}

struct Case {
  int index = 0;
  int group = 0; // trials and the cases that wait for them share one; they run in order, in one process
  Setting setting = Setting::fixed;
  std::string experiment;
  const Variant *variant = nullptr;
  const Form *form = nullptr;
  const Task *task = nullptr;
  Params variant_params, task_params;
  Real real = Real::f64;
  int chunk = 64;
  Schedule schedule = Schedule::automatic;
  Math math = Math::exact;
  std::uint64_t seed = 1;
  double state_limit = 0; // bytes of state that a head may have; 0: any
};

/// Every selected variant on every selected task. Usage error for unknown names, parameters and values.
std::vector<Case> make_plan(const RunRequest &request);
/// One after the other.
std::vector<Case> make_joint_plan(const std::vector<RunRequest> &requests);

/// The settings meant for a layer, by their own names.
Assignments settings_for(const Variant &variant, const Assignments &settings);
/// Every setting must reach somebody: a usage error for the first that does not.
void refuse_unused(const Assignments &settings, const std::vector<const Variant *> &variants,
                   const std::vector<const Task *> &tasks);

/// Cases that run in order, in one process.
using Group = std::vector<const Case *>;
/// In the order of the plan, which must outlive them.
std::vector<Group> groups_of(const std::vector<Case> &plan);

/// Operations of a layer's definition on a shape.
double work_of(const Variant &variant, const Shape &shape, const Params &params);
/// That of each group's cases; nothing where the task makes no input.
std::vector<double> work_of(const std::vector<Group> &groups);
/// Places of `work`, the most first: in that order processes which share it begin, so that they end together.
std::vector<size_t> longest_first(const std::vector<double> &work);

} // namespace recollect
