// SPDX-License-Identifier: Apache-2.0
// Forward passes by kernels with static extents (problem.hpp), on CUDA, for float32 arrays.
#pragma once
#include "variants/kernels/chunked/delta_rule.hpp"
#include "variants/kernels/chunked/gated_recurrence.hpp"

namespace recollect::variants {

/// Computes what gated_recurrence() computes. If `weights` [B,H,T] is given, also saves the weights scale z_t . q_t of
/// a normalised sum (normaliser.hpp). Returns false where these kernels do not support the call: keys wider than 256,
/// chunks of other than 64 steps, a schedule of one team per head, a GPU with too little shared memory, or no GPU.
bool run_static(const std::string &label, const Call<float> &call, const GatedRecurrence<float> &in,
                const Array<float> &weights = {});

/// Computes what delta_rule() computes. Returns false in the same cases, and if the rule has sub-steps, decays by
/// channel, separate write keys (`keys`), or different keys r and p.
bool run_static(const std::string &label, const Call<float> &call, const DeltaRule<float> &in);

} // namespace recollect::variants
