// SPDX-License-Identifier: Apache-2.0
// What is to be run, decided before anything runs. Pure.
#pragma once
#include "harness/core/case.hpp"

namespace recollect {

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
