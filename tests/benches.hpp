// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "harness/bench/plan.hpp"

namespace recollect {

/// Small cases of one layer.
inline BenchRequest request_for(const std::string &variant, std::vector<std::string> forms) {
  BenchRequest r;
  r.variants = {variant}, r.forms = std::move(forms), r.shapes = {{1, 2, 100, 8, 4}};
  return r;
}

} // namespace recollect
