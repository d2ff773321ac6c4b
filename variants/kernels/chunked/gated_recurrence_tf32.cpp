// SPDX-License-Identifier: Apache-2.0
// A line of instances.hpp.
#include "variants/kernels/chunked/instances.hpp"
#ifdef __CUDACC__
namespace recollect::chunked {
RECOLLECT_GATED_RECURRENCE_STAGES(, fragments::Tf32, float)
} // namespace recollect::chunked
#endif
