// SPDX-License-Identifier: Apache-2.0
// A line of gradient_instances.hpp.
#include "variants/kernels/chunked/gradient_instances.hpp"
#ifdef __CUDACC__
namespace recollect::chunked {
RECOLLECT_GRADIENTS(, fragments::Bf16, __nv_bfloat16, false)
} // namespace recollect::chunked
#endif
