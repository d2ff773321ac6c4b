// SPDX-License-Identifier: Apache-2.0
// Records which layers ran, for tests that a claim runs the layers that it names.
#pragma once
#include <set>
#include <string>

namespace recollect {

/// Names of the variants that were passed to forward() or prepare() since the last call of this function.
std::set<std::string> take_variants_run();
/// Adds a variant whose stored results are used instead of a run.
void note_variant_run(const std::string &name);

} // namespace recollect
