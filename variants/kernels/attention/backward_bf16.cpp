// SPDX-License-Identifier: Apache-2.0
// Softmax attention with products in bf16, backward.
#include "variants/kernels/attention/attention_cuda.hpp"

namespace recollect::variants::attention {

#ifdef __CUDACC__
RECOLLECT_ATTENTION_BACK(, Bf16, Softmax, float)
#endif

} // namespace recollect::variants::attention
