// SPDX-License-Identifier: Apache-2.0
// How reads are scored, the same for every task.
#pragma once
#include "harness/core/task.hpp"
#include <cstdint>

namespace recollect {

/// One read held against its target. A non-finite read chooses nothing, with cosine 0.
struct Read {
  double square_error = 0; // |o - target|^2
  double cosine = 0;       // o.target / |o||target|, 0 where either is zero
  int chosen = -1;         // the candidate with the largest inner product with o, the first of equals
  bool right = false;      // that is the answer
};
/// Decodes among the first `among` candidates only, where given.
Read score_read(const Problem &problem, const Output &output, size_t head, int t, size_t among = SIZE_MAX);

/// Whether head `head` (of B*H) is asked at step t.
bool is_asked(const Problem &problem, size_t head, int t);

/// Metrics over all reads asked: "mse" (mean over elements of (o - target)^2), "cosine", and with candidates
/// "accuracy"; none where nothing is asked. Series "<metric>_by_step", one value for each step at which some head is
/// asked, averaged over the heads asked there.
Score score_reads(const Problem &problem, const Output &output);

} // namespace recollect
