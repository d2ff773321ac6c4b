// SPDX-License-Identifier: Apache-2.0
// The conventions of `--convention` as text and as JSON, from which other programs read them.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

namespace recollect {

/// "layer" (the layers' own convention) and the presets.
const std::vector<std::string> &convention_names();
/// One row per convention; if names are given, also the arrays of each.
void print_conventions(std::ostream &out, const std::vector<std::string> &names);
/// For each convention: its switches; the arrays that are float32 where other arrays have 16 bits; and, for every array
/// of the layer, its names in files, with any gate and write strength.
void print_conventions_json(std::ostream &out, const std::vector<std::string> &names);

} // namespace recollect
