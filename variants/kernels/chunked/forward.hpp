// SPDX-License-Identifier: Apache-2.0
// Forward passes by the stages with static extents (problem.hpp), on CUDA, for float32 arrays.
#pragma once
#include "variants/kernels/chunked/decayed_sum.hpp"
#include "variants/kernels/chunked/delta_rule.hpp"

namespace recollect::variants {

/// Runs the sum as decayed_sum() does, or returns false, if the stages do not serve it: a normaliser, few steps where
/// channels decay separately, keys wider than 256, chunks that are not of 64 steps, a schedule of one team per head, a GPU with
/// too little shared memory, or none.
bool run_static(const std::string &label, const Call<float> &call, const DecayedSum<float> &in);

/// Runs the rule as delta_rule() does, or returns false, as above and where the key written is not the key read.
bool run_static(const std::string &label, const Call<float> &call, const DeltaRule<float> &in);

} // namespace recollect::variants
