// SPDX-License-Identifier: Apache-2.0
// Softmax attention on arrays stored in f16, forward.
#include "variants/kernels/attention/attention_cuda.hpp"

namespace recollect::variants::attention {

#ifdef __CUDACC__
RECOLLECT_ATTENTION(, F16, Softmax, WriteOutput<__half>)
RECOLLECT_ATTENTION(, F16, Softmax, LeaveStatistics<__half>)
#endif

} // namespace recollect::variants::attention
