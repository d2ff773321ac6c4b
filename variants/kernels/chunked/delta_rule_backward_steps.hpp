// SPDX-License-Identifier: Apache-2.0
// Gradients of delta_rule.hpp's rule with a decay per channel and one sub-step per token. A segment runs step by step,
// and the segments of a head run in parallel (segments_backward.hpp). With e_t the error of the step, y_t = S_{t-1}
// r_t, and g_t = dS_t p_t after dS_t += do_t q_t^T:
//
//   dq_t = S_t^T do_t,   d lambda_t = diag(S_{t-1}^T dS_t),   dp_t = dS_t^T e_t,   dr_t = - erase_t S_{t-1}^T g_t
//   dv_t = write_t g_t,   d write_t = g_t . v_t,   d erase_t = - g_t . y_t
//   dS_{t-1} = dS_t diag(lambda_t) - erase_t g_t r_t^T
//
// and if v_t has a separate key k_t: dv_t = dS_t k_t, dk_t = dS_t^T v_t.
#pragma once
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "variants/kernels/common/columns.hpp"
#include "variants/kernels/common/segments_backward.hpp"
#include <algorithm>

namespace recollect::variants {

/// The rule at one step of a head.
template <class Real> struct RuleStep {
  const Real *r, *p, *k; // [Dk]; k null: no separate write key
  const Real *lambda;    // [Dk]
  Real erase, write;     // write is 0 where v has a separate key

  KOKKOS_FUNCTION RuleStep(const DeltaRule<Real> &in, const Head<Real> &h, int t)
      : r(in.r.data() + at(h, t) * h.Dk), p(in.p.data() + at(h, t) * h.Dk),
        k(in.keys.extent(0) ? in.keys.data() + at(h, t) * h.Dk : nullptr), lambda(h.lambda(t)),
        erase(in.erase.extent(0) ? in.erase[at(h, t)] : Real(1)), write(k                    ? Real(0)
                                                                        : in.write.extent(0) ? in.write[at(h, t)]
                                                                                             : Real(1)) {}
  KOKKOS_FUNCTION static size_t at(const Head<Real> &h, int t) { return h.index * h.T + t; }
};

template <class Real> struct RuleStepBack {
  DeltaRule<Real> in;
  DeltaRuleGradient<Real> d;
  int Dv;
  KOKKOS_FUNCTION size_t scratch() const { return 3 * size_t(Dv); }

  KOKKOS_FUNCTION void advance(const Team &team, const Head<Real> &h, int t, const Real *before, Real *after,
                               Real *) const {
    const RuleStep<Real> x(in, h, t);
    const int F = h.Dk;
    each(team, Dv, [=](int i) {
      const Real *old = before + size_t(i) * F, v = h.v(t)[i], e = x.write * v - x.erase * dot(old, x.r, F);
      Real *s = after + size_t(i) * F;
      for (int j = 0; j < F; ++j) s[j] = x.lambda[j] * old[j] + e * x.p[j];
      if (x.k)
        for (int j = 0; j < F; ++j) s[j] += v * x.k[j];
    });
  }

  KOKKOS_FUNCTION void back(const Team &team, const Head<Real> &h, int t, const Real *before, const Real *after,
                            Real *dS, const StepGradient<Real> &given, Real *y) const {
    const RuleStep<Real> x(in, h, t);
    const Real *q = h.q(t), *v = h.v(t), *d_o = given.o;
    Real *const g = y + Dv, *const e = g + Dv, *const dv = given.v;
    const int F = h.Dk;
    each(team, Dv, [=](int i) {
      Real *row = dS + size_t(i) * F;
      for (int j = 0; j < F; ++j) row[j] += d_o[i] * q[j];
      y[i] = dot(before + size_t(i) * F, x.r, F), g[i] = dot(row, x.p, F), e[i] = x.write * v[i] - x.erase * y[i];
      dv[i] = x.k ? dot(row, x.k, F) : x.write * g[i];
    });
    team.barrier();
    const size_t step = RuleStep<Real>::at(h, t);
    Real *const dr = place(d.r, step * F), *const dk = x.k ? place(d.keys, step * F) : nullptr;
    const bool one_key = !dr;
    column_sums(team, Dv, F,
                Kokkos::Array<Real *, 5>{place(d.q, step * F), place(d.lambda, step * F), place(d.p, step * F), dr, dk},
                [=](int i, int j) {
                  const size_t cell = size_t(i) * F + j;
                  const Real old = before[cell], dS_ij = dS[cell], read = -x.erase * g[i] * old;
                  return Kokkos::Array<Real, 5>{d_o[i] * after[cell], dS_ij * old,
                                                dS_ij * e[i] + (one_key ? read : Real(0)), read, v[i] * dS_ij};
                });
    once(team, [=, *this] {
      if (Real *own = place(d.erase, step)) *own = -dot(g, y, Dv);
      if (Real *own = place(d.write, step)) *own = dot(g, v, Dv);
    });
    team.barrier();
    each_cell(team, Dv, F, [=](int i, int j) {
      const size_t cell = size_t(i) * F + j;
      dS[cell] = x.lambda[j] * dS[cell] - x.erase * g[i] * x.r[j];
    });
  }

private:
  KOKKOS_FUNCTION static Real *place(const Array<Real> &array, size_t first) {
    return array.extent(0) ? array.data() + first : nullptr;
  }
};

/// Over a segment, the backward pass multiplies every row of dS by the same matrix `across`: dS_0 = end + dS_C across.
template <class Number> struct RowsState {
  using Real = Number;
  static constexpr bool elementwise = false;
  int F, V;

  struct Summary {
    Real *end, *across; // end: [V,F] contribution of the outputs' gradients; across: [F,F] the map of dS
  };
  KOKKOS_FUNCTION size_t state_size() const { return size_t(V) * F; }
  int parts() const { return (V - 1) / 8 + 1; }
  KOKKOS_FUNCTION Summary summary(Stack<Real> &s) const { return {s.take(state_size()), s.take(size_t(F) * F)}; }

  template <class Carrying>
  RECOLLECT_IN_LINE void state_passing(const Team &team, const Chunk &, const Summary &chunk, const Part &part,
                                       const Real *before, Real *after, const Carrying &) const {
    const int begin = part.begin(V), rows = part.end(V) - begin;
    const size_t first = size_t(begin) * F;
    tile::copy<Real>(team, rows, F, chunk.end + first, F, after + first, F);
    team.barrier();
    tile::gemm(team, rows, F, F, Real(1), tile::rows(before + first, F), tile::rows<Real>(chunk.across, F), Real(1),
               after + first, F);
  }
};

/// Applies dS_{t-1} = (dS_t + do_t q_t^T) (diag(lambda_t) - erase_t p_t r_t^T) to the rows of dS. The same map without
/// do_t q_t^T is applied to the rows of the identity, which become the map across the segment.
template <class Real> struct RulePass {
  DeltaRule<Real> in;
  RECOLLECT_IN_LINE void operator()(const Team &team, const Head<Real> &h, const Chunk &c, const Real *d_o,
                                    const typename RowsState<Real>::Summary &out) const {
    const int F = h.Dk, V = h.Dv;
    each_row(team, V + F, [=, *this](int r, int first, int side) { // each element stays with one thread
      Real *const row = r < V ? out.end + size_t(r) * F : out.across + size_t(r - V) * F;
      for (int j = first; j < F; j += side) row[j] = r - V == j ? 1 : 0;
      for (int t = c.first + c.n - 1; t >= c.first; --t)
        step(h, t, r < V ? d_o[size_t(t) * V + r] : Real(0), row, first, side);
    });
  }
  void carry(const Head<Real> &h, const Chunk &c, const Real *d_o, int i, Real *dS) const {
    for (int t = c.first + c.n - 1; t >= c.first; --t) step(h, t, d_o[size_t(t) * h.Dv + i], dS, 0, 1);
  }

private:
  KOKKOS_FUNCTION void step(const Head<Real> &h, int t, Real given, Real *row, int first, int side) const {
    const int F = h.Dk;
    const RuleStep<Real> x(in, h, t);
    const Real *q = h.q(t);
    for (int j = first; j < F; j += side) row[j] += given * q[j];
    const Real removed = x.erase * row_dot(row, x.p, F, first, side);
    for (int j = first; j < F; j += side) row[j] = x.lambda[j] * row[j] - removed * x.r[j];
  }
};

template <class Real>
void delta_rule_vjp_by_steps(const std::string &label, const BackwardCall<Real> &back, const DeltaRule<Real> &in,
                             const DeltaRuleGradient<Real> &d) {
  Call<Real> call = back.call;
  call.chunk = std::min(call.chunk, longest_segment);
  const int F = call.shape.Dk, V = call.shape.Dv;
  segments_vjp(label, call, back, RowsState<Real>{F, V}, RulePass<Real>{in}, RuleStepBack<Real>{in, d, V},
               delta_rule_chunk_states(label + "::chunk_states", call, in));
}

} // namespace recollect::variants
