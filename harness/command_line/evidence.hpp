// SPDX-License-Identifier: Apache-2.0
// Evidence for a verdict: the point that shows it, and the command that measures it again.
#pragma once
#include "harness/numerics/verdict.hpp"
#include <string>

namespace recollect {

/// Of the refuted points of kind `statement`, the one with the smallest parameters. Null if there is none.
const Point *counter_example(const Finding &finding);
/// Of the points of this role, the one with the largest distance(): it exceeds its own tolerance most, or comes nearest
/// to it. Null if no point has the role.
const Point *tightest(const Finding &finding, Role role);
/// |measured - predicted| over the tolerance; infinite if a tolerance of 0 is exceeded.
double distance(const Point &point);
/// The command that measures a claim again, such as "recollect verify snr_exp --seed 1", with --suite and --point where
/// the protocol needs them.
std::string repeat_command(const Claim &claim, const Protocol &protocol);

} // namespace recollect
