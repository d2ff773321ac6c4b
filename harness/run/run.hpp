// SPDX-License-Identifier: Apache-2.0
// Case -> Record. The only clock around kernels.
#pragma once
#include "harness/run/tune.hpp"

namespace recollect {

/// Bytes that a head carries from token to token: the final state, or all T pairs where there is no finite one.
double state_bytes(const Variant &variant, const Shape &shape, const Params &params, Real real);

/// The task's first metric, null where the case has none.
const double *headline(const Case &c, const Record &record);

/// What goes wrong is in status and reason; only std::bad_alloc is thrown on.
Record run_case(const Case &c, int warmup, int repetitions);

} // namespace recollect
