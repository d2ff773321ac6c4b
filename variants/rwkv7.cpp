// SPDX-License-Identifier: Apache-2.0
// RWKV-7's state: channel decays, a removal key and a separate write key (Peng et al. 2025, arXiv:2503.14456).
//
//   S_t = S_{t-1} (diag(lambda_t) - beta_t x_t x_t^T) + v_t k_t^T,   x_t = w_t / |w_t|, 0 where w_t = 0
//   o_t = S_t q_t
//
// beta is the in-context learning rate a_t, one for all channels; the replacement key is k as given; the bonus term and
// the output's normalisation are outside the memory. One token is an erasing sub-step along x_t and a plain write along
// k_t. State: Dv x Dk. Cost a token: recurrent 9 Dv Dk; chunked 10 Dv Dk + C (6 Dk + 8 Dv) flops, as matrix products.
#include "variants/kernels/arrays.hpp"
#include "variants/kernels/columns.hpp"
#include "variants/kernels/recurrent_vjp.hpp"
#include "variants/kernels/rows.hpp"
#include "variants/kernels/unit_rows.hpp"
#include "variants/kernels/wy.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const Array<Real> unit = unit_rows(call, call.w, call.shape.Dk).rows;
  recurrent_rows(
      "rwkv7::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real *k = h.k(t), *x = unit.data() + (h.index * h.T + t) * h.Dk, v = h.v(t)[i];
        const Real removed = h.beta[t] * dot(s, x, h.Dk);
        for (int j = 0; j < h.Dk; ++j) s[j] = h.lambda(t)[j] * s[j] - removed * x[j] + v * k[j];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> void chunked(Call<Real> call) {
  const Array<Real> unit = unit_rows(call, call.w, call.shape.Dk).rows;
  if (on_host) call.chunk = std::min(call.chunk, 16); // every pair weighs twice: longer chunks take longer than steps
  delta_rule("rwkv7::chunked", call, {1, unit, unit, call.beta, {}, {}, call.lambda, call.k});
}

/// With y = S_{t-1} x_t and g = dS_t x_t, after dS_t += do_t q_t^T:
///
///   dq_t = S_t^T do_t,   dv_t = dS_t k_t,   dk_t = dS_t^T v_t,   d lambda_t = diag(S_{t-1}^T dS_t)
///   d beta_t = - g . y,   dx_t = - beta_t (S_{t-1}^T g + dS_t^T y),   dS_{t-1} = dS_t diag(lambda_t) - beta_t g x_t^T
template <class Real> struct StepBack {
  int Dk, Dv;
  Array<Real> unit, d_unit;
  size_t scratch() const { return 2 * size_t(Dv); }
  KOKKOS_FUNCTION size_t at(const Head<Real> &h, int t) const { return (h.index * h.T + t) * Dk; }

  KOKKOS_FUNCTION void advance(const Team &team, const Head<Real> &h, int t, const Real *before, Real *after,
                               Real *) const {
    const Real *x = unit.data() + at(h, t);
    each(team, Dv, [=, *this](int i) {
      const Real *old = before + size_t(i) * Dk, removed = h.beta[t] * dot(old, x, Dk), v = h.v(t)[i];
      Real *s = after + size_t(i) * Dk;
      for (int j = 0; j < Dk; ++j) s[j] = h.lambda(t)[j] * old[j] - removed * x[j] + v * h.k(t)[j];
    });
  }

  KOKKOS_FUNCTION void back(const Team &team, const Head<Real> &h, int t, const Real *before, const Real *after,
                            Real *dS, const StepGradient<Real> &d, Real *y) const {
    const Real *x = unit.data() + at(h, t), *q = h.q(t), *k = h.k(t), *v = h.v(t), *lambda = h.lambda(t);
    const Real beta = h.beta[t];
    Real *g = y + Dv, *dx = d_unit.data() + at(h, t);
    const int F = Dk;
    each(team, Dv, [=](int i) {
      Real *row = dS + size_t(i) * F;
      for (int j = 0; j < F; ++j) row[j] += d.o[i] * q[j];
      y[i] = dot(before + size_t(i) * F, x, F), g[i] = dot(row, x, F), d.v[i] = dot(row, k, F);
    });
    each(team, F, [=](int j) { d.q[j] = d.k[j] = dx[j] = d.lambda[j] = 0; });
    team.barrier();
    down_columns(team, Dv, F, [=](int i, int j) {
      const size_t cell = size_t(i) * F + j;
      d.q[j] += d.o[i] * after[cell], d.k[j] += v[i] * dS[cell], d.lambda[j] += dS[cell] * before[cell];
      dx[j] -= beta * (g[i] * before[cell] + y[i] * dS[cell]);
    });
    once(team, [=, *this] { *d.beta = -dot(g, y, Dv); });
    team.barrier();
    each_cell(team, Dv, F, [=](int i, int j) {
      const size_t cell = size_t(i) * F + j;
      dS[cell] = lambda[j] * dS[cell] - beta * g[i] * x[j];
    });
  }
};

template <class Real> void backward(const Pullback<Real> &back) {
  const Call<Real> &call = back.call;
  const UnitRows<Real> unit = unit_rows(call, call.w, call.shape.Dk),
                       d{allocate(call, call.w.extent(0)), filled(call, call.steps(), Real(0))};
  recurrent_vjp("rwkv7::backward", back, StepBack<Real>{call.shape.Dk, call.shape.Dv, unit.rows, d.rows});
  unit_rows_vjp(unit, d, back.d.w);
}

} // namespace

Variant rwkv7() {
  Variant v;
  v.family = "delta rule";
  v.update = "A_t = diag(lambda_t) - beta_t x_t x_t^T with x_t = w_t / |w_t|, b_t = v_t, phi = identity";
  v.source = "Peng et al. 2025 (arXiv:2503.14456); reductions by 003 Eq 38-41";
  v.cost = 9 * cost::Dv * cost::Dk;
  v.inputs = {{"beta", true, "in-context learning rate: how much is removed along w"},
              {"lambda", false, "decay of every channel"},
              {"w", false, "removal key, normalised here"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }), {"chunked", chunked<float>, chunked<double>}};
  v.forms.back().vjp = {backward<float>, backward<double>};
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::last;
  return v;
}

} // namespace recollect::variants
