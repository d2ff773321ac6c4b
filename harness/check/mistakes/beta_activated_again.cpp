// SPDX-License-Identifier: Apache-2.0
// The kernel applies a sigmoid or softplus to beta_t, although beta_t already is the write strength.
#include "harness/check/remake.hpp"
#include <cmath>

namespace recollect::mistakes {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

} // namespace

Mistake beta_activated_again() {
  Mistake m;
  m.what = "beta, the strength itself, is passed through a sigmoid or softplus once more";
  m.shows = "every output";
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    if (!gives(problem, Tensor::beta)) return {};
    return {elementwise(problem, Tensor::beta, "beta is passed through a sigmoid once more", sigmoid,
                        [](double x) { return sigmoid(x) * (1 - sigmoid(x)); }),
            elementwise(
                problem, Tensor::beta, "beta is passed through softplus once more",
                [](double x) { return std::log1p(std::exp(x)); }, sigmoid)};
  };
  return m;
}

} // namespace recollect::mistakes
