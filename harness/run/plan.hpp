// SPDX-License-Identifier: Apache-2.0
// Decides what will run before anything runs. Pure functions.
#pragma once
#include "harness/core/case.hpp"

namespace recollect {

/// Every selected variant on every selected task. Usage error for unknown names, parameters and values.
std::vector<Case> make_plan(const RunRequest &request);
/// The plans of several requests in sequence.
std::vector<Case> make_joint_plan(const std::vector<RunRequest> &requests);

/// The settings that apply to a layer, under its parameters' names.
Assignments settings_for(const Variant &variant, const Assignments &settings);
/// Usage error for the first setting that no variant or task uses.
void refuse_unused(const Assignments &settings, const std::vector<const Variant *> &variants,
                   const std::vector<const Task *> &tasks);
/// The layer's optional inputs among `names`.
std::vector<std::string> left_out(const Variant &variant, const std::vector<std::string> &names);
/// Usage error for the first name given to --without that is an optional input of none of the variants.
void refuse_left_out(const std::vector<std::string> &names, const std::vector<const Variant *> &variants);

/// Cases that run in order, in one process.
using Group = std::vector<const Case *>;
/// The groups in the order of the plan. The plan must outlive them.
std::vector<Group> groups_of(const std::vector<Case> &plan);

/// Operations of a layer's definition on a shape.
double work_of(const Variant &variant, const Shape &shape, const Params &params);
/// The work of each group's cases; 0 where the task makes no input.
std::vector<double> work_of(const std::vector<Group> &groups);
/// Positions in `work` from the largest to the smallest. Processes that share the work start it in this order, so that
/// they finish together.
std::vector<size_t> longest_first(const std::vector<double> &work);

} // namespace recollect
