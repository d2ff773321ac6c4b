// SPDX-License-Identifier: Apache-2.0
// Backward passes by the stages with static extents (recurrence_gradients.hpp), on CUDA, for float32 arrays.
#pragma once
#include "variants/kernels/chunked/decayed_sum_backward.hpp"
#include "variants/kernels/chunked/delta_rule_backward.hpp"

namespace recollect::variants {

/// Writes what decayed_sum_vjp() does, or returns false if the stages do not serve it: channel decays, a bonus, a
/// normaliser, keys or values wider than 256, chunks that are not of 64 steps, the streaming schedule, a GPU with too
/// little shared memory, or no GPU.
bool run_static(const std::string &label, const BackwardCall<float> &back, const DecayedSum<float> &in,
                const DecayedSumGradient<float> &d);

/// Writes the results of delta_rule_vjp(). Returns false as above, and where the key written is not the key read.
bool run_static(const std::string &label, const BackwardCall<float> &back, const DeltaRule<float> &in,
                const DeltaRuleGradient<float> &d);

} // namespace recollect::variants
