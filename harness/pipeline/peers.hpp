// SPDX-License-Identifier: Apache-2.0
// The same layers by others, timed on the same tensors by ci/peers.py: PyTorch, and fla where it is installed.
#pragma once
#include "harness/pipeline/bench.hpp"

namespace recollect {

/// One result for every peer that knows a case. Input error where no Python with PyTorch is found.
std::vector<BenchResult> bench_peers(const std::vector<BenchCase> &plan, double min_seconds);

} // namespace recollect
