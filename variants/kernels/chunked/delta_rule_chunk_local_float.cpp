// SPDX-License-Identifier: Apache-2.0
// A line of delta_rule_algebra.hpp.
#ifdef __CUDACC__
#include "variants/kernels/chunked/delta_rule_algebra.hpp"
namespace recollect::engine {
RECOLLECT_SUMMARISE(, variants::DeltaRuleAlgebra<float>)
} // namespace recollect::engine
#endif
