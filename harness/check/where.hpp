// SPDX-License-Identifier: Apache-2.0
// Where the error of a wrong candidate lives.
#pragma once
#include "harness/check/check.hpp"

namespace recollect {

/// Sentences such as "o is right, the state is wrong", "from step 64 on", "the last 36 steps", "heads 1 and 3",
/// "channels 64 to 127", "t mod 16 = 0", "only where alpha < 0.01"; "" where no pattern stands out.
std::string where_wrong(const Reference &reference, const Results &candidate, const std::vector<Judged> &judged);

} // namespace recollect
