// SPDX-License-Identifier: Apache-2.0
// Attention with a similarity that has no normaliser, forward and backward.
#include "variants/kernels/attention/attention_cuda.hpp"

namespace recollect::variants::attention {

#ifdef __CUDACC__
RECOLLECT_ATTENTION(, Exact, ChosenKernel, WriteOutput<float>)
RECOLLECT_ATTENTION(, Bf16, ChosenKernel, WriteOutput<float>)
RECOLLECT_ATTENTION_BACK(, Exact, ChosenKernel)
RECOLLECT_ATTENTION_BACK(, Bf16, ChosenKernel)
#endif

} // namespace recollect::variants::attention
