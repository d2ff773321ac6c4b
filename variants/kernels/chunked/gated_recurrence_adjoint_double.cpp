// SPDX-License-Identifier: Apache-2.0
// Lines of gated_recurrence_backward_algebra.hpp.
#ifdef __CUDACC__
#include "variants/kernels/chunked/gated_recurrence_backward_algebra.hpp"
namespace recollect::engine {
RECOLLECT_SCHEDULES(, variants::GatedRecurrenceAdjoint<double>)
} // namespace recollect::engine
#endif
