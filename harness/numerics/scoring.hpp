// SPDX-License-Identifier: Apache-2.0
// How reads are scored; the same for every task.
#pragma once
#include "harness/core/task.hpp"
#include <cstdint>

namespace recollect {

/// One read compared with its target. A non-finite read selects no candidate and has cosine 0.
struct Read {
  double square_error = 0; // |o - target|^2
  double cosine = 0;       // o.target / |o||target|, 0 if either is zero
  int chosen = -1;         // the candidate with the largest inner product with o, the first if several are equal
  bool right = false;      // whether `chosen` is the answer
};
/// If `among` is given, only the first `among` candidates are considered.
Read score_read(const Problem &problem, const Output &output, size_t head, int t, size_t among = SIZE_MAX);

/// Whether head `head` (of B*H) is scored at step t.
bool is_asked(const Problem &problem, size_t head, int t);

/// Metrics over all scored reads: "mse" (mean over elements of (o - target)^2), "cosine" and, with candidates,
/// "accuracy"; none if nothing is scored. Series "<metric>_by_step": one value per step at which some head is scored,
/// averaged over those heads.
Score score_reads(const Problem &problem, const Output &output);

} // namespace recollect
