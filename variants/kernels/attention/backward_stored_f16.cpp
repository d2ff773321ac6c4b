// SPDX-License-Identifier: Apache-2.0
// Softmax attention on arrays stored in f16, backward.
#include "variants/kernels/attention/attention_cuda.hpp"

namespace recollect::variants::attention {

#ifdef __CUDACC__
RECOLLECT_ATTENTION_BACK(, F16, Softmax, __half)
#endif

} // namespace recollect::variants::attention
