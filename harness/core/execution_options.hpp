// SPDX-License-Identifier: Apache-2.0
// How a form is executed: what every command that runs layers takes from its flags and passes on whole.
#pragma once
#include "harness/core/types.hpp"

namespace recollect {

struct ExecutionOptions {
  Real real = Real::f64; // type of the arrays
  int chunk = 64;        // steps; clamped to 1 ... T
  Schedule schedule = Schedule::automatic;
  Math math = Math::exact;
};

} // namespace recollect
