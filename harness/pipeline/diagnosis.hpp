// SPDX-License-Identifier: Apache-2.0
// The mistakes that kernels make, as changes of the inputs or of the order of what the definition returns.
#pragma once
#include "harness/core/variant.hpp"
#include <functional>

namespace recollect {

struct Mistake {
  std::string name;
  /// What a kernel with this mistake computes.
  std::function<Output()> make;
};

/// Those that can be told apart for this variant and these inputs, the plainer first.
std::vector<Mistake> likely_mistakes(const Variant &variant, const Sequence &sequence, const Params &params);

} // namespace recollect
