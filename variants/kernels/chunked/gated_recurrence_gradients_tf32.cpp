// SPDX-License-Identifier: Apache-2.0
// A line of gradient_instances.hpp.
#include "variants/kernels/chunked/gradient_instances.hpp"
#ifdef __CUDACC__
namespace recollect::chunked {
RECOLLECT_GRADIENTS(, fragments::Tf32, float, false)
} // namespace recollect::chunked
#endif
