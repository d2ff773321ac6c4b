// SPDX-License-Identifier: Apache-2.0
// A user's request, a case (one layer on one task with one seed), and the result of a case. The plan makes cases from
// requests, and the run makes results from cases.
#pragma once
#include "harness/core/execution_options.hpp"
#include "harness/core/task.hpp"

namespace recollect {

struct RunRequest : ExecutionOptions {
  std::vector<std::string> variants{"all"}, tasks{"all"}; // names or globs
  std::string form = "fast";                              // a form's name; "fast": the fastest one at the task's shape
  std::uint64_t seed = 1;
  int seeds = 1;          // number of seeds: seed, seed + 1, ...
  bool tune = false;      // run each layer with the best parameters of its grid (tune.hpp)
  int tuning_seeds = 3;   // number of seeds of the trials; these seeds follow the reported ones
  std::string experiment; // name of the experiment of a suite; "" outside suites
  /// A key is "name", for every selected variant and task that has this parameter, or "owner.name", for one of them. A
  /// value is a list or a range (sweep.hpp). Every combination of the listed values is run.
  Assignments settings;
  std::vector<std::string>
      shapes; // pairs "d,dv" of widths, for tasks that have both; each is run with all combinations of `settings`
  int warmup = 0, repetitions = 1;
  /// Limit of the state of a head, in bytes: each layer runs at the largest width at which its state is within the
  /// limit (state_budget.hpp). 0: no limit.
  double state_bytes = 0;
};

/// How a case got the parameters that tuning may choose:
///   fixed    there are none, or the user set all of them
///   untuned  some are at their defaults
///   trial    they have values of the grid, with a tuning seed
///   tuned    they have the best values of the group's trials, which are filled in after the trials
enum class Setting { fixed, untuned, trial, tuned };
inline const char *name_of(Setting setting) {
  const char *const names[] = {"fixed", "untuned", "trial", "tuned"};
  return names[int(setting)];
}

struct Case : ExecutionOptions {
  int index = 0;
  int group = 0; // the same number for a tuned case and its trials, which run in order in one process
  Setting setting = Setting::fixed;
  std::string experiment;
  const Variant *variant = nullptr;
  const Form *form = nullptr;
  const Task *task = nullptr;
  Params variant_params, task_params;
  std::uint64_t seed = 1;
  double state_limit = 0; // most bytes that the state of a head may take; 0: no limit
};

/// A parameter of a layer or a task, and the value that tuning chose for it.
struct Chosen {
  std::string owner, name;
  double value;
};
using Choice = std::vector<Chosen>;

/// Result of a case.
struct Record {
  int case_index = 0;
  Shape shape;
  /// "ok" | "meaningless" (the task says why a result of this variant would mean nothing, the variant says why it
  /// cannot take the shape, or the state exceeds state_limit) | "skipped" (the case needs too much memory) | "failed"
  std::string status;
  std::string reason; // why the status is not ok; if it is ok, "" or a remark of settle() (harness/call/divergence.hpp)
  Score score;
  double state_bytes = 0, flops = 0; // state_bytes: per head; flops: of the definition, per token and head
  Choice chosen;                     // what tuning chose; empty if the case is not tuned
  std::vector<double> seconds;       // kernel time of each repetition, without transfers
};

} // namespace recollect
