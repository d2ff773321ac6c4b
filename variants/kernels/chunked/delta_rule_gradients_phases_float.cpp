// SPDX-License-Identifier: Apache-2.0
// Lines of delta_rule_backward_algebra.hpp.
#ifdef __CUDACC__
#include "variants/kernels/chunked/delta_rule_backward_algebra.hpp"
namespace recollect::engine {
RECOLLECT_SUMMARISE(, variants::DeltaRuleAdjoint<float>)
RECOLLECT_CARRY(, variants::DeltaRuleAdjoint<float>)
RECOLLECT_READ(, variants::DeltaRuleAdjoint<float>)
} // namespace recollect::engine
#endif
