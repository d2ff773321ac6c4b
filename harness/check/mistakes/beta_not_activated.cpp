// SPDX-License-Identifier: Apache-2.0
// The kernel uses log(beta / (1 - beta)), the number before the sigmoid, instead of beta.
#include "harness/check/remake.hpp"
#include <cmath>

namespace recollect::mistakes {

Mistake beta_not_activated() {
  Mistake m;
  m.what = "beta is used before its sigmoid: its logit is applied";
  m.shows = "every output, where beta lies in (0, 1)";
  m.reports = {"PrismML llama.cpp fork #237"};
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    if (!gives(problem, Tensor::beta)) return {};
    const auto within = [](double x) { return x > 0 && x < 1; };
    return {elementwise(
        problem, Tensor::beta, "beta is used before its sigmoid: its logit is applied",
        [=](double x) { return within(x) ? std::log(x / (1 - x)) : x; },
        [=](double x) { return within(x) ? 1 / (x * (1 - x)) : 1; })};
  };
  return m;
}

} // namespace recollect::mistakes
