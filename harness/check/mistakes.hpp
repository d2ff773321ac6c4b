// SPDX-License-Identifier: Apache-2.0
// The catalogue of mistakes that kernels make, one file each in mistakes/: CMake finds them, as it finds layers.
#pragma once
#include "harness/check/results.hpp"
#include <functional>

namespace recollect {

/// What a kernel with the mistake returns for a problem. Parts that the mistake leaves right may be left out: they are
/// the definition's.
struct Made {
  std::string what; // the mistake in one sentence, with its numbers: "... between chunks of 64"
  std::function<Results()> results;
};

struct Mistake {
  std::string name;                 // the file's stem, set by the registry
  std::string what;                 // in one sentence, as a diagnosis prints it
  std::string shows;                // how it shows, and on which inputs
  std::vector<std::string> reports; // public reports: "vllm #22034"
  /// The ways to make it here: one for each chunk length, say. None where this layer or these inputs cannot show it.
  /// `right` are the definition's results.
  std::function<std::vector<Made>(const CheckCase &problem, const Results &right)> make;
};

const std::vector<Mistake> &all_mistakes();
const Mistake &find_mistake(std::string_view name);

} // namespace recollect
