// SPDX-License-Identifier: Apache-2.0
#include "variants/kernels/attention/chosen_similarities.hpp"

namespace recollect::variants {
RECOLLECT_SIMILARITIES_BACK(, double)
} // namespace recollect::variants
