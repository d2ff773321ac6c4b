// SPDX-License-Identifier: Apache-2.0
// Backward passes by kernels with static extents (recurrence_gradients.hpp), on CUDA, for float32 arrays.
#pragma once
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"

namespace recollect::variants {

/// Writes the results of gated_recurrence_vjp(). Returns false where these kernels do not support the call: write
/// strengths or an alpha together with channel decays, keys or values wider than 256, chunks of other than 64 steps,
/// the streaming schedule, a GPU with too little shared memory, or no GPU.
bool run_static(const std::string &label, const BackwardCall<float> &back, const GatedRecurrence<float> &in,
                const GatedRecurrenceGradient<float> &d);

/// Writes the results of delta_rule_vjp(). Returns false in the same cases, and if the rule has sub-steps, decays by
/// channel, separate write keys (`keys`), or different keys r and p.
bool run_static(const std::string &label, const BackwardCall<float> &back, const DeltaRule<float> &in,
                const DeltaRuleGradient<float> &d);

} // namespace recollect::variants
