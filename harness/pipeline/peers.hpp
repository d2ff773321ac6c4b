// SPDX-License-Identifier: Apache-2.0
// The same layers by others, timed on the same tensors by ci/peers.py: PyTorch, and fla where it is installed.
#pragma once
#include "harness/pipeline/bench.hpp"
#include <functional>

namespace recollect {

struct PeerTimes {
  double min_seconds = 0.3; // of measured time a peer
  double first_call = 60; // seconds that a peer's first call may take, with compiling and tuning, before it is skipped
};

/// One result for every peer that knows a case and its parameters, handed over as it comes; `begin` is told of each case
/// before it is asked for. Small cases come before large ones, loops after all others, and peers that must be tuned come
/// when all cases have been asked of those that need not. Input error where no Python with PyTorch is found.
void bench_peers(const std::vector<BenchCase> &plan, const PeerTimes &times,
                 const std::function<void(const BenchCase &)> &begin, const std::function<void(BenchResult)> &keep);

} // namespace recollect
