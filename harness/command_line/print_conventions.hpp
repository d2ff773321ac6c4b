// SPDX-License-Identifier: Apache-2.0
// Prints the conventions of `--convention`, as text for people and as JSON for other programs.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

namespace recollect {

/// "layer" (the layers' own convention) and the presets.
const std::vector<std::string> &convention_names();
/// One row per convention. If names are given, also lists the arrays whose names in files differ from the layer's.
void print_conventions(std::ostream &out, const std::vector<std::string> &names);
/// For each convention: its switches; the arrays that stay float32 if other arrays have 16 bits; and, for every array
/// of the layer, all names that it may have in files, whatever the gate and write strength are.
void print_conventions_json(std::ostream &out, const std::vector<std::string> &names);

} // namespace recollect
