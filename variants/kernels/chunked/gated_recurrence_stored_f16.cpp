// SPDX-License-Identifier: Apache-2.0
// A line of instances.hpp.
#include "variants/kernels/chunked/instances.hpp"
#ifdef __CUDACC__
namespace recollect::chunked {
RECOLLECT_GATED_RECURRENCE_STAGES(, fragments::F16, __half)
RECOLLECT_SUM_OUTPUTS(, fragments::F16)
} // namespace recollect::chunked
#endif
