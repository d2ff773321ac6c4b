// SPDX-License-Identifier: Apache-2.0
// A line of instances.hpp.
#include "variants/kernels/chunked/instances.hpp"
#ifdef __CUDACC__
namespace recollect::chunked {
template void run_steps(const Inputs<float> &, bool, float *, float *, cudaStream_t);
} // namespace recollect::chunked
#endif
