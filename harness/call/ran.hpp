// SPDX-License-Identifier: Apache-2.0
// Which layers were run: for tests that hold a claim to the layers that it names.
#pragma once
#include <set>
#include <string>

namespace recollect {

/// The names of the variants that forward() and prepare() were given since the last call.
std::set<std::string> take_variants_run();
/// The same said of a run whose results were kept and are used again.
void note_variant_run(const std::string &name);

} // namespace recollect
