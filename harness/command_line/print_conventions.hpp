// SPDX-License-Identifier: Apache-2.0
// The conventions of `--convention`, for people and as JSON: the one place that other programs take them from.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

namespace recollect {

/// "layer", the convention of the layers themselves, and the presets.
const std::vector<std::string> &convention_names();
/// A row each; with names, the arrays of each as well.
void print_conventions(std::ostream &out, const std::vector<std::string> &names);
/// Switches, the arrays that are float32 beside 16-bit ones, and by the layer's name of every array its names in files,
/// with any gate and write strength.
void print_conventions_json(std::ostream &out, const std::vector<std::string> &names);

} // namespace recollect
