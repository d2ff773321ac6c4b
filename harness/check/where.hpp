// SPDX-License-Identifier: Apache-2.0
// Locates the errors of a wrong candidate.
#pragma once
#include "harness/check/check.hpp"

namespace recollect {

/// Says which parts are wrong and which are right. For each wrong part it adds the simplest pattern that covers at
/// least 95% of the bad rows and at most 5% of the good ones, if there is one. Patterns are: heads or batch entries;
/// steps from some step on, before some step, of one residue modulo a number, or in every second chunk; steps whose
/// gate is 1, 0, or below a bound; channels, or rows and columns of a state. `noise` is the noise of the candidate's
/// type; `names` are the user's names of parts.
std::string where_wrong(const Reference &reference, const PartList &candidate, const std::vector<Judged> &judged,
                        const Noise &noise, const PartNames &names = {});

} // namespace recollect
