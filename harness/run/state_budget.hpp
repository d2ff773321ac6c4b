// SPDX-License-Identifier: Apache-2.0
// Chooses widths at which the state of one head of a layer fits into a given number of bytes.
#pragma once
#include "harness/core/task.hpp"

namespace recollect {

/// The task's parameters with the largest width that the layer allows and at which a head's state takes at most
/// `bytes`. If the layer has no finite state, the keys and values of all T tokens count as its state. Both d and dv get
/// this width; a width that `given` sets is kept. If no width fits, the result has the smallest width, and run_case()
/// reports that its state is too large. Usage error if the task has no width or `given` sets all widths.
Params widths_within(double bytes, const Variant &variant, const Params &variant_params, const Task &task,
                     const Params &task_params, const Assignments &given, Real real);

} // namespace recollect
