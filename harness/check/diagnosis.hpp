// SPDX-License-Identifier: Apache-2.0
// Which known mistake explains a wrong candidate.
#pragma once
#include "harness/check/check.hpp"

namespace recollect {

/// The nearest mistake of the catalogue whose results the candidate matches within the noise of its type, outputs, state
/// and gradients alike; two where both explain it equally well; none where none does. `judged` is what was found wrong.
std::vector<std::string> diagnose(const Reference &reference, const Results &candidate,
                                  const std::vector<Judged> &judged, Precision precision);

} // namespace recollect
