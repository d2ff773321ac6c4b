// SPDX-License-Identifier: Apache-2.0
// How a layer's outputs are scored, in the same way for every task.
#pragma once
#include "harness/core/task.hpp"
#include <cstdint>

namespace recollect {

/// Compares a read, which is the output o of one head at one step, with its target. If o is not finite, no candidate is
/// chosen and the cosine is 0.
struct Read {
  double square_error = 0; // |o - target|^2
  double cosine = 0;       // o.target / (|o| |target|); 0 if one of the norms is 0
  int chosen = -1;         // the candidate with the largest inner product with o; of equal ones, the first
  bool right = false;      // whether `chosen` is the answer
};
/// If `among` is given, only the first `among` candidates are considered.
Read score_read(const Problem &problem, const Output &output, size_t head, int t, size_t among = SIZE_MAX);

/// Whether head `head` (of B*H) is scored at step t.
bool is_asked(const Problem &problem, size_t head, int t);

/// Metrics over all scored reads: "mse" (the mean over elements of (o - target)^2), "cosine" and, if there are
/// candidates, "accuracy". There are no metrics if no read is scored. The series "<metric>_by_step" has a value for
/// each step at which at least one head is scored: the mean over the heads that are scored at this step.
Score score_reads(const Problem &problem, const Output &output);

} // namespace recollect
