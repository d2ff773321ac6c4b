// SPDX-License-Identifier: Apache-2.0
// S_t = S_{t-1} + beta_t v_t k_t^T, or the same without beta_t: linear attention instead of the delta rule.
#include "harness/check/remake.hpp"
#include "harness/core/registry.hpp"

namespace recollect::mistakes {
namespace {

PartList added_only(const CheckCase &problem, bool with_beta) {
  const bool gated = !given_gates(problem).empty();
  const Variant &additive = find_variant(gated ? "gated_linear" : "linear");
  CheckCase other{additive, variant_params(additive), problem.given, {}};
  const size_t Dv = size_t(problem.given.shape.Dv);
  if (with_beta)
    for (size_t i = 0; i < other.given.v.size(); ++i) other.given.v[i] *= problem.given.beta[i / Dv];
  other.given.beta.clear(), other.given.w.clear();
  return as_results(other, outputs_of(other));
}

} // namespace

Mistake correction_skipped() {
  Mistake m;
  m.what = "nothing is erased: the correction S k of the delta rule is skipped";
  m.shows = "every output after the first, or with an initial state";
  m.reports = {"fla f636f5a1"};
  m.make = [](const CheckCase &problem, const PartList &) -> std::vector<Made> {
    if (!is_delta_rule(problem) || problem.variant.layout != "S [Dv,Dk]") return {};
    std::vector<Made> all{{"the correction S k is skipped: v is written as it is",
                           [&problem] { return added_only(problem, false); }, nullptr}};
    if (gives(problem, Tensor::beta))
      all.push_back({"the correction S k is skipped: beta v is written",
                     [&problem] { return added_only(problem, true); }, nullptr});
    return all;
  };
  return m;
}

} // namespace recollect::mistakes
