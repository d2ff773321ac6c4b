// SPDX-License-Identifier: Apache-2.0
// 004 §3.5: which layer VLA's special cases really are.
#include "theory/support/claims.hpp"
#include "theory/variational/vla_steps.hpp"

namespace recollect::theory {
namespace {

constexpr int d = 32, pairs = 20;

Vector state_of(const std::string &variant, double beta, std::uint64_t seed, const Assignments &settings = {}) {
  Sequence s;
  s.shape = {1, 1, pairs, d, d};
  s.k = s.q = random_units(pairs, d, Stream(seed, "special cases/keys"));
  s.v = random_units(pairs, d, Stream(seed, "special cases/values"));
  s.beta.assign(pairs, beta), s.w.assign(s.k.size(), 0.0);
  const Variant &v = find_variant(variant);
  const Output out = forward(v, s, {"recurrent", Real::f64, 64, variant_params(v, settings)});
  return {out.state.begin(), out.state.begin() + d * d};
}

std::vector<Point> zero_penalty(const Protocol &p) {
  const Vector fixed = state_of("vla", 1, p.seed, {{"phi", "identity"}, {"refresh", "0"}, {"u_norm", "0"}});
  const double units = 64.0 * pairs * d;
  return {at(exact_point(fixed, state_of("linear", 1, p.seed), units), "paper", {}),
          at(exact_point(fixed, state_of("delta_net", 1, p.seed), units), "corrected", {})};
}

std::vector<Point> scalar_gate(const Protocol &p) {
  const double units = 64.0 * pairs * d;
  const auto gap = [&](double beta) {
    return exact_point(state_of("scalar_gated_delta", beta, p.seed), state_of("delta_net", beta, p.seed), units);
  };
  return {at(gap(0.7), "paper", {}), at(gap(1), "corrected", {})};
}

} // namespace

std::vector<Claim> vla_recall() {
  return {
      refuted_row(
          "vla-remark-u0-linear-attention", Scope::paper, "004 §3.5, Table 4 footnote",
          "u = 0 and A = I / lambda0 collapse VLA to linear attention.",
          "The write direction is the unit key: S_t = S_{t-1} (I - k k^T) + v k^T, the delta rule with beta = 1.",
          zero_penalty),
      refuted_row("vla-remark-recovers-deltanet", Scope::paper, "004 §3.5, Eq 4",
                  "A scalar gate in place of a_t recovers DeltaNet, S = beta S + (v - S k) k^T.",
                  "That form decays the whole state; DeltaNet is S + beta (v - S k) k^T. They agree only at beta = 1.",
                  scalar_gate)};
}

} // namespace recollect::theory
