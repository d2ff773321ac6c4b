// SPDX-License-Identifier: Apache-2.0
// What is to be run, decided before anything runs. Pure.
#pragma once
#include "harness/core/task.hpp"

namespace recollect {

struct RunRequest {
  std::vector<std::string> variants{"all"}, tasks{"all"}; // names or globs
  std::string form = "fast";                              // a form's name, or "fast": the first that is not recurrent
  Real real = Real::f64;
  int chunk = 64;
  Schedule schedule = Schedule::automatic;
  Math math = Math::exact;
  std::uint64_t seed = 1;
  int seeds = 1; // seeds seed ... seed + seeds - 1
  /// "name" for every selected variant and task that has it, "owner.name" for one; lists and ranges of values
  /// (sweep.hpp) give every combination.
  Assignments settings;
  int warmup = 0, repetitions = 1;
};

struct Case {
  int index = 0;
  const Variant *variant = nullptr;
  const Form *form = nullptr;
  const Task *task = nullptr;
  Params variant_params, task_params;
  Real real = Real::f64;
  int chunk = 64;
  Schedule schedule = Schedule::automatic;
  Math math = Math::exact;
  std::uint64_t seed = 1;
};

/// Every selected variant on every selected task. Usage error for unknown names, parameters and values.
std::vector<Case> make_plan(const RunRequest &request);

} // namespace recollect
