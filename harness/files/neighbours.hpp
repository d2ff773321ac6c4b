// SPDX-License-Identifier: Apache-2.0
// Mistakes about conventions, part of the catalogue of mistakes: the given arrays are read in another convention.
// (Mistakes in harness/check/mistakes/ change the layer's arrays.)
#pragma once
#include "harness/files/convention.hpp"
#include <string_view>

namespace recollect {

struct ConventionMistake {
  std::string name;
  std::string what;                 // the mistake, in one sentence
  std::string shows;                // symptoms, and inputs that show the mistake
  std::vector<std::string> reports; // public reports
};
const std::vector<ConventionMistake> &convention_mistakes();
inline std::vector<std::string> names(const ConventionMistake &mistake) { return {mistake.name}; } // core/lookup.hpp

/// A convention that differs in one switch; `said` is advice for users who forgot that switch.
struct Neighbour {
  std::string said;
  Convention convention;
  const ConventionMistake *mistake;
};
std::vector<Neighbour> neighbours(const Convention &convention);

} // namespace recollect
