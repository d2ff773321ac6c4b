// SPDX-License-Identifier: Apache-2.0
#include "variants/kernels/regression/normal_equations_backward.hpp"
#include "variants/kernels/chunked/gated_recurrence_algebra.hpp"
#include "variants/kernels/chunked/gated_recurrence_backward.hpp"
#include "variants/kernels/common/arrays.hpp"

namespace recollect::variants {

/// Solves the systems with matrix H_t + ridge I for all steps: x_t for the right-hand side q_t, and y_t for r_t.
template <class Number> struct PrefixSolutions : GatedRecurrenceAlgebra<Number> {
  using Real = Number;
  using Base = GatedRecurrenceAlgebra<Real>;
  using typename Base::Summary;
  Real ridge;
  Array<Real> q, r, x, y;
  struct Reading {
    Real *H, *work;
  };
  KOKKOS_FUNCTION Reading reading(Stack<Real> &s) const {
    const int F = this->in.width;
    return {s.take(size_t(F) * F), s.take(tile::prefix_work<Real>(F))};
  }
  RECOLLECT_IN_LINE void chunk_output(const Team &team, const Chunk &c, const Summary &, const Real *before,
                                      const Reading &buffers) const {
    const size_t first = (c.head * this->T + c.first) * this->in.width;
    solve_all(team, c, before, q.data() + first, x.data() + first, buffers);
    solve_all(team, c, before, r.data() + first, y.data() + first, buffers);
  }
  static constexpr bool keeps_start = true;

private:
  KOKKOS_FUNCTION void solve_all(const Team &team, const Chunk &c, const Real *before, const Real *from, Real *to,
                                 const Reading &buffers) const {
    const int F = this->in.width;
    const size_t step = c.head * this->T + c.first;
    team.barrier();
    tile::copy(team, F, F, before, F, buffers.H, F);
    team.barrier();
    tile::solve_prefixes(team, c.n, F, ridge, this->in.alpha.extent(0) ? this->in.alpha.data() + step : nullptr,
                         this->in.k.data() + step * F, F, from, F, buffers.H, to, F, buffers.work);
  }
};

/// out = [a, factor b], row by row.
template <class Real> struct SideBySide {
  int A, B;
  Array<Real> a, b, out;
  Real factor;
  KOKKOS_FUNCTION void operator()(size_t row) const {
    for (int j = 0; j < A; ++j) out(row * (A + B) + j) = a(row * A + j);
    for (int j = 0; j < B; ++j) out(row * (A + B) + A + j) = factor * b(row * B + j);
  }
};
/// a = the first A columns of each row of `both`; b += the further columns.
template <class Real> struct Apart {
  int A, B;
  Array<Real> both, a, b;
  KOKKOS_FUNCTION void operator()(size_t row) const {
    for (int j = 0; j < A; ++j) a(row * A + j) = both(row * (A + B) + j);
    for (int j = 0; j < B; ++j) b(row * B + j) += both(row * (A + B) + A + j);
  }
};
/// Copies B^T of every head from a state in which B stands above H.
template <class Real> struct TransposedTop {
  int V, F;
  Array<Real> state, out;
  KOKKOS_FUNCTION void operator()(size_t at) const {
    const size_t head = at / (size_t(V) * F), j = at / V % F, i = at % V;
    out(at) = state((head * (V + F) + i) * F + j);
  }
};
template <class Real>
void normal_equations_vjp(const std::string &label, const BackwardCall<Real> &back, bool decays,
                          const Array<Real> &weight, const Array<Real> &d_weight, const Array<Real> &weighed_keys) {
  const Call<Real> &call = back.call;
  const int F = call.shape.Dk, V = call.shape.Dv;
  const size_t steps = call.steps(), heads = call.shape.heads(), stride = call.state_shape.size();
  const Array<Real> alpha = decays ? call.alpha : Array<Real>(), keys = weight.extent(0) ? weighed_keys : call.k;

  Call<Real> turned = call; // the decayed sum of k_i v_i^T, with do_t as queries
  turned.shape.Dk = V, turned.shape.Dv = F, turned.state_shape = {F, V};
  turned.v = call.k, turned.o = allocate(call, steps * F), turned.state = allocate(call, heads * F * V);
  parallel_loop(label + "::turned", heads * F * V, TransposedTop<Real>{V, F, call.state, turned.state});
  GatedRecurrence<Real> reads{V, back.d.o, call.v, alpha, {}};
  reads.strength = weight;
  gated_recurrence(label + "::reads", turned, reads);

  const Array<Real> x = allocate(call, steps * F), y = back.d.q,
                    H(call.state.data() + size_t(V) * F, call.state.extent(0) - size_t(V) * F);
  const GatedRecurrenceAlgebra<Real> sum{
      {{F, keys, keys, alpha, {}}, call.shape.T, call.chunk, F, H, stride}, keys, {}, {}};
  run_chunks(label + "::solutions", call,
             PrefixSolutions<Real>{sum, Real(call.params.real("ridge")), call.q, turned.o, x, y});

  BackwardCall<Real> both = back;
  both.call.shape.Dv = both.d.shape.Dv = V + F;
  both.call.v = allocate(call, steps * (V + F)), both.d.o = allocate(call, steps * (V + F)),
  both.d.v = allocate(call, steps * (V + F));
  parallel_loop(label + "::values", size_t(steps), SideBySide<Real>{V, F, call.v, call.k, both.call.v, Real(1)});
  parallel_loop(label + "::asked", size_t(steps), SideBySide<Real>{V, F, back.d.o, y, both.d.o, Real(-1)});
  GatedRecurrence<Real> in{F, x, call.k, alpha, {}};
  in.strength = weight;
  GatedRecurrenceGradient<Real> d{allocate(call, steps * F), back.d.k};
  if (decays) d.alpha = back.d.alpha;
  d.strength = d_weight;
  gated_recurrence_vjp(label, both, in, d);
  parallel_loop(label + "::k", size_t(steps), Apart<Real>{V, F, both.d.v, back.d.v, back.d.k});
}

template void normal_equations_vjp(const std::string &, const BackwardCall<float> &, bool, const Array<float> &,
                                   const Array<float> &, const Array<float> &);
template void normal_equations_vjp(const std::string &, const BackwardCall<double> &, bool, const Array<double> &,
                                   const Array<double> &, const Array<double> &);

} // namespace recollect::variants
