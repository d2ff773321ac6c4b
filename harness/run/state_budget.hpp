// SPDX-License-Identifier: Apache-2.0
// Chooses widths such that the state of a layer's head fits a number of bytes.
#pragma once
#include "harness/core/task.hpp"

namespace recollect {

/// The task's parameters with the largest width that the layer allows and whose state fits `bytes` per head (all T
/// pairs if there is no finite state). Both d and dv get this width; if the user gave one width, only the other
/// width is chosen. If nothing fits, the smallest width, which run_case() then reports. Usage error if the task has no width,
/// or if `given` sets all widths.
Params widths_within(double bytes, const Variant &variant, const Params &variant_params, const Task &task,
                     const Params &task_params, const Assignments &given, Real real);

} // namespace recollect
