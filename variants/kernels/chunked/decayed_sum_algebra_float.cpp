// SPDX-License-Identifier: Apache-2.0
// Lines of decayed_sum_algebra.hpp.
#ifdef __CUDACC__
#include "variants/kernels/chunked/decayed_sum_algebra.hpp"
namespace recollect::engine {
RECOLLECT_SCHEDULES(, variants::DecayedSumAlgebra<float>)
} // namespace recollect::engine
#endif
