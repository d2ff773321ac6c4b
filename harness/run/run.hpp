// SPDX-License-Identifier: Apache-2.0
// Runs a Case and returns a Record. Only this file times kernels of `run`.
#pragma once
#include "harness/run/tune.hpp"

namespace recollect {

/// Bytes that a head carries from token to token: the final state, or all T pairs if there is no finite state.
double state_bytes(const Variant &variant, const Shape &shape, const Params &params, Real real);

/// The value of the task's first metric; null if the case has none.
const double *headline(const Case &c, const Record &record);

/// Reports errors in status and reason; throws only std::bad_alloc.
Record run_case(const Case &c, int warmup, int repetitions);

} // namespace recollect
