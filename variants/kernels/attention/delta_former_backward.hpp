// SPDX-License-Identifier: Apache-2.0
// Gradients of delta_former.hpp's two sums. Let p_ti = kappa1(k_i, w_t). Let du_i be the part of the gradient of u_i
// that comes from the outputs o_t, and e_i the whole gradient, which includes the part from later u_t. Then
//
//   e_i = du_i - sum_{t>i} p_ti beta_t e_t,   dv_t = alpha_t e_t,   dalpha_t = v_t . e_t,   dbeta_t = -e_t . overlap_t
//
// where overlap_t = sum_{i<t} p_ti u_i is an attention to earlier keys, with w as queries and u as values. The gradient
// of overlap_t is -beta_t e_t. From this output gradient, the attention's backward pass computes the gradient of w and
// one part of the gradient of k; the other part is from the outputs o_t. The e_i are computed from the last chunk to
// the first. Later chunks contribute to du by a matrix product; then (I + A)^T e = du is solved within the chunk, with
// A of delta_former.hpp.
#pragma once
#include "harness/device/tile/transposed.hpp"
#include "variants/kernels/attention/backward.hpp"
#include "variants/kernels/attention/delta_former.hpp"
#include "variants/kernels/common/elementwise.hpp"

namespace recollect::variants {

/// Saves overlap_t and, if kappa1 is a softmax, the log of its denominator.
template <class Real> struct Overlaps {
  Rows<Real> overlap;
  Array<Real> normaliser;
#ifdef __CUDACC__
  attention::WriteOutput<Real> on_fragments() const { return {attention::device_rows(overlap), normaliser.data()}; }
#endif
  void place(Stack<Real> &) const {}
  KOKKOS_FUNCTION void operator()(const Team &team, size_t head, Range rows, const Real *sum, std::ptrdiff_t ld,
                                  const Real *peak, const Real *mass, Stack<Real>) const {
    Divide<Real>{overlap}(team, head, rows, sum, ld, peak, mass, {});
    if (!normaliser.extent(0)) return;
    Real *const out = normaliser.data() + head * overlap.count + rows.begin;
    each(team, rows.size(), [=](int r) { out[r] = log_mass(peak[r], mass[r]); });
  }
};

/// Handles one head: replaces du by e in place, and writes -beta e.
template <class Number, class Kernel> struct SolveBack {
  using Real = Number;
  OnlineSoftmax<Real, Kernel> loop; // as in write_by_chunks(), but with e in place of u as values
  Array<Real> normaliser, beta;
  Rows<Real> asked; // -beta_t e_t

  struct Buffers {
    Real *p, *flipped; // p: [C,C] p_ti; flipped: [C,C] A, reordered by tile::flip
    Real *w, *k, *asked;
  };
  KOKKOS_FUNCTION std::ptrdiff_t ld() const { return tile::pitch<Real>(loop.most_rows); }
  KOKKOS_FUNCTION Buffers place(Stack<Real> &s) const {
    const int C = loop.most_rows;
    return {s.take(C * ld()), s.take(C * ld()), tile::buffer(s, C, loop.queries.width),
            tile::buffer(s, C, loop.keys.width), tile::buffer(s, C, asked.width)};
  }

  KOKKOS_FUNCTION void operator()(const Team &team, size_t head, Real *memory) const {
    Stack<Real> stack{memory};
    const Buffers x = place(stack);
    const int T = loop.keys.count, C = loop.most_rows, V = asked.width;
    const std::ptrdiff_t ld = this->ld();
    for (int t0 = (T - 1) / C * C; t0 >= 0; t0 -= C) {
      const Range keys{t0, t0 + C < T ? t0 + C : T};
      const int n = keys.size();
      Real *const e = loop.values.at(head, t0);
      const auto k = tile::stage(team, n, loop.keys.width, loop.keys.at(head, t0), loop.keys.width, x.k);
      for (int begin = t0 + C; begin < T; begin += C) {
        const Range rows{begin, begin + C < T ? begin + C : T};
        weigh(team, head, rows, keys, k, x);
        const auto given = tile::stage(team, rows.size(), V, asked.at(head, begin), V, x.asked);
        team.barrier();
        tile::gemm(team, n, V, rows.size(), Real(1), tile::transposed<Real>(x.p, ld), given, Real(1), e, V);
        team.barrier();
      }
      weigh(team, head, keys, keys, k, x);
      const Real *const strength = beta.data() + head * T + t0;
      each_cell(team, n, n, [=](int t, int i) { x.p[t * ld + i] *= strength[t]; });
      team.barrier();
      tile::flip(team, n, x.p, ld, x.flipped, ld);
      team.barrier();
      tile::solve_flipped(team, n, V, x.flipped, ld, e, V);
      team.barrier();
      Real *const out = asked.at(head, t0);
      each_cell(team, n, V, [=](int t, int c) { out[size_t(t) * V + c] = -strength[t] * e[size_t(t) * V + c]; });
      team.barrier();
    }
  }

private:
  /// Sets x.p to p_ti for the queries `rows` and a block of keys; 0 for i >= t. Barriers inside and at the end.
  KOKKOS_FUNCTION void weigh(const Team &team, size_t head, Range rows, Range keys, const tile::Matrix<Real> &k,
                             const Buffers &x) const {
    const int width = loop.queries.width, n = keys.size(), first = rows.begin - keys.begin;
    const std::ptrdiff_t ld = this->ld();
    const auto w = tile::stage(team, rows.size(), width, loop.queries.at(head, rows.begin), width, x.w);
    tile::Product<Real> scores{w, tile::transposed(k.data, k.row), width};
    scores.wanted = tile::Staircase{first, 1};
    team.barrier();
    tile::gemm(team, rows.size(), n, Real(1), scores, tile::Product<Real>{}, Real(0), x.p, ld);
    team.barrier();
    const Kernel kappa = loop.kernel;
    const Real *log_mass = normaliser.data() + (kappa.normalised() ? head * loop.queries.count + rows.begin : 0);
    each_cell(team, rows.size(), n, [=](int r, int j) {
      Real &p = x.p[r * ld + j];
      if (j >= first + r) {
        p = 0;
        return;
      }
      p = kappa(head, rows.begin + r, keys.begin + j, p);
      if (kappa.normalised()) p = math::exp(p - log_mass[r]);
    });
    team.barrier();
  }
};

/// Replaces du by e in place, and returns -beta e.
template <class Real, class Kernel>
Rows<Real> solve_back(const std::string &label, const Call<Real> &call, const Kernel &kernel,
                      const Array<Real> &normaliser, const Array<Real> &e) {
  const Shape &s = call.shape;
  const Rows<Real> asked = rows_of(empty_u(call), s, s.Dv);
  const SolveBack<Real, Kernel> solve{online_softmax(kernel, CausalMask::earlier, rows_of(call.w, s, s.Dk),
                                                     rows_of(call.k, s, s.Dk), rows_of(e, s, s.Dv), call.chunk),
                                      normaliser, call.beta, asked};
  Stack<Real> size;
  solve.place(size);
  run<Real>({label + "::solve", s.heads(), 256, call.math}, *call.arena, size.used, solve);
  return asked;
}

/// Computes the gradients of v and alpha at one step.
template <class Real> struct WriteGradients {
  int V;
  Array<Real> v, alpha, e;
  Array<Real> d_v, d_alpha;
  KOKKOS_FUNCTION void operator()(size_t t) const {
    const size_t at = t * V;
    d_alpha(t) = dot(v.data() + at, e.data() + at, V);
    for (int c = 0; c < V; ++c) d_v(at + c) = alpha(t) * e(at + c);
  }
};
template <class Real>
void write_gradients(const std::string &label, const BackwardCall<Real> &back, const Array<Real> &e) {
  parallel_loop(label + "::write", back.call.steps(),
                WriteGradients<Real>{back.call.shape.Dv, back.call.v, back.call.alpha, e, back.d.v, back.d.alpha});
}

/// Computes, at one step, the gradient of beta and, if kappa1 is a softmax, read_t = -beta_t e_t . overlap_t, a
/// statistic of QueryFacts.
template <class Real> struct EraseGradients {
  int V;
  Array<Real> e, asked, overlap;
  Array<Real> d_beta, read;
  KOKKOS_FUNCTION void operator()(size_t t) const {
    const size_t at = t * V;
    d_beta(t) = -dot(e.data() + at, overlap.data() + at, V);
    if (read.extent(0)) read(t) = dot(asked.data() + at, overlap.data() + at, V);
  }
};

/// Takes u, and e, which holds du on entry. Writes the gradients of v, alpha, beta and w, and adds to the gradient of
/// k.
template <class Real, class Kernel>
void write_vjp(const std::string &label, const BackwardCall<Real> &back, const Kernel &kernel, const Array<Real> &u,
               const Array<Real> &e) {
  const Call<Real> &call = back.call;
  const Shape &s = call.shape;
  const Rows<Real> w = rows_of(call.w, s, s.Dk), k = rows_of(call.k, s, s.Dk), written = rows_of(u, s, s.Dv),
                   overlap = rows_of(empty_u(call), s, s.Dv);
  const size_t kept = kernel.normalised() ? call.steps() : 0;
  const QueryFacts<Real> facts{allocate(call, kept), allocate(call, kept)};
  const auto loop = online_softmax(kernel, CausalMask::earlier, w, k, written, call.chunk);
  attend(label + "::overlap", call, loop, Overlaps<Real>{overlap, facts.normaliser});
  const Rows<Real> asked = solve_back(label, call, kernel, facts.normaliser, e);
  write_gradients(label, back, e);
  parallel_loop(label + "::erase", call.steps(),
                EraseGradients<Real>{s.Dv, e, asked.data, overlap.data, back.d.beta, facts.read});
  const BlockGradient<Real, Kernel> block{loop, asked, facts};
  const Array<Real> d_k = allocate(call, call.k.extent(0));
  // The gradient with respect to u is not needed, because e already includes it. It overwrites `overlap`.
  gradients_by_blocks(label, call, block, rows_of(back.d.w, s, s.Dk), rows_of(d_k, s, s.Dk), overlap);
  add(d_k, back.d.k);
}

} // namespace recollect::variants
