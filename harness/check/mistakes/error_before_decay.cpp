// SPDX-License-Identifier: Apache-2.0
// The error lacks alpha: S_t = alpha S_{t-1} + beta (v - S_{t-1} w) k^T. The correct rule computes the same state with
// beta / alpha instead of beta and alpha v instead of v. w is the erase key; in the gated delta rule w = k.
#include "harness/check/remake.hpp"
#include <algorithm>

namespace recollect::mistakes {
namespace {

constexpr double least = 1e-30; // smaller alphas are raised to this, because beta is divided by alpha

} // namespace

Mistake error_before_decay() {
  Mistake m;
  m.what = "the error of the delta rule is taken against the state before it decays";
  m.shows = "every output after the first, where alpha is not 1";
  m.reports = {"fla #885"};
  m.misread = [](const CheckCase &problem) -> std::vector<Misread> {
    if (problem.variant.name != "gated_delta_net" && problem.variant.name != "comba") return {};
    const size_t Dv = size_t(problem.given.shape.Dv);
    return {{"the error v - S k is taken against the state before it decays",
             [&problem, Dv] {
               Sequence other = problem.given;
               for (double &x : other.alpha) x = std::max(x, least);
               for (size_t t = 0; t < other.beta.size(); ++t) other.beta[t] /= other.alpha[t];
               for (size_t i = 0; i < other.v.size(); ++i) other.v[i] *= other.alpha[i / Dv];
               return other;
             },
             [&problem, Dv](Sequence &gradient) {
               const Sequence &given = problem.given;
               for (size_t t = 0; t < given.beta.size(); ++t) {
                 const double alpha = std::max(given.alpha[t], least);
                 gradient.alpha[t] -= gradient.beta[t] * given.beta[t] / (alpha * alpha);
                 gradient.beta[t] /= alpha;
                 for (size_t i = t * Dv; i < (t + 1) * Dv; ++i) {
                   gradient.alpha[t] += gradient.v[i] * given.v[i];
                   gradient.v[i] *= alpha;
                 }
               }
             }}};
  };
  return m;
}

} // namespace recollect::mistakes
