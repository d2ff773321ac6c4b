// SPDX-License-Identifier: Apache-2.0
// Mistakes that users and kernels make about conventions; part of the catalogue of mistakes. Those in
// harness/check/mistakes/ change the layer's arrays. These read the given arrays in another convention.
#pragma once
#include "harness/files/convention.hpp"
#include <string_view>

namespace recollect {

struct ConventionMistake {
  std::string name;
  std::string what;                 // in one sentence
  std::string shows;                // its symptoms, and the inputs that show it
  std::vector<std::string> reports; // public reports
};
const std::vector<ConventionMistake> &convention_mistakes();
inline std::vector<std::string> names(const ConventionMistake &mistake) { return {mistake.name}; } // core/lookup.hpp

/// A convention that differs in one switch, advice for users who forgot that switch, and the corresponding mistake.
struct Neighbour {
  std::string said;
  Convention convention;
  const ConventionMistake *mistake;
};
std::vector<Neighbour> neighbours(const Convention &convention);

} // namespace recollect
