// SPDX-License-Identifier: Apache-2.0
// Case -> Record. The only clock around kernels.
#pragma once
#include "plan.hpp"

namespace recollect {

struct Record {
  int case_index = 0;
  Shape shape;
  std::string status;  // "ok" | "meaningless" (the task says why this variant's result would mean nothing) | "failed"
  std::string reason;  // "" when ok
  Score score;
  std::vector<double> seconds; // one a repetition: kernel time with inputs already on the device
};

/// Never throws: what goes wrong is in status and reason.
Record run_case(const Case &c, int warmup, int repetitions);

} // namespace recollect
