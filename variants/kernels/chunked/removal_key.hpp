// SPDX-License-Identifier: Apache-2.0
// RWKV-7's rule: delta_rule.hpp's rule with separate keys. The state is read along r_t, and v_t is written along k_t.
//
//   S_t = S_{t-1} diag(lambda_t) - erase_t S_{t-1} r_t p_t^T + v_t k_t^T,   o_t = S_t q_t
#pragma once
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "variants/kernels/chunked/delta_variant.hpp"
#include "variants/kernels/common/elementwise.hpp"
#include "variants/kernels/common/rows.hpp"
#include "variants/kernels/common/unit_rows.hpp"

namespace recollect::variants {

/// The definition, for a rule with erase, lambda and keys.
template <class Real>
void recurrent_removal(const std::string &label, const Call<Real> &call, const DeltaRule<Real> &rule) {
  recurrent_rows(
      label, call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const size_t step = h.index * h.T + t, at = step * h.Dk;
        const Real *r = rule.r.data() + at, *p = rule.p.data() + at, *k = rule.keys.data() + at, v = h.v(t)[i];
        const Real removed = rule.erase(step) * dot(s, r, h.Dk);
        for (int j = 0; j < h.Dk; ++j) s[j] = h.lambda(t)[j] * s[j] - removed * p[j] + v * k[j];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> void chunked_removal(const std::string &label, Call<Real> call, const DeltaRule<Real> &rule) {
  // each pair has two weights, so long chunks take longer than single steps
  if (on_host) call.chunk = std::min(call.chunk, 16);
  delta_rule(label, call, rule);
}

} // namespace recollect::variants
