// SPDX-License-Identifier: Apache-2.0
// Softmax attention in true float32, backward.
#include "variants/kernels/attention/attention_cuda.hpp"

namespace recollect::variants::attention {

#ifdef __CUDACC__
RECOLLECT_ATTENTION_BACK(, Exact, Softmax, float)
#endif

} // namespace recollect::variants::attention
