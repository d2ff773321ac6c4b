// SPDX-License-Identifier: Apache-2.0
// A line of instances.hpp.
#include "variants/kernels/chunked/instances.hpp"
#ifdef __CUDACC__
namespace recollect::chunked {
RECOLLECT_CHANNEL_STAGES(, fragments::F16, __half)
} // namespace recollect::chunked
#endif
