// SPDX-License-Identifier: Apache-2.0
// Evidence for a verdict: the point that shows it, and the command that measures it again.
#pragma once
#include "harness/numerics/verdict.hpp"
#include <string>

namespace recollect {

/// The statement's refuted point with the smallest parameters; null if none is refuted.
const Point *counter_example(const Finding &finding);
/// The point of this role that is nearest to its tolerance, or exceeds it most. Null if there is none.
const Point *tightest(const Finding &finding, Role role);
/// |measured - predicted| over the tolerance; infinite if a tolerance of 0 is exceeded.
double distance(const Point &point);
/// "recollect verify snr_exp --seed 1", with suite and point unless they are the defaults.
std::string repeat_command(const Claim &claim, const Protocol &protocol);

} // namespace recollect
