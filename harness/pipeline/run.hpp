// SPDX-License-Identifier: Apache-2.0
// Case -> Record. The only clock around kernels.
#pragma once
#include "harness/pipeline/tune.hpp"

namespace recollect {

struct Record {
  int case_index = 0;
  Shape shape;
  /// "ok" | "meaningless" (the task says why this variant's result would mean nothing, or the variant why it cannot
  /// take the shape) | "skipped" (it would need more than --memory) | "failed"
  std::string status;
  std::string reason; // "" when ok, or that the pass diverged, or what stands in for it (divergence.hpp)
  Score score;
  double state_bytes = 0, flops = 0; // of a head; of the definition, a token
  Choice chosen;                     // of a tuned case
  std::vector<double> seconds;       // one a repetition: kernel time with inputs already on the device
};

/// Bytes that a head carries from token to token: the final state, or all T pairs where there is no finite one.
double state_bytes(const Variant &variant, const Shape &shape, const Params &params, Real real);

/// The task's first metric, null where the case has none.
const double *headline(const Case &c, const Record &record);

/// What goes wrong is in status and reason; only std::bad_alloc is thrown on.
Record run_case(const Case &c, int warmup, int repetitions);

} // namespace recollect
