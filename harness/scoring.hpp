// SPDX-License-Identifier: Apache-2.0
// How reads are scored, the same for every task.
#pragma once
#include "entries.hpp"

namespace recollect {

/// Metrics over the scored steps of every head: "mse" (mean over elements of (o - target)^2), "cosine" (mean of o.target /
/// |o||target|), and with candidates "accuracy" (fraction whose largest inner product with o is at the right one). Series
/// "<metric>_by_step", one value a scored step, averaged over heads. A non-finite read counts as wrong, with cosine 0.
Score score_reads(const Problem &problem, const Output &output);

} // namespace recollect
