// SPDX-License-Identifier: Apache-2.0
// Solves the systems of all steps of a chunk together, by conjugate gradients (von Oswald et al. 2025,
// arXiv:2506.05233). The matrix H_t = sum_{i<=t} D(t,i) k_i k_i^T, with decays D, differs from step to step. But the
// products H_t d_t of all steps are the outputs of one decayed sum for the queries d_t, and take three matrix products
// per chunk.
#pragma once
#include "variants/kernels/regression/prefix_regression.hpp"
#include <limits>

namespace recollect::variants {

/// The iteration of a step stops when its residual is at rounding level, or after 4 F + 16 iterations (in exact
/// arithmetic, F are enough).
template <class Real> struct ConjugateGradients {
  Real *r;       // [C,F] residuals
  Real *d;       // [C,F] search directions
  Real *started; // [C,F] directions times D(t,0), the decay since the chunk's start; null: nothing decays
  Real *y;       // [C,F] H_t d_t
  Real *square;  // [C] |r_t|^2; 0 once the step is finished
  Real *H;       // buffer of H at the chunk's start (tile::stage())

  KOKKOS_FUNCTION void place(Stack<Real> &s, int C, int F, int decay_width) {
    const size_t rows = C * tile::pitch<Real>(F);
    r = s.take(rows), d = s.take(rows), started = decay_width ? s.take(rows) : nullptr, y = s.take(rows);
    square = s.take(C);
    H = tile::buffer(s, F, F);
  }

  /// Solves (H_t + ridge I) x_t = q_t for the n steps of `p`, and writes the rows x_t to X [n,F]. Rows of X, d, r and y
  /// are `ld` apart; W [n,n] is scratch. The caller places barriers before and after.
  RECOLLECT_IN_LINE void solve(const Team &team, const Prefixes<Real> &p, Real *X, std::ptrdiff_t ld, Real *W,
                               std::ptrdiff_t ldw) const {
    const ConjugateGradients s = *this;
    const int F = p.F;
    const Real ridge = p.ridge, epsilon = std::numeric_limits<Real>::epsilon();
    const auto q = p.q, H = tile::stage(team, F, F, p.H.data, p.H.row, s.H);
    each_row(team, p.n, [=](int t, int first, int side) {
      for (int j = first; j < F; j += side) X[t * ld + j] = 0, s.r[t * ld + j] = s.d[t * ld + j] = q(t, j);
      const Real square = row_dot(q.data + t * q.row, q.data + t * q.row, F, first, side);
      if (first == 0) s.square[t] = square;
    });
    team.barrier();
    for (int iteration = 0; iteration < 4 * F + 16; ++iteration) {
      bool done = true;
      for (int t = 0; t < p.n; ++t) done = done && square[t] == 0;
      if (done) return;
      multiply(team, p, H, ld, W, ldw);
      each_row(team, p.n, [=](int t, int first, int side) {
        const Real before = s.square[t];
        if (before == 0) return;
        Real *const x = X + t * ld, *const r = s.r + t * ld, *const d = s.d + t * ld;
        const Real *const y = s.y + t * ld, *const query = q.data + t * q.row;
        const Real step = before / (row_dot(d, y, F, first, side) + ridge * row_dot(d, d, F, first, side));
        for (int j = first; j < F; j += side) {
          x[j] += step * d[j];
          r[j] -= step * (y[j] + ridge * d[j]);
        }
        const Real left = row_dot(r, r, F, first, side), turn = left / before;
        for (int j = first; j < F; j += side) d[j] = r[j] + turn * d[j];
        const Real enough = epsilon * epsilon * row_dot(query, query, F, first, side);
        if (first == 0) s.square[t] = left > enough ? left : Real(0);
      });
      team.barrier();
    }
  }

private:
  /// y_t = H_t d_t
  RECOLLECT_IN_LINE void multiply(const Team &team, const Prefixes<Real> &p, const tile::Matrix<Real> &H,
                                  std::ptrdiff_t ld, Real *W, std::ptrdiff_t ldw) const {
    const Reads reads{p.n, 1, 1};
    p.decays.weights(team, reads, d, ld, nullptr, 0, p.k.data, p.k.row, nullptr, nullptr, W, ldw);
    if (started) {
      p.decays.from_start(team, reads, d, ld, started, ld);
      team.barrier();
    }
    tile::Product<Real> own{tile::rows<Real>(W, ldw), p.k, p.n};
    own.given = reads.staircase();
    const tile::Product<Real> before{tile::rows<Real>(started ? started : d, ld), H, p.F};
    tile::gemm(team, p.n, p.F, Real(1), before, own, Real(0), y, ld);
    team.barrier();
  }
};

} // namespace recollect::variants
