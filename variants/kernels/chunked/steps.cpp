// SPDX-License-Identifier: Apache-2.0
// Lines of instances.hpp.
#include "variants/kernels/chunked/instances.hpp"
#ifdef __CUDACC__
namespace recollect::chunked {
RECOLLECT_STEPS(, float)
RECOLLECT_STEPS(, __nv_bfloat16)
RECOLLECT_STEPS(, __half)
} // namespace recollect::chunked
#endif
