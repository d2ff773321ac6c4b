// SPDX-License-Identifier: Apache-2.0
// The same layers by others, timed on the same tensors by ci/peers.py: PyTorch, and fla where it is installed.
#pragma once
#include "harness/pipeline/bench.hpp"
#include <functional>

namespace recollect {

/// One result for every peer that knows a case and its parameters, handed over as it comes; `begin` is told of each case
/// before it is asked for. Input error where no Python with PyTorch is found.
void bench_peers(const std::vector<BenchCase> &plan, double min_seconds,
                 const std::function<void(const BenchCase &)> &begin, const std::function<void(BenchResult)> &keep);

} // namespace recollect
