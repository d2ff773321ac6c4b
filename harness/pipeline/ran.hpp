// SPDX-License-Identifier: Apache-2.0
// Which layers were run: for tests that hold a claim to the layers that it names.
#pragma once
#include <set>
#include <string>

namespace recollect {

/// The names of the variants that forward() and prepare() were given since the last call.
std::set<std::string> take_variants_run();

} // namespace recollect
