// SPDX-License-Identifier: Apache-2.0
// Softmax attention on arrays stored in bf16, forward.
#include "variants/kernels/attention/attention_cuda.hpp"

namespace recollect::variants::attention {

#ifdef __CUDACC__
RECOLLECT_ATTENTION(, Bf16, Softmax, WriteOutput<__nv_bfloat16>)
RECOLLECT_ATTENTION(, Bf16, Softmax, LeaveStatistics<__nv_bfloat16>)
#endif

} // namespace recollect::variants::attention
