// SPDX-License-Identifier: Apache-2.0
// Makes the plan, the list of cases that will run. All functions are pure.
#pragma once
#include "harness/core/case.hpp"

namespace recollect {

/// The cases of every selected variant on every selected task. Usage error for unknown names, parameters and values.
std::vector<Case> make_plan(const RunRequest &request);
/// The plans of several requests, one after the other.
std::vector<Case> make_joint_plan(const std::vector<RunRequest> &requests);

/// The settings that apply to a layer. Their keys are the names of the layer's parameters.
Assignments settings_for(const Variant &variant, const Assignments &settings);
/// Usage error for the first setting that no variant or task uses.
void refuse_unused(const Assignments &settings, const std::vector<const Variant *> &variants,
                   const std::vector<const Task *> &tasks);
/// The layer's optional inputs among `names`.
std::vector<std::string> left_out(const Variant &variant, const std::vector<std::string> &names);
/// `names` are the values of --without. Usage error for the first that is not an optional input of any of the variants.
void refuse_left_out(const std::vector<std::string> &names, const std::vector<const Variant *> &variants);

/// Cases that run in order, in one process.
using Group = std::vector<const Case *>;
/// The groups in the order of the plan. The plan must outlive them.
std::vector<Group> groups_of(const std::vector<Case> &plan);

/// Number of operations of a layer's definition on inputs of this shape.
double work_of(const Variant &variant, const Shape &shape, const Params &params);
/// The work of the cases of each group. A case counts 0 if its task refuses the parameters.
std::vector<double> work_of(const std::vector<Group> &groups);
/// The indices of `work`, by decreasing work. Processes that share the items take them in this order, so that they
/// finish at about the same time.
std::vector<size_t> longest_first(const std::vector<double> &work);

} // namespace recollect
