// SPDX-License-Identifier: Apache-2.0
// Chunked form of the whole delta family, in WY (UT) form (after Yang et al. 2024, arXiv:2406.06484, 2412.06464; 000 Eq
// 96-98).
//
// A token is one or more sub-steps, each a decay, a rank-one erasure and a rank-one write:
//
//   S_t = S_{t-1} D_t + (v_t - S_{t-1} r_t) p_t^T     D_t diagonal, r_t the key that is read, p_t the direction that is
//   written
//
// With D(t,i) the product of the decays of sub-steps i+1 ... t of a chunk that starts in S_0, the residuals
// e_t = v_t - S_{t-1} r_t solve a unit lower triangular system, after which outputs and state are matrix products:
//
//   e_t + sum_{i<t} [r_t . D(t-1,i) p_i] e_i = v_t - S_0 D(t-1,0) r_t
//   o_t = S_0 D(t,0) q_t + sum_{i<=t} [q_t . D(t,i) p_i] e_i,    S_C = S_0 D(C,0) + sum_i e_i (D(C,i) p_i)^T
//
// D is built from products of factors, never from quotients or from exponentials of differences of logarithms.
#pragma once
#include "harness/device/tile.hpp"

namespace recollect::variants {

/// One sub-step's rows, to be filled: r, p [Dk], v [Dv], decay [0, 1 or Dk as declared].
template <class Real> struct WyStep { Real *r, *p, *v, *decay; };

/// The usual sub-step: r = erase k_t, p = k_t, v = write v_t.
template <class Real>
KOKKOS_FUNCTION void key_step(const Head<Real> &h, int t, Real erase, Real write, const WyStep<Real> &step) {
  for (int j = 0; j < h.Dk; ++j) {
    step.r[j] = erase * h.k(t)[j];
    step.p[j] = h.k(t)[j];
  }
  for (int i = 0; i < h.Dv; ++i) step.v[i] = write * h.v(t)[i];
}

/// Rows x_m read after tau(m) sub-steps of the chunk.
struct WyReads {
  int count, first, stride;
  KOKKOS_FUNCTION int tau(int m) const { return first + stride * m; }
  /// The first row that is read after more than `t` sub-steps.
  KOKKOS_FUNCTION int after(int t) const {
    const int m = t < first ? 0 : (t - first) / stride + 1;
    return m < count ? m : count;
  }
};

/// Decays of one chunk's n sub-steps, `width` columns a step: 0 none, 1 one scalar for all F channels, F one a channel.
template <class Real> struct WyDecays {
  static constexpr int lanes = on_host ? 64 / sizeof(Real) : 1; // channels a thread takes together
  static constexpr int sub = 16;                                // secondary chunk
  int n, F, width;
  const Real *decay;

  /// f(j0, columns) for blocks of channels.
  template <class Body> KOKKOS_FUNCTION void each_block(const Team &team, const Body &body) const {
    const int F = this->F;
    each(team, (F + lanes - 1) / lanes,
         [=](int block) { body(block * lanes, F - block * lanes < lanes ? F - block * lanes : lanes); });
  }
  KOKKOS_FUNCTION Real at(int t, int j) const { return width == 1 ? decay[t] : decay[size_t(t) * F + j]; }

  /// out_m = x_m times the decays of sub-steps begin ... tau(m)-1, rows lo <= m < hi (tau non-decreasing and > begin -
  /// 1).
  KOKKOS_FUNCTION void from(const Team &team, int begin, WyReads reads, int lo, int hi, const Real *x,
                            Real *out) const {
    const WyDecays d = *this;
    each_block(team, [=](int j0, int columns) {
      Real product[lanes];
      for (int c = 0; c < columns; ++c) product[c] = 1;
      for (int m = lo, t = begin; m < hi; ++m) {
        for (; t < reads.tau(m); ++t)
          for (int c = 0; c < columns; ++c) product[c] *= d.at(t, j0 + c);
        for (int c = 0; c < columns; ++c) out[size_t(m - lo) * d.F + j0 + c] = x[size_t(m) * d.F + j0 + c] * product[c];
      }
    });
  }

  /// out_i = p_i times the decays of sub-steps i+1 ... end-1, for i < end; with out[i * row + j * column].
  KOKKOS_FUNCTION void until(const Team &team, int end, const Real *p, Real *out, int row, int column) const {
    const WyDecays d = *this;
    each_block(team, [=](int j0, int columns) {
      Real product[lanes];
      for (int c = 0; c < columns; ++c) product[c] = 1;
      for (int i = end - 1; i >= 0; --i)
        for (int c = 0; c < columns; ++c) {
          out[size_t(i) * row + size_t(j0 + c) * column] = p[size_t(i) * d.F + j0 + c] * product[c];
          product[c] *= d.at(i, j0 + c);
        }
    });
  }

  /// W[count,n]: W(m,i) = x_m . (decays of i+1 ... tau(m)-1) p_i for i < tau(m), else 0. pT [F,n] is p transposed;
  /// scratch: kT [F,n] and xd [count,F], used where every channel has its own decay.
  KOKKOS_FUNCTION void weights(const Team &team, WyReads reads, const Real *x, const Real *p, const Real *pT, Real *kT,
                               Real *xd, Real *W) const {
    if (width > 1) return channel_weights(team, reads, x, p, kT, xd, W);
    const WyDecays d = *this;
    tile::gemm(team, reads.count, n, F, Real(1), tile::rows(x, F), tile::rows<Real>(pT, n), Real(0), W, n);
    team.barrier();
    each(team, reads.count, [=](int m) {
      const int tau = reads.tau(m);
      Real product = 1;
      for (int i = tau - 1; i >= 0 && d.width == 1; --i) {
        W[size_t(m) * d.n + i] *= product;
        product *= d.decay[i];
      }
      for (int i = tau; i < d.n; ++i) W[size_t(m) * d.n + i] = 0;
    });
  }

private:
  /// Secondary chunks: pairs inside one are weighted directly, all others by a matrix product through the chunk's
  /// start.
  KOKKOS_FUNCTION void channel_weights(const Team &team, WyReads reads, const Real *x, const Real *p, Real *kT,
                                       Real *xd, Real *W) const {
    const WyDecays d = *this;
    each(team, reads.count, [=](int m) {
      for (int i = 0; i < d.n; ++i) W[size_t(m) * d.n + i] = 0;
    });
    for (int begin = 0; begin < n; begin += sub) {
      const int end = begin + sub < n ? begin + sub : n, lo = reads.after(begin), hi = reads.after(end);
      if (lo == hi) continue;
      team.barrier();
      from(team, begin, reads, lo, hi, x, xd);
      until(team, begin, p, kT, 1, n);
      team.barrier();
      tile::gemm(team, hi - lo, begin, F, Real(1), tile::rows(xd, F), tile::rows<Real>(kT, n), Real(0), W + size_t(lo) * n, n);
      each(team, end - begin, [=](int step) {
        const int i = begin + step;
        for (int j0 = 0; j0 < d.F; j0 += lanes) {
          const int columns = d.F - j0 < lanes ? d.F - j0 : lanes;
          Real key[lanes]; // p_i decayed up to row m
          for (int c = 0; c < columns; ++c) key[c] = p[size_t(i) * d.F + j0 + c];
          for (int m = reads.after(i), t = i + 1; m < hi; ++m) {
            for (; t < reads.tau(m); ++t)
              for (int c = 0; c < columns; ++c) key[c] *= d.decay[size_t(t) * d.F + j0 + c];
            Real sum = 0;
            for (int c = 0; c < columns; ++c) sum += x[size_t(m) * d.F + j0 + c] * key[c];
            W[size_t(m) * d.n + i] += sum;
          }
        }
      });
    }
  }
};

/// Fill: fill(head, t, sub, WyStep) writes sub-step `sub` of token t. The state's first Dv rows are S [Dv,Dk].
template <class Real, class Fill> struct WyKernel {
  int steps, decay_width;
  Fill fill;

  static size_t work_size(int C, int steps, int decay_width, int F, int Dv) {
    const size_t N = size_t(C) * steps;
    return N * N + C * N + 5 * N * F + size_t(C) * F + N * Dv + size_t(F) * Dv + N * decay_width;
  }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, Dv = h.Dv, C = h.chunk, N = C * steps, steps = this->steps, width = decay_width;
    const Fill &fill = this->fill;
    Real *L = h.work;                  // [N,N] r_t . D(t-1,i) p_i
    Real *A = L + size_t(N) * N;       // [C,N] q_t . D(t,i) p_i
    Real *r = A + size_t(C) * N;       // [N,F]
    Real *p = r + size_t(N) * F;       // [N,F]
    Real *pT = p + size_t(N) * F;      // [F,N]
    Real *kT = pT + size_t(N) * F;     // [F,N] scratch, then [N,F] D(C,i) p_i
    Real *rd = kT + size_t(N) * F;     // [N,F] scratch, then D(t-1,0) r_t
    Real *qd = rd + size_t(N) * F;     // [C,F] scratch, then D(t,0) q_t
    Real *E = qd + size_t(C) * F;      // [N,Dv] v_t, then e_t
    Real *ST = E + size_t(N) * Dv;     // [F,Dv] transposed state, so that products run along Dv
    Real *decay = ST + size_t(F) * Dv; // [N,width]
    tile::transpose(team, Dv, F, h.state, F, ST, Dv);

    for (int t0 = 0; t0 < h.T; t0 += C) {
      const int tokens = h.T - t0 < C ? h.T - t0 : C, n = tokens * steps;
      const Real *q = h.q(t0);
      const WyDecays<Real> decays{n, F, width, decay};
      const WyReads erase{n, 0, 1}, read{tokens, steps, steps};
      team.barrier();
      each(team, n, [=, &h, &fill](int s) {
        const size_t row = s;
        fill(h, t0 + s / steps, s % steps, WyStep<Real>{r + row * F, p + row * F, E + row * Dv, decay + row * width});
      });
      team.barrier();
      tile::transpose(team, n, F, p, F, pT, n);
      team.barrier();
      decays.weights(team, erase, r, p, pT, kT, rd, L);
      team.barrier();
      decays.weights(team, read, q, p, pT, kT, qd, A);
      team.barrier();
      if (width) {
        decays.from(team, 0, erase, 0, n, r, rd);
        decays.from(team, 0, read, 0, tokens, q, qd);
        decays.until(team, n, p, kT, F, 1);
        team.barrier();
      }
      const Real *r0 = width ? rd : r, *q0 = width ? qd : q, *pC = width ? kT : p;
      tile::gemm(team, n, Dv, F, Real(-1), tile::rows(r0, F), tile::rows<Real>(ST, Dv), Real(1), E, Dv);
      tile::gemm(team, tokens, Dv, F, Real(1), tile::rows(q0, F), tile::rows<Real>(ST, Dv), Real(0), h.o(t0), Dv);
      team.barrier();
      tile::solve_unit_lower(team, n, Dv, L, n, E, Dv);
      if (width)
        each(team, F, [=](int j) {
          Real product = 1;
          for (int t = 0; t < n; ++t) product *= decays.at(t, j);
          for (int c = 0; c < Dv; ++c) ST[size_t(j) * Dv + c] *= product;
        });
      team.barrier();
      tile::gemm(team, tokens, Dv, n, Real(1), tile::rows(A, n), tile::rows<Real>(E, Dv), Real(1), h.o(t0), Dv);
      tile::gemm(team, F, Dv, n, Real(1), tile::transposed(pC, F), tile::rows<Real>(E, Dv), Real(1), ST, Dv);
    }
    team.barrier();
    tile::transpose(team, F, Dv, ST, Dv, h.state, F);
  }
};

/// `steps` sub-steps a token, each with `decay_width` decays (0, 1 or Dk), filled by `fill` (a KOKKOS_LAMBDA).
template <class Real, class Fill>
void wy_chunked(const std::string &label, const Call<Real> &call, int steps, int decay_width, const Fill &fill) {
  using Kernel = WyKernel<Real, Fill>;
  each_head(label, call, Kernel::work_size(call.chunk, steps, decay_width, call.shape.Dk, call.shape.Dv),
            Kernel{steps, decay_width, fill});
}

} // namespace recollect::variants
