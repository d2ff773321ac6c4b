// SPDX-License-Identifier: Apache-2.0
// The mistakes of the catalogue that concern conventions: the given arrays are read in another convention. (The other
// mistakes, in harness/check/mistakes/, change the layer's arrays.)
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

/// A convention that differs from the given one by one mistake. `said` describes the difference, in most cases by the
/// option that a user may have forgotten.
struct Neighbour {
  std::string said;
  Convention convention;
  const ConventionMistake *mistake;
};
std::vector<Neighbour> neighbours(const Convention &convention);

} // namespace recollect
