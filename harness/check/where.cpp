// SPDX-License-Identifier: Apache-2.0
#include "harness/check/where.hpp"

namespace recollect {

std::string where_wrong(const Reference &, const Results &, const std::vector<Judged> &) { return ""; }

} // namespace recollect
