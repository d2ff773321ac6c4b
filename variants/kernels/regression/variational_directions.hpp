// SPDX-License-Identifier: Apache-2.0
// The keys and write directions of variational.hpp's S do not depend on S. This file computes them for a whole
// sequence, with A in Woodbury blocks, before S is computed as a delta rule.
#pragma once
#include "harness/device/each_index.hpp"
#include "variants/kernels/chunked/gate_gradient.hpp"
#include "variants/kernels/regression/inverse_cuda.hpp"
#include "variants/kernels/regression/regression.hpp"
#include "variants/kernels/regression/variational.hpp"

namespace recollect::variants {

/// Computes phi(q_t), x_t and u_t of every step.
template <class Real> struct VariationalRows {
  VariationalRule<Real> rule;
  int F;
  Array<Real> q, k, w;             // [B,H,T,F]
  Array<Real> query, key, penalty; // [B,H,T,F] phi(q_t), x_t, u_t

  KOKKOS_FUNCTION void operator()(int t, int first, int side) const {
    const size_t row = size_t(t) * F;
    const Real *const q = this->q.data() + row, *const k = this->k.data() + row, *const w = this->w.data() + row;
    Real *const x = key.data() + row;
    for (int j = first; j < F; j += side) query(row + j) = rule.phi(q[j]), x[j] = rule.phi(k[j]);
    if (rule.normalised) {
      const Real factor = rule.inverse(row_length(x, F, first, side));
      for (int j = first; j < F; j += side) x[j] *= factor;
    }
    const Real factor = rule.u_norm > 0 ? rule.u_norm * rule.inverse(row_length(w, F, first, side)) : Real(1);
    for (int j = first; j < F; j += side) penalty(row + j) = factor * w[j];
  }
};

/// A block of updates of A, and the products A_t x_t = A_0 x_t - sum_{i<=t} (x_t . z_i) z_i / d_i.
template <class Real> struct VariationalBlock {
  RankOneBlock<Real> updates;
  std::ptrdiff_t ldw, ld;
  Real *W;         // [C,C] x_t . z_i for i <= t
  Real *x, *u, *a; // [C,F]

  KOKKOS_FUNCTION VariationalBlock(Stack<Real> &s, int C, int F) : ldw(tile::pitch<Real>(C)), ld(tile::pitch<Real>(F)) {
    updates.place(s, C, F);
    W = s.take(C * ldw), x = s.take(C * ld), u = s.take(C * ld), a = s.take(C * ld);
  }

  /// Computes the updates of a block that starts from A, for up to `steps` rows of u and x. Returns the number of steps
  /// in the block.
  KOKKOS_FUNCTION int update(const Team &team, const Real *penalties, const Real *keys, int steps, const Real *A) {
    const int F = updates.F;
    tile::copy(team, steps, F, penalties, F, u, ld);
    tile::copy(team, steps, F, keys, F, x, ld);
    team.barrier();
    updates.compute(team, steps, tile::rows<Real>(u, ld), A, ld);
    return updates.n;
  }
  /// a_t = A_t x_t; for the last step, A_t includes eta I. Barriers inside and at the end.
  KOKKOS_FUNCTION void read(const Team &team, const Real *A, Real eta) const {
    const int n = updates.n, F = updates.F;
    const std::ptrdiff_t ld = this->ld;
    tile::gemm_to_lower<Real>(team, n, F, Real(1), tile::rows<Real>(x, ld), tile::rows<Real>(updates.z, ld), W, ldw);
    tile::gemm(team, n, F, F, Real(1), tile::rows<Real>(x, ld), tile::rows(A, ld), Real(0), a, ld);
    team.barrier();
    keep_lower(team, n, W, ldw);
    team.barrier();
    tile::gemm_lower<Real>(team, n, F, Real(-1), W, ldw, tile::rows<Real>(updates.gain, ld), Real(1), a, ld);
    team.barrier();
    Real *const last = a + (n - 1) * ld;
    const Real *const key = x + (n - 1) * ld;
    each(team, F, [=](int j) { last[j] += eta * key[j]; });
    team.barrier();
  }
  /// Replaces A by its value after the block, plus eta I. Barriers inside and at the end.
  KOKKOS_FUNCTION void carry(const Team &team, Real eta, Real *A) const {
    const std::ptrdiff_t ld = this->ld;
    updates.apply(team, Real(1), A, ld);
    each(team, updates.F, [=](int j) { A[j * ld + j] += eta; });
    team.barrier();
  }
};

/// Number of steps until a block must end: at a refresh, at the end of a chunk, or at the end of the sequence. `since`:
/// steps since the last refresh.
KOKKOS_FUNCTION inline int steps_until(int t, int T, int C, int refresh, int since) {
  int steps = C - t % C;
  if (T - t < steps) steps = T - t;
  if (refresh > 0 && refresh - since < steps) steps = refresh - since;
  return steps;
}

/// Computes the sums of features up to every step, and the final one.
template <class Real> struct FeatureSums {
  VariationalRule<Real> rule;
  Array<Real> sums; // [B,H,T,F]
  bool moves;       // whether the state's sum is updated
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, T = h.T;
    const VariationalRule<Real> rule = this->rule;
    const bool moves = this->moves;
    Real *const sums = this->sums.data() + h.index * T * F, *const sum = h.state + (size_t(h.Dv) + F) * F;
    const Real *const keys = h.k(0);
    each(team, F, [=](int j) {
      constexpr int together = 16; // loads that are issued before the first use
      Real running = sum[j];
      for (int t0 = 0; t0 < T; t0 += together) {
        Real read[together];
        RECOLLECT_UNROLL
        for (int i = 0; i < together; ++i) read[i] = keys[size_t(t0 + i < T ? t0 + i : T - 1) * F + j];
        RECOLLECT_UNROLL
        for (int i = 0; i < together; ++i)
          if (t0 + i < T) sums[size_t(t0 + i) * F + j] = running += rule.phi(read[i]);
      }
      if (moves) sum[j] = running;
    });
  }
};

/// Computes b_t = A_t x_t at every step, and the final A and count.
template <class Real> struct VariationalInverse {
  VariationalRule<Real> rule;
  VariationalRows<Real> rows;
  Array<Real> b;      // [B,H,T,F]
  Array<Real> starts; // [B,H,T/C,F,F] if not empty: receives A at the chunks' starts, and the state stays unchanged

  KOKKOS_FUNCTION static int longest(int C, int refresh) { return refresh > 0 && refresh < C ? refresh : C; }
  struct Buffers {
    VariationalBlock<Real> block;
    Real *A; // [F,F] rows block.ld apart
    KOKKOS_FUNCTION Buffers(Stack<Real> &s, int C, int F) : block(s, C, F) { A = s.take(F * block.ld); }
  };
  static size_t work_size(int C, int F, int refresh) {
    Stack<Real> stack;
    Buffers(stack, longest(C, refresh), F);
    return stack.used;
  }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, C = h.chunk;
    const bool keeps = starts.extent(0);
    Real *const given = h.state + size_t(h.Dv) * F, *const count = given + size_t(F) * F + F;
    Stack<Real> stack{h.work};
    Buffers x(stack, longest(C, rule.refresh), F);
    const std::ptrdiff_t ld = x.block.ld;
    tile::copy(team, F, F, given, F, x.A, ld);
    int since = rule.counted(count[0]);
    for (int t = 0, n = 0; t < h.T; t += n) {
      const size_t row = h.index * h.T + t;
      if (keeps && t % C == 0) {
        team.barrier();
        const size_t chunk = h.index * ((h.T - 1) / C + 1) + t / C;
        tile::copy<Real>(team, F, F, x.A, ld, starts.data() + chunk * F * F, F);
      }
      n = x.block.update(team, rows.penalty.data() + row * F, rows.key.data() + row * F,
                         steps_until(t, h.T, C, rule.refresh, since), x.A);
      since = rule.since(since, n);
      const Real eta = rule.added(since);
      x.block.read(team, x.A, eta);
      tile::copy<Real>(team, n, F, x.block.a, ld, b.data() + row * F, F);
      x.block.carry(team, eta, x.A);
    }
    if (keeps) return;
    team.barrier();
    tile::copy<Real>(team, F, F, x.A, ld, given, F);
    once(team, [=, *this] { count[0] = rule.refresh > 0 ? Real(since) : Real(0); });
  }
};

/// Turns b into the directions a along which S is written; also computes the divisor of outputs where phi = elu + 1.
template <class Real> struct VariationalWrites {
  VariationalRule<Real> rule;
  int F;
  // query, sums, b [B,H,T,F], where b becomes a; length [B,H,T]: |b_t|; weight [B,H,T]: p_t . c_t.
  Array<Real> query, sums, b, length, weight;
  KOKKOS_FUNCTION void operator()(int t, int first, int side) const {
    const size_t row = size_t(t) * F;
    Real *const b = this->b.data() + row;
    const Real read = row_dot(query.data() + row, sums.data() + row, F, first, side);
    if (first == 0) weight(t) = read;
    if (!rule.normalised) return;
    const Real size = row_length(b, F, first, side), factor = rule.inverse(size);
    for (int j = first; j < F; j += side) b[j] *= factor;
    if (first == 0) length(t) = size;
  }
};

/// The directions along which S is written and read at every step of a call.
template <class Real> struct VariationalDirections {
  VariationalRule<Real> rule;
  VariationalRows<Real> rows;
  Array<Real> write, sums, length, weight; // as in VariationalWrites
  Array<Real> starts;                      // as in VariationalInverse
};

/// to = from / max(weight_t, 1e-4), row by row.
template <class Real> struct DivideRows {
  Array<Real> from, to, weight; // from, to: [B,H,T,width]; weight: [B,H,T]
  int width;
  KOKKOS_FUNCTION void operator()(int t, int first, int side) const {
    const Real factor = 1 / math::fmax(weight(t), Real(1e-4));
    for (int i = first; i < width; i += side) to(size_t(t) * width + i) = factor * from(size_t(t) * width + i);
  }
};

template <class Real>
void variational_inverse(const std::string &label, const Call<Real> &call, const VariationalDirections<Real> &d) {
  const VariationalRule<Real> &rule = d.rule;
#ifdef __CUDACC__
  using Steps = InverseInRegisters<Real, Inverse::reads>;
  if (Steps::supports(call))
    return Steps{HeadArrays<Real>(call), d.rows.penalty, d.rows.key, {}, rule.refresh, rule.eta, d.write, d.starts}
        .run_on(label, call);
#endif
  using InBlocks = VariationalInverse<Real>;
  each_head(label, call, InBlocks::work_size(call.chunk, call.shape.Dk, rule.refresh),
            InBlocks{rule, d.rows, d.write, d.starts});
}

/// Computes the directions of a call. Writes the final A, sum and count to the state, unless `starts` is given.
template <class Real>
VariationalDirections<Real> variational_directions(const std::string &label, const Call<Real> &call, bool normalised,
                                                   const Array<Real> &starts = {}) {
  const VariationalRule<Real> rule = variational_rule(label, call, normalised);
  const size_t keys = call.k.extent(0), steps = call.steps();
  const int F = call.shape.Dk;
  const VariationalRows<Real> rows{
      rule, F, call.q, call.k, call.w, allocate(call, keys), allocate(call, keys), allocate(call, keys)};
  const VariationalDirections<Real> d{
      rule, rows, allocate(call, keys), allocate(call, keys), allocate(call, steps), allocate(call, steps), starts};
  each_row((label + "::rows").c_str(), int(steps), 4 * F, rows);
  each_head(label + "::sums", call, 0, FeatureSums<Real>{rule, d.sums, starts.extent(0) == 0});
  variational_inverse(label + "::inverse", call, d);
  each_row((label + "::writes").c_str(), int(steps), 4 * F,
           VariationalWrites<Real>{rule, F, rows.query, d.sums, d.write, d.length, d.weight});
  return d;
}

} // namespace recollect::variants
