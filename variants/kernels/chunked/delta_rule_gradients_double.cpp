// SPDX-License-Identifier: Apache-2.0
// Lines of delta_rule_backward_algebra.hpp.
#ifdef __CUDACC__
#include "variants/kernels/chunked/delta_rule_backward_algebra.hpp"
namespace recollect::engine {
RECOLLECT_SCHEDULES(, variants::DeltaRuleAdjoint<double>)
} // namespace recollect::engine
#endif
