// SPDX-License-Identifier: Apache-2.0
// How a form is executed: the options that are common to all commands that run layers.
#pragma once
#include "harness/core/types.hpp"

namespace recollect {

struct ExecutionOptions {
  Real real = Real::f64; // type of the arrays
  int chunk = 64;        // steps per chunk; clamped to 1 ... T
  Schedule schedule = Schedule::automatic;
  Math math = Math::exact;
};

} // namespace recollect
