// SPDX-License-Identifier: Apache-2.0
// Chooses widths such that the state of a layer's head fits a number of bytes.
#pragma once
#include "harness/core/task.hpp"

namespace recollect {

/// The task's parameters with the largest widths d and dv whose state fits `bytes` per head (all T pairs if there is no
/// finite state) and which the layer allows: dv = d, or only the width that the user left open. If nothing fits, the
/// smallest widths, which run_case() then reports. Usage error if the task has no width, or if `given` sets them all.
Params widths_within(double bytes, const Variant &variant, const Params &variant_params, const Task &task,
                     const Params &task_params, const Assignments &given, Real real);

} // namespace recollect
