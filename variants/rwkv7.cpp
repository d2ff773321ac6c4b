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
#include "variants/kernels/rows.hpp"
#include "variants/kernels/stretches_vjp.hpp"
#include "variants/kernels/unit_rows.hpp"
#include "variants/kernels/wy_vjp.hpp"

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

template <class Real> DeltaRule<Real> rule(const Call<Real> &call, const Array<Real> &unit) {
  return {1, unit, unit, call.beta, {}, {}, call.lambda, call.k};
}

template <class Real> void chunked(Call<Real> call) {
  if (on_host) call.chunk = std::min(call.chunk, 16); // every pair weighs twice: longer chunks take longer than steps
  delta_rule("rwkv7::chunked", call, rule(call, unit_rows(call, call.w, call.shape.Dk).rows));
}

/// With y = S_{t-1} x_t and g = dS_t x_t, after dS_t += do_t q_t^T:
///
///   dq_t = S_t^T do_t,   dv_t = dS_t k_t,   dk_t = dS_t^T v_t,   d lambda_t = diag(S_{t-1}^T dS_t)
///   d beta_t = - g . y,   dx_t = - beta_t (S_{t-1}^T g + dS_t^T y),   dS_{t-1} = dS_t diag(lambda_t) - beta_t g x_t^T
template <class Real> struct StepBack {
  int Dk, Dv;
  Array<Real> unit, d_unit;
  KOKKOS_FUNCTION size_t scratch() const { return 2 * size_t(Dv); }
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
    team.barrier();
    column_sums(team, Dv, F, Kokkos::Array<Real *, 4>{d.q, d.k, d.lambda, dx}, [=](int i, int j) {
      const Real old = before[size_t(i) * F + j], now = after[size_t(i) * F + j], dS_ij = dS[size_t(i) * F + j];
      return Kokkos::Array<Real, 4>{d.o[i] * now, v[i] * dS_ij, dS_ij * old, -beta * (g[i] * old + y[i] * dS_ij)};
    });
    once(team, [=, *this] { *d.beta = -dot(g, y, Dv); });
    team.barrier();
    each_cell(team, Dv, F, [=](int i, int j) {
      const size_t cell = size_t(i) * F + j;
      dS[cell] = lambda[j] * dS[cell] - beta * g[i] * x[j];
    });
  }
};

/// dS goes back across steps row by row, by the same matrix: dS_0 = end + dS_C across.
template <class Number> struct RowsState {
  using Real = Number;
  static constexpr bool elementwise = false;
  int F, V;

  struct Summary {
    Real *end, *across; // [V,F] what the stretch's do add, [F,F]
  };
  KOKKOS_FUNCTION size_t state_size() const { return size_t(V) * F; }
  int parts() const { return (V - 1) / 8 + 1; }
  KOKKOS_FUNCTION Summary summary(Stack<Real> &s) const { return {s.take(state_size()), s.take(size_t(F) * F)}; }

  template <class Carrying>
  RECOLLECT_IN_LINE void carry(const Team &team, const Chunk &, const Summary &chunk, const Part &part,
                               const Real *before, Real *after, const Carrying &) const {
    const int begin = part.begin(V), rows = part.end(V) - begin;
    const size_t first = size_t(begin) * F;
    tile::copy<Real>(team, rows, F, chunk.end + first, F, after + first, F);
    team.barrier();
    tile::gemm(team, rows, F, F, Real(1), tile::rows(before + first, F), tile::rows<Real>(chunk.across, F), Real(1),
               after + first, F);
  }
};

/// dS_{t-1} = (dS_t + do_t q_t^T) (diag(lambda_t) - beta_t x_t x_t^T), for its rows and for those of the identity.
template <class Real> struct Pass {
  Array<Real> unit;
  RECOLLECT_IN_LINE void operator()(const Team &team, const Head<Real> &h, const Chunk &c, const Real *d_o,
                                    const typename RowsState<Real>::Summary &out) const {
    const int F = h.Dk, V = h.Dv;
    const Real *keys = unit.data() + h.index * size_t(h.T) * F;
    each_row(team, V + F, [=](int r, int first, int side) { // an element stays with its thread
      Real *const row = r < V ? out.end + size_t(r) * F : out.across + size_t(r - V) * F;
      for (int j = first; j < F; j += side) row[j] = r - V == j ? 1 : 0;
      for (int t = c.first + c.n - 1; t >= c.first; --t)
        step(h, t, keys, r < V ? d_o[size_t(t) * V + r] : Real(0), row, first, side);
    });
  }
  void carry(const Head<Real> &h, const Chunk &c, const Real *d_o, int i, Real *dS) const {
    const Real *keys = unit.data() + h.index * size_t(h.T) * h.Dk;
    for (int t = c.first + c.n - 1; t >= c.first; --t) step(h, t, keys, d_o[size_t(t) * h.Dv + i], dS, 0, 1);
  }

private:
  KOKKOS_FUNCTION static void step(const Head<Real> &h, int t, const Real *keys, Real given, Real *row, int first,
                                   int side) {
    const int F = h.Dk;
    const Real *q = h.q(t), *lambda = h.lambda(t), *x = keys + size_t(t) * F;
    for (int j = first; j < F; j += side) row[j] += given * q[j];
    const Real removed = h.beta[t] * row_dot(row, x, F, first, side);
    for (int j = first; j < F; j += side) row[j] = lambda[j] * row[j] - removed * x[j];
  }
};

template <class Real> void backward(const Pullback<Real> &back) {
  Call<Real> call = back.call;
  call.chunk = std::min(call.chunk, most_stretch);
  const UnitRows<Real> unit = unit_rows(call, call.w, call.shape.Dk),
                       d{allocate(call, call.w.extent(0)), filled(call, call.steps(), Real(0))};
  const int F = call.shape.Dk, V = call.shape.Dv;
  stretches_vjp("rwkv7::backward", call, back, RowsState<Real>{F, V}, Pass<Real>{unit.rows},
                StepBack<Real>{F, V, unit.rows, d.rows},
                delta_rule_starts("rwkv7::starts", call, rule(call, unit.rows)));
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
  v.forms.back().work = on_one_thread(4.1 * cost::Dv * cost::Dk + 275 * cost::Dk);
  v.traits.zero_key_keeps = true;
  v.traits.repeats = Repeats::last;
  return v;
}

} // namespace recollect::variants
