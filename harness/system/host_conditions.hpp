// SPDX-License-Identifier: Apache-2.0
// What about this machine disturbs timings on its processors.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace recollect {

struct HostConditions {
  std::vector<std::pair<std::string, std::string>> facts; // for /meta: governor, turbo, load, processors, pinned
  std::vector<std::string> warnings;                      // a line each: what disturbs, and the remedy
};

/// Reads /sys and /proc under `root`; what cannot be read there is "unknown" and warned of by nobody. `threads` is how
/// many the kernels use, `allowed` how many processors they may run on, `pinned` whether each thread keeps its own.
HostConditions host_conditions(int threads, int allowed, bool pinned, const std::string &root = "");
/// The same of this process, with OMP_PROC_BIND for `pinned`.
HostConditions host_conditions(int threads);

} // namespace recollect
