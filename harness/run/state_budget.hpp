// SPDX-License-Identifier: Apache-2.0
// Widths at which the state of a layer's head fits a number of bytes.
#pragma once
#include "harness/core/task.hpp"

namespace recollect {

/// The task's parameters with the widths d and dv that use most of `bytes`: dv = d, or the one that the user left open, as
/// large as the state of a head (with all T pairs, where no finite state exists) and the layer allow. Where nothing fits,
/// the smallest widths: run_case() then says so. Usage error where the task has no width, or `given` sets them all.
Params widths_within(double bytes, const Variant &variant, const Params &variant_params, const Task &task,
                     const Params &task_params, const Assignments &given, Real real);

} // namespace recollect
