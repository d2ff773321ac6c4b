// SPDX-License-Identifier: Apache-2.0
#include "variants/kernels/regression/variational_backward.hpp"
#include "harness/device/tile/called.hpp"
#include "variants/kernels/chunked/delta_rule_backward.hpp"
#include "variants/kernels/regression/variational_directions.hpp"

namespace recollect::variants {

/// Gradient with respect to x of <d, factor x / |x|>, given unit = x / |x| and along = unit . d. 0 where x is 0.
template <class Real> KOKKOS_FUNCTION Real through_length(Real factor, Real unit, Real along, Real length, Real d) {
  return length > 0 ? factor * (d - along * unit) / length : Real(0);
}

/// Replaces da by db, and computes dn (variational_backward.hpp).
template <class Real> struct VariationalReads {
  VariationalDirections<Real> of;
  Array<Real> dp, da, dn; // dp, da: [B,H,T,F], da becomes db; dn: [B,H,T]
  KOKKOS_FUNCTION void operator()(int t, int first, int side) const {
    const int F = of.rows.F;
    const size_t row = size_t(t) * F;
    Real *const d = da.data() + row;
    if (of.rule.normalised) {
      const Real *const a = of.write.data() + row, along = row_dot(a, d, F, first, side);
      for (int j = first; j < F; j += side) d[j] = through_length(Real(1), a[j], along, of.length(t), d[j]);
    }
    const bool divides = of.rule.elu && !(of.weight(t) < Real(1e-4));
    const Real along = row_dot(dp.data() + row, of.rows.query.data() + row, F, first, side);
    if (first == 0) dn(t) = divides ? -along / of.weight(t) : Real(0);
  }
};

/// Computes the gradients of q, k and w, from the gradients of phi(q), x, u and the sums of features.
template <class Real> struct VariationalInputs {
  VariationalDirections<Real> of;
  Array<Real> dp, dx, dc, du, dn; // dp, dx, dc, du: [B,H,T,F]; dn: [B,H,T]
  Array<Real> dq, dk, dw;         // [B,H,T,F]
  KOKKOS_FUNCTION Real slope(Real x) const { return !of.rule.elu || x > 0 ? Real(1) : math::exp(x); }
  KOKKOS_FUNCTION void operator()(int t, int first, int side) const {
    const VariationalRule<Real> rule = of.rule;
    const int F = of.rows.F;
    const size_t row = size_t(t) * F;
    const Real *const k = of.rows.k.data() + row, *const x = of.rows.key.data() + row,
                      *const u = of.rows.penalty.data() + row;
    for (int j = first; j < F; j += side)
      dq(row + j) = slope(of.rows.q(row + j)) * (dp(row + j) + dn(t) * of.sums(row + j));
    if (rule.normalised) { // dk temporarily holds phi(k)
      for (int j = first; j < F; j += side) dk(row + j) = rule.phi(k[j]);
      const Real length = row_length(dk.data() + row, F, first, side),
                 along = row_dot(x, dx.data() + row, F, first, side);
      for (int j = first; j < F; j += side)
        dk(row + j) = slope(k[j]) * (through_length(Real(1), x[j], along, length, dx(row + j)) + dc(row + j));
    } else {
      for (int j = first; j < F; j += side) dk(row + j) = slope(k[j]) * (dx(row + j) + dc(row + j));
    }
    if (rule.u_norm == 0) {
      for (int j = first; j < F; j += side) dw(row + j) = du(row + j);
    } else {
      const Real length = row_length(of.rows.w.data() + row, F, first, side),
                 along = row_dot(u, du.data() + row, F, first, side) / rule.u_norm;
      for (int j = first; j < F; j += side)
        dw(row + j) = through_length(rule.u_norm, u[j] / rule.u_norm, along, length, du(row + j));
    }
  }
};

/// Computes the gradients of x, u, the sums of features and A. One team per head processes blocks from the last to the
/// first.
template <class Real> struct InverseAdjoint {
  VariationalInverse<Real> of;
  Array<Real> db, dn;       // db: [B,H,T,F]; dn: [B,H,T]
  Array<Real> dx, du, dc;   // [B,H,T,F]; adds to dx, writes du and dc
  Array<Real> d_state;      // in the layer's layout
  size_t state_stride;      // numbers per head in d_state
  Array<Real> block_starts; // [B,H,C,F,F] A at the starts of the blocks of a chunk
  Array<int> block_ends;    // [B,H,C] steps at which these blocks end

  struct Buffers {
    VariationalBlock<Real> block; // block.a: A_0 hb
    std::ptrdiff_t ld, ldw;
    Real *A, *end, *dA;               // [F,F] A_0, A_n, dA
    Real *db, *hu, *hb, *hy, *y, *du; // [C,F] rows db_t, hu_t, hb_t, hy_t, y_t, du_t
    // through  [C,F] A_n u_t
    // turned   [C,F] (dA + dA^T) A_n u_t
    // back     [C,F] gain dA, then gain dA^T, in carry()
    Real *through, *turned, *back;
    // Y  [C,C] db_t . z_i / d_i
    // P  [C,C] b_s . u_t
    // Q  [C,C] y_s . u_t
    Real *Y, *P, *Q;
    Real *sum; // [F] gradient of the sum of features
    KOKKOS_FUNCTION Buffers(Stack<Real> &s, int C, int F) : block(s, C, F), ld(block.ld), ldw(block.ldw) {
      for (Real **square : {&A, &end, &dA}) *square = s.take(F * ld);
      for (Real **rows : {&db, &hu, &hb, &hy, &y, &du, &through, &turned, &back}) *rows = s.take(C * ld);
      for (Real **pairs : {&Y, &P, &Q}) *pairs = s.take(C * ldw);
      sum = s.take(F);
    }
  };
  static size_t work_size(int C, int F, int refresh) {
    Stack<Real> stack;
    Buffers(stack, VariationalInverse<Real>::longest(C, refresh), F);
    return stack.used;
  }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, C = h.chunk, T = h.T, chunks = (T - 1) / C + 1, refresh = of.rule.refresh;
    const size_t square = size_t(F) * F;
    Stack<Real> stack{h.work};
    Buffers x(stack, VariationalInverse<Real>::longest(C, refresh), F);
    const std::ptrdiff_t ld = x.ld;
    Real *const given = d_state.data() + h.index * state_stride + size_t(h.Dv) * F, *const given_sum = given + square,
                *const starts = block_starts.data() + h.index * C * square;
    int *const ends = block_ends.data() + h.index * C;
    const int count =
        of.rule.counted(h.state[(size_t(h.Dv) + F + 1) * F]); // steps since the last refresh, at the start
    each_cell(team, F, F, [=](int i, int j) { x.dA[i * ld + j] = (given[i * F + j] + given[j * F + i]) / 2; });
    each(team, F, [=](int j) { x.sum[j] = given_sum[j]; });
    for (int c = chunks; c-- > 0;) {
      const int begin = c * C, end = begin + C < T ? begin + C : T;
      team.barrier();
      tile::copy<Real>(team, F, F, of.starts.data() + (h.index * chunks + c) * square, F, x.A, ld);
      int blocks = 0, since = refresh > 0 ? (count + begin) % refresh : 0;
      for (int t = begin; t < end; ++blocks) {
        team.barrier();
        tile::copy<Real>(team, F, F, x.A, ld, starts + blocks * square, F);
        const int n = update(team, x, h.index * T + t, steps_until(t, T, C, refresh, since));
        since = of.rule.since(since, n);
        x.block.carry(team, of.rule.added(since), x.A);
        t += n;
        once(team, [=] { ends[blocks] = t; });
      }
      while (blocks-- > 0) {
        team.barrier();
        const int first = blocks ? ends[blocks - 1] : begin, n = ends[blocks] - first;
        tile::copy<Real>(team, F, F, starts + blocks * square, F, x.A, ld);
        const bool refreshed = refresh > 0 && (count + first + n) % refresh == 0;
        back(team, x, h.index * T + first, n, refreshed ? of.rule.eta : Real(0));
      }
    }
    team.barrier();
    each_cell(team, F, F, [=](int i, int j) { given[i * F + j] = x.dA[i * ld + j]; });
    each(team, F, [=](int j) { given_sum[j] = x.sum[j]; });
    once(team, [=] { given_sum[F] = 0; }); // the count of steps has no gradient
  }

private:
  /// Computes the block that starts from x.A at step `row` and has at most `steps` steps; returns the number of its
  /// steps.
  KOKKOS_FUNCTION int update(const Team &team, Buffers &x, size_t row, int steps) const {
    const size_t at = row * of.rows.F;
    return x.block.update(team, of.rows.penalty.data() + at, of.rows.key.data() + at, steps, x.A);
  }
  /// C = the lower triangle of A B^T, zeros above. Barriers inside and at the end.
  KOKKOS_FUNCTION static void pairs(const Team &team, int n, int F, const Real *A, const Real *B, std::ptrdiff_t ld,
                                    Real *C, std::ptrdiff_t ldc) {
    tile::called::gemm_to_lower(team, n, F, Real(1), tile::rows(A, ld), tile::rows(B, ld), C, ldc);
    team.barrier();
    keep_lower(team, n, C, ldc);
    team.barrier();
  }

  /// Backward pass of a block of n steps that starts at step `row` from x.A and ends by adding eta I to A. On entry,
  /// x.dA and x.sum hold the gradients after the block; on return, the gradients before the block.
  KOKKOS_FUNCTION void back(const Team &team, Buffers &x, size_t row, int n, Real eta) const {
    const int F = of.rows.F;
    const std::ptrdiff_t ld = x.ld, ldw = x.ldw;
    tile::copy<Real>(team, n, F, db.data() + row * F, F, x.db, ld);
    update(team, x, row, n);
    const RankOneBlock<Real> block = x.block.updates;
    Real *const u = x.block.u, *const key = x.block.x, *const b = x.block.a, *const Wx = x.block.W;
    each_cell(team, n, F, [=](int t, int j) {
      x.hu[t * ld + j] = u[t * ld + j];
      x.hb[t * ld + j] = key[t * ld + j], x.hy[t * ld + j] = x.db[t * ld + j];
    });
    tile::copy<Real>(team, F, F, x.A, ld, x.end, ld);
    team.barrier();
    block.apply(team, Real(1), x.end, ld);
    tile::called::solve_unit_lower(team, n, F, block.M, block.ldm, x.hu, ld);
    pairs(team, n, F, key, block.gain, ld, Wx, ldw);
    pairs(team, n, F, x.db, block.gain, ld, x.Y, ldw);
    tile::called::gemm_lower<Real>(team, n, F, Real(-1), Wx, ldw, tile::rows<Real>(x.hu, ld), Real(1), x.hb, ld);
    tile::called::gemm_lower<Real>(team, n, F, Real(-1), x.Y, ldw, tile::rows<Real>(x.hu, ld), Real(1), x.hy, ld);
    team.barrier();
    const auto A = tile::rows<Real>(x.A, ld), An = tile::rows<Real>(x.end, ld);
    tile::called::gemm(team, n, F, F, Real(1), tile::rows<Real>(x.hb, ld), A, Real(0), b, ld);
    tile::called::gemm(team, n, F, F, Real(1), tile::rows<Real>(x.hy, ld), A, Real(0), x.y, ld);
    tile::called::gemm(team, n, F, F, Real(1), tile::rows<Real>(u, ld), An, Real(0), x.through, ld);
    team.barrier();
    pairs(team, n, F, b, u, ld, x.P, ldw);
    pairs(team, n, F, x.y, u, ld, x.Q, ldw);
    tile::called::gemm(team, n, F, F, Real(2), tile::rows<Real>(x.through, ld), tile::rows<Real>(x.dA, ld), Real(0),
                       x.turned, ld);
    team.barrier();
    tile::called::gemm(team, n, F, F, Real(-1), tile::rows<Real>(x.turned, ld), An, Real(0), x.du, ld);
    team.barrier();
    const auto from_later = [&](const Real *pairs, const Real *rows, Real *out) {
      tile::called::gemm_lower_transposed(team, n, F, Real(-1), pairs, ldw, tile::rows(rows, ld), Real(1), out, ld);
      team.barrier();
    };
    from_later(x.P, x.y, x.du), from_later(x.Q, b, x.du);
    carry(team, x, block, n);
    Real *const dx = this->dx.data() + row * F, *const du = this->du.data() + row * F,
                *const dc = this->dc.data() + row * F;
    const Real *const dn = this->dn.data() + row, *const query = of.rows.query.data() + row * F;
    each_cell(team, n, F, [=](int t, int j) {
      dx[size_t(t) * F + j] += x.y[t * ld + j] + (t + 1 == n ? eta * x.db[t * ld + j] : Real(0));
      du[size_t(t) * F + j] = x.du[t * ld + j];
    });
    each(team, F, [=](int j) {
      constexpr int together = 8; // loads that come before the first use
      Real running = x.sum[j];
      for (int t0 = n - 1; t0 >= 0; t0 -= together) {
        Real more[together];
        RECOLLECT_UNROLL
        for (int i = 0; i < together; ++i) more[i] = t0 >= i ? dn[t0 - i] * query[size_t(t0 - i) * F + j] : Real(0);
        RECOLLECT_UNROLL
        for (int i = 0; i < together; ++i)
          if (t0 >= i) dc[size_t(t0 - i) * F + j] = running += more[i];
      }
      x.sum[j] = running;
    });
  }

  /// Replaces dA by M_n dA M_n^T + sum_s hy_s hb_s^T, symmetrised.
  KOKKOS_FUNCTION void carry(const Team &team, const Buffers &x, const RankOneBlock<Real> &block, int n) const {
    const int F = of.rows.F;
    const std::ptrdiff_t ld = x.ld;
    const auto gain = tile::rows<Real>(block.gain, ld), hu = tile::rows<Real>(x.hu, ld),
               turned = tile::transposed<Real>(x.hu, ld), between = tile::rows<Real>(x.back, ld);
    Real *const dA = x.dA;
    tile::called::gemm(team, n, F, F, Real(1), gain, tile::rows<Real>(dA, ld), Real(0), x.back, ld);
    team.barrier();
    tile::called::gemm(team, F, F, n, Real(-1), turned, between, Real(1), dA, ld);
    team.barrier();
    tile::called::gemm(team, n, F, F, Real(1), gain, tile::transposed<Real>(dA, ld), Real(0), x.back, ld);
    team.barrier();
    tile::called::gemm(team, F, F, n, Real(-1), tile::transposed<Real>(x.back, ld), hu, Real(1), dA, ld);
    team.barrier();
    tile::called::gemm(team, F, F, n, Real(1), tile::transposed<Real>(x.hy, ld), tile::rows<Real>(x.hb, ld), Real(1),
                       dA, ld);
    team.barrier();
    symmetrise(team, F, Real(1), dA, ld);
    team.barrier();
  }
};

template <class Real>
void variational_backward(const std::string &label, const BackwardCall<Real> &back, bool normalised) {
  const Call<Real> &call = back.call, &d = back.d;
  const Shape &s = call.shape;
  const size_t keys = call.k.extent(0), chunks = (s.T - 1) / call.chunk + 1, square = size_t(s.Dk) * s.Dk;
  const int rows = int(call.steps());
  const VariationalDirections<Real> of =
      variational_directions(label, call, normalised, allocate(call, s.heads() * chunks * square));

  BackwardCall<Real> inner = back;
  inner.call.q = of.rows.query;
  if (of.rule.elu) {
    inner.d.o = allocate(call, d.o.extent(0));
    each_row((label + "::divide").c_str(), rows, s.Dv, DivideRows<Real>{d.o, inner.d.o, of.weight, s.Dv});
  }
  const Array<Real> dp = allocate(call, keys), da = allocate(call, keys), dx = allocate(call, keys),
                    du = allocate(call, keys), dc = allocate(call, keys), dn = allocate(call, call.steps());
  delta_rule_vjp(label, inner, {1, of.rows.key, of.write, {}, {}, {}, {}}, {dp, da, {}, {}, {}, dx});
  each_row((label + "::reads").c_str(), rows, 4 * s.Dk, VariationalReads<Real>{of, dp, da, dn});
  each_head(label + "::inverse_adjoint", call, InverseAdjoint<Real>::work_size(call.chunk, s.Dk, of.rule.refresh),
            InverseAdjoint<Real>{{of.rule, of.rows, {}, of.starts},
                                 da,
                                 dn,
                                 dx,
                                 du,
                                 dc,
                                 d.state,
                                 call.state_shape.size(),
                                 allocate(call, s.heads() * call.chunk * square),
                                 call.arena->template take<int>(s.heads() * call.chunk)});
  each_row((label + "::inputs").c_str(), rows, 8 * s.Dk,
           VariationalInputs<Real>{of, dp, dx, dc, du, dn, d.q, d.k, d.w});
}

template void variational_backward(const std::string &, const BackwardCall<float> &, bool);
template void variational_backward(const std::string &, const BackwardCall<double> &, bool);

} // namespace recollect::variants
