// SPDX-License-Identifier: Apache-2.0
// Lines of decayed_sum_backward_algebra.hpp.
#ifdef __CUDACC__
#include "variants/kernels/chunked/decayed_sum_backward_algebra.hpp"
namespace recollect::engine {
RECOLLECT_SCHEDULES(, variants::DecayedSumAdjoint<float>)
} // namespace recollect::engine
#endif
