// SPDX-License-Identifier: Apache-2.0
// Softmax attention with products in bf16, forward.
#include "variants/kernels/attention/attention_cuda.hpp"

namespace recollect::variants::attention {

#ifdef __CUDACC__
RECOLLECT_ATTENTION(, Bf16, Softmax, WriteOutput<float>)
RECOLLECT_ATTENTION(, Bf16, Softmax, LeaveStatistics<float>)
#endif

} // namespace recollect::variants::attention
