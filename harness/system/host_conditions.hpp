// SPDX-License-Identifier: Apache-2.0
// Conditions of this machine that disturb timings of code on its processors.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace recollect {

struct HostConditions {
  std::vector<std::pair<std::string, std::string>> facts; // for /meta: governor, turbo, load, processors, pinned
  std::vector<std::string> warnings;                      // lines that say what disturbs timings, and the remedy
};

/// Reads /sys and /proc under `root`. Facts that cannot be read are "unknown" and cause no warning. `threads` is the
/// number of threads of the kernels, `allowed` the number of processors on which these threads may run, and `pinned`
/// says whether each thread stays on its processor.
HostConditions host_conditions(int threads, int allowed, bool pinned, const std::string &root = "");
/// The conditions for this process. `pinned` follows from OMP_PROC_BIND.
HostConditions host_conditions(int threads);

} // namespace recollect
