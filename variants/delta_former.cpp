// SPDX-License-Identifier: Apache-2.0
// DeltaFormer: the delta rule over the keys themselves, with any similarity (000 Eq 41-42).
//
//   u_t = alpha_t v_t - beta_t sum_{i<t} kappa1(k_i, w_t) u_i
//   o_t = sum_{i<=t} kappa2(k_i, q_t) u_i
//
// kappa(x, y) is a function of z = scale x.y: linear is z; round is the integer nearest to z, ties to even; exp is
// exp(z/tau); softmax is exp(z/tau) divided by its sum over i < t in kappa1 and over i <= t in kappa2 (000 Eq 94-95
// with the indices of Z^(1), Z^(2) corrected to exp(k_i.k_t) and exp(k_i.q_t)); relu is max(0, z).
//
// Both similarities are linear by default. With w = k and unit keys, the layer is then DeltaNet, and its writes
// contract at scale = tau = 1. At the same scale and tau, exp has kappa(k,k) = e > 2, so the layer diverges; softmax is
// nearly uniform; and round needs keys of coherence below 1/8 (000 Theorem 1).
//
// Groups (000 Eq 111): kappa1 becomes sum_j a_j kappa1(k_i, w^j_t) with w^j = j w. If a_1 ... a_G are not given, the
// sum is fitted to z at z = -1, 0, 1, 2 (000 E.2) by least squares of minimum norm. Four groups (G = 4) of exp fit all
// four points exactly.
//
// Shared lookups (000 Eq 111 with a lookup w^h from each head, as trained in E.4): all heads use the mean 1/H sum_h
// beta^h_t kappa1(k^h_i, w^h_t) in place of beta_t kappa1(k_i, w_t). A head's beta may be negative.
//
// No finite state: every k and u is kept. Cost of token t: 4 t (Dk + Dv) flops. Chunked form: 000 Appendix D.3. In a
// chunk, u solves (I + A) u = b, where A holds beta_t kappa1(k_i, w_t) for i < t, and b the rest of the first equation.
// The form `doubling` computes the inverse by 000 Eq 99-100, without substitution. It consists of matrix products only,
// but loses digits if powers of A grow (repeated keys).
//
// Gradients take the slope of round as 1 (straight-through), as the listing of 000 does in training.
#include "variants/kernels/attention/chosen_similarities.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const std::string label = "delta_former::recurrent";
  const auto kappa1 = kernel_param<Real>(call.params, "kappa1"), kappa2 = kernel_param<Real>(call.params, "kappa2");
  if (shares_lookups(call.params))
    step_by_step(label, whole_steps(call), shared_lookups(call, kappa1), kappa2);
  else
    step_by_step(label, call, grouped(call, kappa1), kappa2);
}

template <class Real> void chunked(const Call<Real> &call) {
  by_chosen_similarities("delta_former::chunked", call, Inverse::substitution);
}
template <class Real> void doubling(const Call<Real> &call) {
  by_chosen_similarities("delta_former::doubling", call, Inverse::doubling);
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  chosen_similarities_vjp("delta_former::backward", back);
}

} // namespace

Variant delta_former() {
  Variant v = attention_variant();
  v.aliases = {"deltaformer"};
  v.family = "delta + kernel";
  v.update = "$u_t = alpha_t v_t - beta_t sum_{i<t} kappa1(k_i, w_t) u_i$, $o_t = sum_{i<=t} kappa2(k_i, q_t) u_i$";
  v.objective = "$1/2 |S phi(k) - v|^2$ with $kappa1 = kappa2 = phi.phi$, $w = k$, $alpha = beta = 1$";
  v.source = "000 Eq 41-42, 94-100, 111";
  v.cost = 4 * cost::t * (cost::Dk + cost::Dv);
  v.params = {
      choice_param("kappa1", kind_names,
                   "similarity of $k_i$ and $w_t$ in the erase; round has a straight-through gradient (slope 1)"),
      choice_param("kappa2", kind_names, "similarity of $k_i$ and $q_t$ in the read; round as in kappa1"),
      real_param("scale", 1, -no_limit, no_limit, "factor in $z = scale x . y$, the argument of both similarities"),
      real_param("tau", 1, std::numeric_limits<double>::min(), no_limit, "temperature of exp and softmax"),
      integer_param("groups", 1, 1, most_lookups, "number $G$ of lookups of the erase, at $w, 2 w, ... G w$"),
      choice_param("lookups", {"own", "shared"}, "shared: all heads erase with the mean of their $beta kappa1$")};
  for (int j = 0; j < most_lookups; ++j)
    v.params.push_back(automatic_param(weight_name(j), "fit of z on {-1,0,1,2}", -no_limit, no_limit,
                                       "weight of lookup " + std::to_string(j + 1) + " where $G > 1$"));
  v.inputs = {{"beta", false, "strength of the erase"},
              {"alpha", false, "strength of the write"},
              {"w", false, "key to erase at"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>).backward(backward<float>, backward<double>),
             fast("doubling", doubling<float>, doubling<double>).unstable()};
  v.joins_heads = shares_lookups;
  v.unsuitable = [](const Shape &, const Params &p) -> std::string {
    const bool several = p.integer("groups") > 1;
    if (several && shares_lookups(p)) return "groups above 1 and shared lookups cannot be combined";
    return several && p.text("kappa1") == "softmax" ? "groups above 1 need a kappa1 that is not normalised" : "";
  };
  v.traits.order_invariant = false;
  v.traits.repeats = Repeats::last;
  return v;
}

} // namespace recollect::variants
