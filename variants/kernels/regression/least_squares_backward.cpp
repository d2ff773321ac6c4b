// SPDX-License-Identifier: Apache-2.0
// The forward pass saves S and P at the chunks' starts. The backward pass repeats the forward pass of each chunk to get
// S and P at the starts of its blocks.
#include "variants/kernels/regression/least_squares_backward.hpp"
#include "harness/device/tile/transposed.hpp"
#include "variants/kernels/chunked/gate_gradient.hpp"
#include "variants/kernels/regression/least_squares_block.hpp"

namespace recollect::variants {

/// S transposed [F,V] and P [F,F], or the gradients of both.
template <class Real> struct Solution {
  Real *ST, *P;
  int F, V;
  static size_t size(int F, int V) { return size_t(F) * (V + F); }
  KOKKOS_FUNCTION static Solution at(Real *memory, int F, int V) { return {memory, memory + size_t(F) * V, F, V}; }
  /// No barrier.
  KOKKOS_FUNCTION void load(const Team &team, const Real *state) const {
    tile::transpose(team, V, F, state, F, ST, V);
    tile::copy(team, F, F, state + size_t(V) * F, F, P, F);
  }
  KOKKOS_FUNCTION void store(const Team &team, Real *state) const {
    tile::transpose(team, F, V, ST, V, state, F);
    tile::copy<Real>(team, F, F, P, F, state + size_t(V) * F, F);
  }
  KOKKOS_FUNCTION void copy(const Team &team, const Solution &from) const {
    tile::copy<Real>(team, F, V, from.ST, V, ST, V);
    tile::copy<Real>(team, F, F, from.P, F, P, F);
  }
};

/// The output gradient `o` of one head, and where to write the head's other gradients; all point to its first step.
/// alpha is null if the layer does not forget.
template <class Real> struct StepGradients {
  const Real *o;
  Real *q, *k, *v, *alpha;
};

/// Backward pass of one block, after its forward pass has been repeated.
template <class Real> struct LeastSquaresBlockBack {
  LeastSquaresBlock<Real> block;
  Real *D;            // [C] products of alphas
  Real *flipped;      // [C,C] L, reordered by tile::flip
  Real *read, *error; // [C,C] read: do_s . e_t; error: de_s . e_t
  Real *N;            // [C,C] N_st of least_squares_backward.hpp
  Real *dz;           // [C,F] rows dz_t
  Real *dd;           // [C] dd_t
  Real *added;        // [F,F] the block's contribution to dQ

  KOKKOS_FUNCTION void place(Stack<Real> &s, int C, int F, int Dv) {
    const size_t square = size_t(C) * C;
    block.place(s, C, F, Dv);
    for (Real **pairs : {&flipped, &read, &error, &N}) *pairs = s.take(square);
    dz = s.take(size_t(C) * F), dd = s.take(C), D = s.take(C), added = s.take(size_t(F) * F);
  }

  /// The block began at step t0 from `start` and ended with P_n (the argument `P`). On entry, `d` holds the gradient of
  /// the state after the block; on return, of the state before the block. d.P is dP + dP^T.
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h, int t0, const Solution<Real> &start,
                                  const Real *P, const Solution<Real> &d, const StepGradients<Real> &out) const {
    const int n = block.updates.n, F = h.Dk, V = h.Dv;
    const std::ptrdiff_t ld = n, ldz = block.updates.ld, lde = block.lde;
    const Real *q = h.q(t0), *k = h.k(t0), *d_o = out.o + size_t(t0) * V, *L = block.updates.M, *E = block.E;
    const Real *z = block.updates.z, *gain = block.updates.gain;
    Real *const both = d.P, *const added = this->added;
    Real *dq = out.q + size_t(t0) * F, *dk = out.k + size_t(t0) * F, *dE = out.v + size_t(t0) * V;
    const Real end = D[n - 1];
    const Real at_end = -reduce(
                            team, F, Real(0), [=](int i) { return dot(both + size_t(i) * F, P + size_t(i) * F, F); },
                            [](Real a, Real b) { return a + b; }) /
                        (2 * end);
    each_cell(team, F, F, [=](int i, int j) { both[size_t(i) * F + j] /= end; });
    tile::gemm(team, n, V, F, Real(1), tile::rows(gain, ldz), tile::rows<Real>(d.ST, V), Real(0), dE, V);
    tile::flip(team, n, L, block.updates.ldm, flipped, ld);
    team.barrier();
    tile::gemm_lower_transposed(team, n, V, Real(1), block.A, block.lda, tile::rows(d_o, V), Real(1), dE, V);
    team.barrier();
    tile::solve_flipped(team, n, V, flipped, ld, dE, V);
    team.barrier();
    pairs(team, n, V, d_o, E, lde, 1, read, ld);
    pairs(team, n, V, dE, E, lde, 0, error, ld);
    tile::gemm(team, n, F, V, Real(1), tile::rows(E, lde), tile::transposed<Real>(d.ST, V), Real(0), dz, F);
    tile::gemm(team, n, F, V, Real(1), tile::rows(d_o, V), tile::transposed<Real>(start.ST, V), Real(0), dq, F);
    tile::gemm(team, n, F, V, Real(-1), tile::rows<Real>(dE, V), tile::transposed<Real>(start.ST, V), Real(0), dk, F);
    team.barrier();
    tile::gemm_lower_transposed(team, n, F, Real(1), read, ld, tile::rows(q, F), Real(1), dz, F);
    team.barrier();
    tile::gemm_lower_transposed(team, n, F, Real(-1), error, ld, tile::rows(k, F), Real(1), dz, F);
    tile::gemm_lower<Real>(team, n, F, Real(1), read, ld, tile::rows(gain, ldz), Real(1), dq, F, {1, 1});
    tile::gemm_lower<Real>(team, n, F, Real(-1), error, ld, tile::rows(gain, ldz), Real(1), dk, F, {0, 1});
    team.barrier();
    rank_ones(team, n, F, L, block.updates.ldm, k, z, gain, ldz, both);
    tile::gemm_lower<Real>(team, n, F, Real(-1), N, ld, tile::rows(z, ldz), Real(1), dk, F, {0, 1});
    team.barrier();
    tile::gemm(team, n, F, F, Real(1), tile::rows<Real>(dz, F), tile::rows<Real>(start.P, F), Real(1), dk, F);
    tile::gemm(team, F, F, n, Real(1), tile::transposed<Real>(dz, F), tile::rows(k, F), Real(0), added, F);
    tile::gemm(team, F, V, n, Real(1), tile::transposed(q, F), tile::rows(d_o, V), Real(1), d.ST, V);
    team.barrier();
    tile::gemm(team, F, V, n, Real(-1), tile::transposed(k, F), tile::rows<Real>(dE, V), Real(1), d.ST, V);
    const Real *const own = dd;
    each_cell(team, n, F, [=](int t, int j) { dk[size_t(t) * F + j] += own[t] * z[t * ldz + j]; });
    each_cell(team, F, F,
              [=](int i, int j) { both[size_t(i) * F + j] += added[size_t(i) * F + j] + added[size_t(j) * F + i]; });
    if (out.alpha)
      once(team, [=, *this] {
        Real sum = at_end; // gradient with respect to D_t, through the D of this step and of all later steps
        for (int t = n - 1; t >= 0; --t) {
          sum += dd[t];
          out.alpha[t0 + t] = (t ? D[t - 1] : Real(1)) * sum;
          sum *= h.alpha[t0 + t];
        }
      });
    team.barrier();
  }

private:
  /// out_si = x_s . y_i for i < s + through, else 0. Contains a barrier.
  KOKKOS_FUNCTION static void pairs(const Team &team, int n, int width, const Real *x, const Real *y,
                                    std::ptrdiff_t ldy, int through, Real *out, std::ptrdiff_t ld) {
    tile::gemm(team, n, n, width, Real(1), tile::rows(x, width), tile::transposed(y, ldy), Real(0), out, ld);
    team.barrier();
    each_cell(team, n, n, [=](int s, int i) {
      if (i >= s + through) out[s * ld + i] = 0;
    });
  }
  /// Computes dz (which holds dg on entry), N and dd, from the last step to the first. Barriers inside and at the end.
  KOKKOS_FUNCTION void rank_ones(const Team &team, int n, int F, const Real *L, std::ptrdiff_t ldl, const Real *k,
                                 const Real *z, const Real *gain, std::ptrdiff_t ldz, const Real *both) const {
    Real *const dz = this->dz, *const dd = this->dd, *const N = this->N;
    each_row(team, n, [=](int t, int first, int side) {
      const Real along = row_dot(dz + size_t(t) * F, z + t * ldz, F, first, side);
      if (first == 0) dd[t] = along;
      for (int i = t + first; i < n; i += side) N[size_t(t) * n + i] = 0;
    });
    team.barrier();
    tile::gemm(team, n, F, F, Real(-1), tile::rows(z, ldz), tile::rows(both, F), Real(1), dz, F);
    team.barrier();
    each_row(team, n, [=](int t, int first, int side) {
      const Real d = L[t * ldl + t], along = row_dot(dz + size_t(t) * F, z + t * ldz, F, first, side);
      const Real own = -(dd[t] + along) / (2 * d * d); // along is dg . z - 2 z . dQ z
      row_barrier();
      if (first == 0) dd[t] = own;
      for (int j = first; j < F; j += side) {
        Real &x = dz[size_t(t) * F + j];
        x = x / d + (t + 1 == n ? own * k[size_t(t) * F + j] : Real(0));
      }
    });
    team.barrier();
    for (int s = n - 1; s > 0; --s) {
      const Real *own = dz + size_t(s) * F, *key = k + size_t(s) * F;
      each_row(team, s, [=](int t, int first, int side) {
        Real *const x = dz + size_t(t) * F;
        const Real l = L[s * ldl + t], product = row_dot(own, gain + t * ldz, F, first, side);
        const Real sum = dd[t] + l * product, last = t + 1 == s ? sum : Real(0);
        row_barrier();
        if (first == 0) dd[t] = sum, N[size_t(s) * n + t] = product;
        for (int j = first; j < F; j += side) x[j] += last * k[size_t(t) * F + j] - l * own[j] - product * key[j];
      });
      team.barrier();
    }
  }
};

template <class Real> struct LeastSquaresBack {
  bool forgets;
  Array<Real> d_o, d_q, d_k, d_v, d_alpha, d_state;

  static size_t work_size(const Call<Real> &call) {
    const int C = call.chunk, F = call.shape.Dk, V = call.shape.Dv, chunks = (call.shape.T - 1) / C + 1;
    Stack<Real> stack;
    LeastSquaresBlockBack<Real>{}.place(stack, C, F, V);
    return stack.used + (chunks + C + 3) * Solution<Real>::size(F, V) + C;
  }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, V = h.Dv, C = h.chunk, chunks = (h.T - 1) / C + 1;
    const size_t size = size_t(F) * (V + F), keys = h.index * h.T * F, values = h.index * h.T * V;
    LeastSquaresBlockBack<Real> back{};
    Stack<Real> stack{h.work};
    back.place(stack, C, F, V);
    Real *const starts = h.work + stack.used, *const inner = starts + (chunks + 1) * size,
                *const begins = inner + (C + 1) * size;
    const auto start = [=](int c) { return Solution<Real>::at(starts + c * size, F, V); };
    const auto within = [=](int b) { return Solution<Real>::at(inner + b * size, F, V); };
    const Solution<Real> d = Solution<Real>::at(begins + C, F, V);
    const StepGradients<Real> out{d_o.data() + values, d_q.data() + keys, d_k.data() + keys, d_v.data() + values,
                                  forgets ? d_alpha.data() + h.index * h.T : nullptr};
    start(0).load(team, h.state);
    team.barrier();
    for (int c = 0; c < chunks; ++c) {
      start(c + 1).copy(team, start(c));
      team.barrier();
      const int end = c + 1 < chunks ? (c + 1) * C : h.T;
      for (int t = c * C; t < end; t += step(team, back, h, t, end, start(c + 1))) {
      }
    }
    d.load(team, d_state.data() + h.index * size);
    team.barrier();
    symmetrise(team, F, Real(2), d.P, F);
    team.barrier();
    for (int c = chunks - 1; c >= 0; --c) {
      const int first = c * C, end = c + 1 < chunks ? first + C : h.T;
      within(0).copy(team, start(c));
      team.barrier();
      int b = 0, t = first, last = first;
      while (t < end) { // saves the starts of blocks and the states there
        within(b + 1).copy(team, within(b));
        once(team, [=] { begins[b] = Real(t - first); });
        team.barrier();
        last = t;
        t += step(team, back, h, t, end, within(++b));
      }
      for (; b > 0; --b) {
        const int begin = first + int(begins[b - 1]);
        if (begin != last) { // the results of the last block are still in memory
          const Solution<Real> again = within(b + 1);
          again.copy(team, within(b - 1));
          team.barrier();
          run(team, back, h, begin, end, again);
        }
        back(team, h, begin, within(b - 1), within(b).P, d, out);
      }
    }
    symmetrise(team, F, Real(0.5), d.P, F);
    team.barrier();
    d.store(team, d_state.data() + h.index * size);
  }

private:
  /// Forward pass of the block that begins at step t, with S from `now`; returns the number of its steps.
  KOKKOS_FUNCTION int run(const Team &team, LeastSquaresBlockBack<Real> &back, const Head<Real> &h, int t, int end,
                          const Solution<Real> &now) const {
    const int steps = block_products(team, forgets ? h.alpha + t : nullptr, end - t, back.D);
    return back.block.run(team, h, t, steps, back.D, now.P, h.Dk, now.ST, h.Dv);
  }
  /// Like run(), but also updates P.
  KOKKOS_FUNCTION int step(const Team &team, LeastSquaresBlockBack<Real> &back, const Head<Real> &h, int t, int end,
                           const Solution<Real> &now) const {
    const int n = run(team, back, h, t, end, now);
    back.block.updates.apply(team, 1 / back.D[n - 1], now.P, h.Dk);
    return n;
  }
};

template <class Real> void least_squares_vjp(const std::string &label, const BackwardCall<Real> &back, bool forgets) {
  using Kernel = LeastSquaresBack<Real>;
  each_head(label, back.call, Kernel::work_size(back.call),
            Kernel{forgets, back.d.o, back.d.q, back.d.k, back.d.v, back.d.alpha, back.d.state});
}

template void least_squares_vjp(const std::string &, const BackwardCall<float> &, bool);
template void least_squares_vjp(const std::string &, const BackwardCall<double> &, bool);

} // namespace recollect::variants
