// SPDX-License-Identifier: Apache-2.0
// The kernel applies beta in one of its two places only: S_t = S_{t-1} (I - k k^T) + beta v k^T, or S_t = S_{t-1} (I -
// beta k k^T) + v k^T.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {
namespace {

Sequence with_values_scaled(const CheckCase &problem, bool by_beta) {
  Sequence other = problem.given;
  const size_t Dv = size_t(problem.given.shape.Dv);
  for (size_t i = 0; i < other.v.size(); ++i) {
    const double beta = problem.given.beta[i / Dv];
    other.v[i] *= by_beta ? beta : beta != 0 ? 1 / beta : 0;
  }
  if (by_beta) other.beta.assign(other.beta.size(), 1.0);
  return other;
}

} // namespace

Mistake beta_on_one_side() {
  Mistake m;
  m.what = "beta is applied to the write alone, or to the erase alone";
  m.shows = "every output after the first, where beta is not 1";
  m.make = [](const CheckCase &problem, const PartList &) -> std::vector<Made> {
    if (!is_delta_rule(problem) || !gives(problem, Tensor::beta)) return {};
    const auto made = [&problem](bool by_beta) {
      return [&problem, by_beta] { return forward_results(problem, with_values_scaled(problem, by_beta)); };
    };
    return {{"beta is applied to the write, not to the erase", made(true), nullptr},
            {"beta is applied to the erase, not to the write", made(false), nullptr}};
  };
  return m;
}

} // namespace recollect::mistakes
