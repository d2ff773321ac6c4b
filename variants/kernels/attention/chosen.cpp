// SPDX-License-Identifier: Apache-2.0
// Attention with a similarity that has no normaliser, forward and backward.
#include "variants/kernels/attention/attention_cuda.hpp"

namespace recollect::variants::attention {

#ifdef __CUDACC__
RECOLLECT_ATTENTION(, Exact, ChosenKernel<float>, WriteOutput<float>)
RECOLLECT_ATTENTION(, Bf16, ChosenKernel<float>, WriteOutput<float>)
RECOLLECT_ATTENTION_BACK(, Exact, ChosenKernel<float>, float)
RECOLLECT_ATTENTION_BACK(, Bf16, ChosenKernel<float>, float)
#endif

} // namespace recollect::variants::attention
