// SPDX-License-Identifier: Apache-2.0
// A line of gradient_instances.hpp.
#include "variants/kernels/chunked/gradient_instances.hpp"
#ifdef __CUDACC__
namespace recollect::chunked {
RECOLLECT_GRADIENTS(, fragments::F16, __half, false)
} // namespace recollect::chunked
#endif
