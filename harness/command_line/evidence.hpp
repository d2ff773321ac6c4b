// SPDX-License-Identifier: Apache-2.0
// What backs a verdict: the point that shows it, and the command that measures it again.
#pragma once
#include "harness/numerics/verdict.hpp"
#include <string>

namespace recollect {

/// The statement's refuted point with the smallest parameters; null where none is refuted.
const Point *counter_example(const Finding &finding);
/// The point of this role that is nearest to its tolerance, or furthest beyond it; null where there is none.
const Point *tightest(const Finding &finding, Role role);
/// |measured - predicted| in tolerances; infinite where a tolerance of 0 is exceeded.
double distance(const Point &point);
/// "recollect verify snr_exp --seed 1", with the suite and the point where they are not the defaults.
std::string repeat_command(const Claim &claim, const Protocol &protocol);

} // namespace recollect
