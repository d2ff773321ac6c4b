// SPDX-License-Identifier: Apache-2.0
// Runs a case and returns its record. All times of layers that `recollect run` reports are measured here.
#pragma once
#include "harness/run/tune.hpp"

namespace recollect {

/// Bytes that a head carries from token to token: its state or, if there is no finite state, the keys and values of all
/// T tokens.
double state_bytes(const Variant &variant, const Shape &shape, const Params &params, Real real);

/// The value of the task's first metric; null if the record does not hold this metric.
const double *headline(const Case &c, const Record &record);

/// Reports errors in the record's status and reason; throws only std::bad_alloc.
Record run_case(const Case &c, int warmup, int repetitions);

} // namespace recollect
