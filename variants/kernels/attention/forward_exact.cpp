// SPDX-License-Identifier: Apache-2.0
// Softmax attention in true float32, forward.
#include "variants/kernels/attention/attention_cuda.hpp"

namespace recollect::variants::attention {

#ifdef __CUDACC__
RECOLLECT_ATTENTION(, Exact, Softmax, WriteOutput<float>)
RECOLLECT_ATTENTION(, Exact, Softmax, LeaveStatistics<float>)
#endif

} // namespace recollect::variants::attention
