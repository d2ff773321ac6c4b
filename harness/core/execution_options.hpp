// SPDX-License-Identifier: Apache-2.0
// How a form is executed: options that all commands which run layers share.
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
