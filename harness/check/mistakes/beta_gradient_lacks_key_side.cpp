// SPDX-License-Identifier: Apache-2.0
// The kernel returns dbeta = dv . v / beta: the part that comes through the write of beta v, without the part that
// comes through the erase.
#include "harness/check/remake.hpp"

namespace recollect::mistakes {

Mistake beta_gradient_lacks_key_side() {
  Mistake m;
  m.what = "dbeta lacks the part that comes through the erase";
  m.shows = "dbeta after the first step, or with an initial state";
  m.reports = {"fla #862", "fla #863"};
  m.make = [](const CheckCase &problem, const PartList &right) -> std::vector<Made> {
    const std::string &layer = problem.variant.name;
    const bool joint = layer == "delta_net" || layer == "gated_delta_net" || layer == "kda";
    const Part *dv = find_part(right, "dv");
    if (!joint || !dv) return {};
    return {{"dbeta lacks the part that comes through the erase", nullptr, [&problem, &right, dv] {
               return changed(right, {"dbeta"}, [&](Part &part) {
                 for (size_t t = 0; t < part.values.size(); ++t) {
                   const double beta = problem.given.beta[t];
                   if (beta == 0) continue; // without a write there is no gradient to divide
                   part.values[t] = 0;
                   for (size_t i = t * dv->columns; i < (t + 1) * dv->columns; ++i)
                     part.values[t] += dv->values[i] * problem.given.v[i] / beta;
                 }
               });
             }}};
  };
  return m;
}

} // namespace recollect::mistakes
