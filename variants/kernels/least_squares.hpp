// SPDX-License-Identifier: Apache-2.0
// Recursive least squares with geometric forgetting (003 Vignettes 1 and 2): the state is the solution S and the
// inverse Gram matrix P, started at S = 0, P = I / ridge.
//
//   z = P_{t-1} k_t,  d = alpha_t + k_t . z,   S_t = S_{t-1} + (v_t - S_{t-1} k_t) z^T / d,   P_t = (P_{t-1} - z z^T /
//   d) / alpha_t
//
// Block form (Woodbury): with D_t the product of a block's alphas, D_t P_t follows the same recursion with noise D_t
// and no division, RankOneBlock; its factor L also turns V - K S_0^T into the residuals e_t = v_t - S_{t-1} k_t, and
//
//   o_t = S_0 q_t + sum_{i<=t} (q_t . z_i / d_i) e_i
//
// A block ends early once D_t is below 1/16: dividing by it at the end costs at most that factor and one alpha in
// rounding.
#pragma once
#include "harness/numerics/element_response.hpp"
#include "variants/kernels/regression.hpp"
#include <algorithm>

namespace recollect::variants {

template <class Real> struct LeastSquaresRecurrent {
  bool forgets; // by alpha
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, Dv = h.Dv;
    Real *S = h.state, *P = S + size_t(Dv) * F, *z = h.work;
    for (int t = 0; t < h.T; ++t) {
      const Real *k = h.k(t), *q = h.q(t), *v = h.v(t), alpha = forgets ? h.alpha[t] : Real(1);
      Real *o = h.o(t);
      team.barrier();
      each(team, F, [=](int i) { z[i] = dot(P + size_t(i) * F, k, F); });
      team.barrier();
      const Real d = alpha + dot(k, z, F);
      each(team, Dv, [=](int i) {
        Real *s = S + size_t(i) * F;
        const Real step = (v[i] - dot(s, k, F)) / d;
        for (int j = 0; j < F; ++j) s[j] += step * z[j];
        o[i] = dot(s, q, F);
      });
      each(team, F, [=](int i) {
        for (int j = 0; j < F; ++j) P[size_t(i) * F + j] = (P[size_t(i) * F + j] - z[i] * z[j] / d) / alpha;
      });
    }
  }
};

/// The outputs of a block of steps from S_0 and P_0, and S after them.
template <class Real> struct LeastSquaresBlock {
  RankOneBlock<Real> updates;
  std::ptrdiff_t lda, lde;
  Real *A; // [C,C] q_t . z_i / d_i for i <= t
  Real *E; // [C,Dv] e_t

  KOKKOS_FUNCTION void place(Stack<Real> &s, int C, int F, int Dv) {
    updates.place(s, C, F);
    lda = tile::pitch<Real>(C), lde = tile::pitch<Real>(Dv);
    A = s.take(C * lda), E = s.take(C * lde);
  }

  /// Steps t0 ... t0 + n - 1, n at most `steps`: writes their o, turns ST [F,Dv] (S_0 transposed) into S_n, returns n.
  KOKKOS_FUNCTION int run(const Team &team, const Head<Real> &h, int t0, int steps, const Real *noise, const Real *P,
                          std::ptrdiff_t ldp, Real *ST, std::ptrdiff_t lds) {
    const int F = h.Dk, Dv = h.Dv;
    const auto k = tile::rows(h.k(t0), F), q = tile::rows(h.q(t0), F);
    updates.noise = noise;
    updates.compute(team, steps, k, P, ldp);
    const int n = updates.n;
    const std::ptrdiff_t lda = this->lda, lde = this->lde;
    Real *o = h.o(t0), *A = this->A, *E = this->E;
    const tile::Matrix<Real> S = tile::rows<Real>(ST, lds), gain = tile::rows<Real>(updates.gain, updates.ld);
    tile::copy(team, n, Dv, h.v(t0), Dv, E, lde);
    team.barrier();
    tile::gemm(team, n, Dv, F, Real(-1), k, S, Real(1), E, lde);
    tile::gemm(team, n, Dv, F, Real(1), q, S, Real(0), o, Dv);
    tile::gemm(team, n, n, F, Real(1), q, tile::transposed(gain.data, gain.row), Real(0), A, lda);
    team.barrier();
    tile::solve_unit_lower(team, n, Dv, updates.M, updates.ldm, E, lde);
    keep_lower(team, n, A, lda);
    team.barrier();
    const tile::Product<Real> own{tile::rows<Real>(A, lda), tile::rows<Real>(E, lde), n, {1, 1}};
    tile::gemm(team, n, Dv, Real(1), own, {}, Real(1), o, Dv);
    tile::gemm(team, F, Dv, n, Real(1), tile::transposed(gain.data, gain.row), tile::rows<Real>(E, lde), Real(1), ST,
               lds);
    team.barrier();
    return n;
  }
};

/// D[t] of the steps at hand, at most `most`, and how many they are; the block may end before the last of them. No
/// alpha means 1. Barriers around.
template <class Real> KOKKOS_FUNCTION int block_products(const Team &team, const Real *alpha, int most, Real *D) {
  int steps = 0;
  for (Real product = 1; steps < most && product >= Real(1) / 16; ++steps)
    if (alpha) product *= alpha[steps];
  team.barrier();
  once(team, [=] {
    for (int t = 0; t < steps; ++t) D[t] = (t ? D[t - 1] : Real(1)) * (alpha ? alpha[t] : Real(1));
  });
  team.barrier();
  return steps;
}

template <class Real> struct LeastSquaresChunked {
  bool forgets;

  struct Room {
    LeastSquaresBlock<Real> block;
    std::ptrdiff_t lds, ldp;
    Real *ST, *P, *D; // [F,Dv] transposed S; [F,F]; [C] products of alphas
    KOKKOS_FUNCTION Room(Stack<Real> &s, int C, int F, int Dv) : lds(tile::pitch<Real>(Dv)), ldp(tile::pitch<Real>(F)) {
      block.place(s, C, F, Dv);
      ST = s.take(F * lds), P = s.take(F * ldp), D = s.take(C);
    }
  };
  static size_t work_size(int C, int F, int Dv) {
    Stack<Real> stack;
    Room(stack, C, F, Dv);
    return stack.used;
  }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, Dv = h.Dv, C = h.chunk;
    Stack<Real> stack{h.work};
    Room x(stack, C, F, Dv);
    Real *const D = x.D, *const P = h.state + size_t(Dv) * F;
    tile::transpose(team, Dv, F, h.state, F, x.ST, x.lds);
    tile::copy(team, F, F, P, F, x.P, x.ldp);

    for (int t0 = 0, n = 0; t0 < h.T; t0 += n) {
      const int left = h.T - t0;
      const int steps = block_products(team, forgets ? h.alpha + t0 : nullptr, left < C ? left : C, D);
      n = x.block.run(team, h, t0, steps, D, x.P, x.ldp, x.ST, x.lds);
      x.block.updates.apply(team, 1 / D[n - 1], x.P, x.ldp);
    }
    tile::transpose(team, F, Dv, x.ST, x.lds, h.state, F);
    tile::copy(team, F, F, x.P, x.ldp, P, F);
  }
};

template <class Real> void least_squares_recurrent(const std::string &label, const Call<Real> &call, bool forgets) {
  each_head(label, call, call.shape.Dk, LeastSquaresRecurrent<Real>{forgets});
}
template <class Real> void least_squares_chunked(const std::string &label, const Call<Real> &call, bool forgets) {
  using Kernel = LeastSquaresChunked<Real>;
  each_head(label, call, Kernel::work_size(call.chunk, call.shape.Dk, call.shape.Dv), Kernel{forgets});
}

/// Rows of an output-value matrix [Dv,Dk] above a square matrix over key channels [Dk,Dk].
inline StateShape stacked_state(const Shape &s, const Params &) { return {s.Dv + s.Dk, s.Dk}; }

/// S = 0 above P = I / ridge.
inline std::vector<double> inverse_ridge_state(const Shape &s, double ridge) {
  std::vector<double> state(size_t(s.Dv + s.Dk) * s.Dk, 0.0);
  for (int i = 0; i < s.Dk; ++i) state[size_t(s.Dv + i) * s.Dk + i] = 1 / ridge;
  return state;
}

/// Response of the reads o_t = B_t M_t^{-1} q_t to a relative change of M_t's elements by random signs, the largest
/// over heads and prefixes in units of the largest |o|: M_t = r_t I + G_t, B_t and G_t the sums of beta v k^T and beta k
/// k^T, no beta where the layer has none, which alpha decays where `decays`, r_t the ridge, which it decays too where `ridge_decays`. Infinite where some M_t
/// is singular.
inline double gram_condition(const Sequence &s, double ridge, bool decays, bool ridge_decays, bool weighs = false) {
  const Shape &n = s.shape;
  double change = 0, scale = 0;
  for (size_t head = 0; head < n.heads(); ++head) {
    Dense G = (ridge_decays ? ridge : 0) * Dense::identity(n.Dk), B(n.Dv, n.Dk);
    const Dense constant = (ridge_decays ? 0 : ridge) * Dense::identity(n.Dk);
    for (int t = 0; t < n.T; ++t) {
      const size_t step = head * n.T + t;
      const auto row = [&](const std::vector<double> &x, int width) {
        return std::vector<double>(x.begin() + step * width, x.begin() + (step + 1) * width);
      };
      const std::vector<double> k = row(s.k, n.Dk);
      const double alpha = decays && !s.alpha.empty() ? s.alpha[step] : 1;
      const double beta = weighs && !s.beta.empty() ? s.beta[step] : 1;
      G = alpha * G + beta * outer(k, k), B = alpha * B + beta * outer(row(s.v, n.Dv), k);
      const ElementResponse read = element_response(G + constant, B, row(s.q, n.Dk));
      change = std::max(change, read.change), scale = std::max(scale, read.size);
    }
  }
  return change == 0 ? 0 : change / scale;
}

} // namespace recollect::variants
