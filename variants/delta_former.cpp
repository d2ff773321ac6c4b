// SPDX-License-Identifier: Apache-2.0
// DeltaFormer: the delta rule over the keys themselves, with any similarity (000 Eq 41-42).
//
//   u_t = alpha_t v_t - beta_t sum_{i<t} kappa1(k_i, w_t) u_i
//   o_t = sum_{i<=t} kappa2(k_i, q_t) u_i
//
// kappa(x, y) of z = scale x.y: linear z; round to the nearest integer, ties to even; exp(z/tau); softmax: exp(z/tau) divided by
// its sum over i < t in kappa1 and over i <= t in kappa2 (000 Eq 94-95 with the indices of Z^(1), Z^(2) corrected to
// exp(k_i.k_t) and exp(k_i.q_t)); relu max(0, z).
// Linear and linear by default: with w = k and unit keys that is DeltaNet, the one choice whose writes contract at scale = tau = 1.
// (exp has kappa(k,k) = e > 2 there and diverges, softmax over unit keys is nearly uniform, round needs coherence below 1/8.)
// State: none that is finite; every k and u is kept. Cost of token t: 4 t (Dk + Dv) flops.
// Chunked form: 000 Appendix D.3. `doubling` inverts each chunk's I + A by 000 Eq 99-100 instead of substitution: matrix
// products alone, but it loses digits where powers of A grow (repeated keys).
#include "delta_former.hpp"
#include "kernels.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const AnyKernel<Real> kappa1 = kernel_param<Real>(call.params, "kappa1"), kappa2 = kernel_param<Real>(call.params, "kappa2");
  const size_t T = call.shape.T, Dv = call.shape.Dv;
  each_head("delta_former::recurrent", call, T * (Dv + 1), KOKKOS_LAMBDA(const Team &team, const Head<Real> &h) {
    Real *u = h.work, *p = u + size_t(h.T) * h.Dv; // u [T,Dv], p [T]
    for (int t = 0; t < h.T; ++t) {
      each(team, t, [=](int i) { p[i] = kappa1(h.index, t, i, dot(h.k(i), h.w(t), h.Dk)); });
      team.team_barrier();
      if (kappa1.normalised()) soften(team, t, p);
      team.team_barrier();
      each(team, h.Dv, [=](int c) {
        Real overlap = 0;
        for (int i = 0; i < t; ++i) overlap += p[i] * u[size_t(i) * h.Dv + c];
        u[size_t(t) * h.Dv + c] = h.alpha[t] * h.v(t)[c] - h.beta[t] * overlap;
      });
      team.team_barrier();
      each(team, t + 1, [=](int i) { p[i] = kappa2(h.index, t, i, dot(h.k(i), h.q(t), h.Dk)); });
      team.team_barrier();
      if (kappa2.normalised()) soften(team, t + 1, p);
      team.team_barrier();
      each(team, h.Dv, [=](int c) {
        Real read = 0;
        for (int i = 0; i <= t; ++i) read += p[i] * u[size_t(i) * h.Dv + c];
        h.o(t)[c] = read;
      });
      team.team_barrier();
    }
  });
}

template <class Real> void by_chunks(const Call<Real> &call, Inverse inverse) {
  const std::string label = "delta_former::chunked";
  const Shape &s = call.shape;
  const Array<Real> u(Kokkos::view_alloc(Kokkos::WithoutInitializing, label + "::u"), s.heads() * s.T * s.Dv);
  with_fixed(kernel_param<Real>(call.params, "kappa1"), [&](const auto &kappa1) { write_by_chunks(label, call, kappa1, inverse, u); });
  with_fixed(kernel_param<Real>(call.params, "kappa2"), [&](const auto &kappa2) {
    attend(label + "::read", kappa2, Sees::through_self, rows_of(call.q, s, s.Dk), rows_of(call.k, s, s.Dk), rows_of(u, s, s.Dv),
           rows_of(call.o, s, s.Dv), s.heads(), call.chunk);
  });
}
template <class Real> void chunked(const Call<Real> &call) { by_chunks(call, Inverse::substitution); }
template <class Real> void doubling(const Call<Real> &call) { by_chunks(call, Inverse::doubling); }

} // namespace

Variant delta_former() {
  Variant v;
  v.family = "delta + kernel";
  v.update = "u_t = alpha_t v_t - beta_t sum_{i<t} kappa1(k_i, w_t) u_i, o_t = sum_{i<=t} kappa2(k_i, q_t) u_i";
  v.objective = "1/2 |S phi(k) - v|^2 with kappa1 = kappa2 = phi.phi, w = k, alpha = beta = 1";
  v.source = "000 Eq 41-42, 94-100";
  v.cost = "4 t (Dk + Dv) flops";
  v.params = {choice_param("kappa1", kind_names, "similarity of the erase, k_i with w_t"),
              choice_param("kappa2", kind_names, "similarity of the read, k_i with q_t"),
              real_param("scale", 1, -no_limit, no_limit, "z = scale x.y in both"),
              real_param("tau", 1, std::numeric_limits<double>::min(), no_limit, "temperature of exp and softmax")};
  v.inputs = {{"beta", false, "strength of the erase"}, {"alpha", false, "strength of the write"}, {"w", false, "key to erase at"}};
  v.forms = {{"recurrent", recurrent<float>, recurrent<double>},
             {"chunked", chunked<float>, chunked<double>},
             {"doubling", doubling<float>, doubling<double>}};
  v.state_shape = [](const Shape &, const Params &) { return StateShape{}; };
  return v;
}

} // namespace recollect::variants
