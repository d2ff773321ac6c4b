// SPDX-License-Identifier: Apache-2.0
// Solves the systems of W consecutive steps together, where W is the number of lanes of a vector. Lane l of every
// vector belongs to the l-th of these steps, so the W factorisations L D L^T run in vector arithmetic.
#include "harness/device/prefix_solve.hpp"
#include "harness/device/vectors.hpp"
#include <algorithm>

namespace recollect::tile::host {
namespace {

constexpr int side = 4; // size of the blocks held in registers
inline int padded(int F) { return (F + side - 1) / side * side; }
inline size_t packed(int i) { return size_t(i) * (i + 1) / 2; } // index at which row i of a lower triangle begins

template <class Real> struct Systems {
  static constexpr int W = lanes<Real>;
  int F, P;   // F: channels; P: channels, padded to whole blocks
  Real *M;    // lower triangles, W lanes per element: the matrices; after factorise() L, with D on the diagonal
  Real *G;    // [side,P] rows of L D of the current block
  Real *x;    // [P] right-hand sides, then solutions
  Real *H;    // [P,P'] H_t of the last step; P' is P rounded up to whole vectors
  Real *keys; // [W,P'] keys of the W steps

  Real *at(int i, int j) const { return M + (packed(i) + j) * W; }
  int row_length() const { return (P + W - 1) / W * W; }

  /// Sets `sum` to the block of M at row i0 and column j0, minus the contributions of the columns before j0.
  void reduce(int i0, int j0, Vector<Real> (&sum)[side][side]) const {

    UNROLL for (int r = 0; r < side; ++r) UNROLL for (int c = 0; c < side; ++c) sum[r][c] = load(at(i0 + r, j0 + c));
    const Real *l[side];
    for (int r = 0; r < side; ++r) l[r] = at(i0 + r, 0);
    for (int p = 0; p < j0; ++p) {
      Vector<Real> g[side];
      UNROLL for (int c = 0; c < side; ++c) g[c] = load(G + (size_t(c) * P + p) * W);
      UNROLL for (int r = 0; r < side; ++r) {
        const Vector<Real> own = load(l[r] + size_t(p) * W);
        UNROLL for (int c = 0; c < side; ++c) sum[r][c] -= own * g[c];
      }
    }
  }

  void factorise() const {
    for (int j0 = 0; j0 < P; j0 += side) {
      for (int c = 0; c < side; ++c)
        for (int p = 0; p < j0; ++p) store(load(at(j0 + c, p)) * load(at(p, p)), G + (size_t(c) * P + p) * W);
      Vector<Real> g[side][side], l[side][side], inverse[side]; // the diagonal block: rows of L D, L, 1 / D
      reduce(j0, j0, g);                                        // elements above the diagonal are not used
      UNROLL for (int r = 0; r < side; ++r) {
        UNROLL for (int c = 0; c <= r; ++c) {
          UNROLL for (int p = 0; p < c; ++p) g[r][c] -= l[c][p] * g[r][p];
          if (c < r) {
            l[r][c] = g[r][c] * inverse[c];
            store(l[r][c], at(j0 + r, j0 + c));
          }
        }
        inverse[r] = 1 / g[r][r];
        store(g[r][r], at(j0 + r, j0 + r));
      }
      for (int i = j0 + side; i < P; i += side) { // the rows below the diagonal block
        Vector<Real> sum[side][side];
        reduce(i, j0, sum);
        UNROLL for (int r = 0; r < side; ++r) {
          UNROLL for (int c = 0; c < side; ++c) UNROLL for (int p = 0; p < c; ++p) sum[r][c] -= l[c][p] * sum[r][p];
          UNROLL for (int c = 0; c < side; ++c) store(sum[r][c] * inverse[c], at(i + r, j0 + c));
        }
      }
    }
  }

  void solve() const {
    for (int i = 0; i < P; ++i) {
      Vector<Real> sum = load(x + size_t(i) * W), other = {};
      int p = 0;
      for (; p + 1 < i; p += 2) {
        sum -= load(at(i, p)) * load(x + size_t(p) * W);
        other -= load(at(i, p + 1)) * load(x + size_t(p + 1) * W);
      }
      if (p < i) sum -= load(at(i, p)) * load(x + size_t(p) * W);
      store(sum + other, x + size_t(i) * W);
    }
    for (int i = 0; i < P; ++i) store(load(x + size_t(i) * W) / load(at(i, i)), x + size_t(i) * W);
    for (int i = P - 1; i > 0; --i) {
      const Vector<Real> own = load(x + size_t(i) * W);
      for (int p = 0; p < i; ++p) store(load(x + size_t(p) * W) - load(at(i, p)) * own, x + size_t(p) * W);
    }
  }

  /// Computes the matrices of the next W steps, and advances H by W steps.
  void form(Real ridge, const Real *decay) const {
    const int length = row_length();
    for (int i = 0; i < P; ++i) {
      for (int j = 0; j <= i; j += W) {
        Vector<Real> sum = load(H + size_t(i) * length + j), square[W];
        UNROLL for (int l = 0; l < W; ++l) {
          sum = decay[l] * sum + keys[size_t(l) * length + i] * load(keys + size_t(l) * length + j);
          square[l] = sum;
        }
        store(sum, H + size_t(i) * length + j);
        transpose_registers<Real>(square);
        const int count = std::min(W, i + 1 - j);
        for (int c = 0; c < count; ++c) store(square[c], at(i, j + c));
      }
      store(load(at(i, i)) + (i < F ? ridge : Real(1)), at(i, i)); // padding channels get rows of the identity
    }
  }

  /// gather() loads rows [count,F], one per lane, into x; scatter() stores x to such rows.
  void gather(int count, const Real *from, std::ptrdiff_t ld) const {
    std::fill(x, x + size_t(P) * W, Real(0));
    for (int l = 0; l < count; ++l)
      for (int j = 0; j < F; ++j) x[size_t(j) * W + l] = from[l * ld + j];
  }
  void scatter(int count, Real *to, std::ptrdiff_t ld) const {
    for (int l = 0; l < count; ++l)
      for (int j = 0; j < F; ++j) to[l * ld + j] = x[size_t(j) * W + l];
  }
};

} // namespace

template <class Real> size_t prefix_work(int F) {
  constexpr int W = lanes<Real>;
  const size_t P = padded(F);
  const size_t length = (P + W - 1) / W * W;
  return (packed(int(P)) + P * side + P + length) * W + P * length;
}

template <class Real>
void solve_prefixes(int n, int F, Real ridge, const Real *alpha, const Real *k, std::ptrdiff_t ldk, const Real *q,
                    std::ptrdiff_t ldq, Real *H, Real *x, std::ptrdiff_t ldx, Real *work) {
  constexpr int W = lanes<Real>;
  Systems<Real> s;
  s.F = F, s.P = padded(F);
  const int length = s.row_length();
  s.M = work, s.G = s.M + packed(s.P) * W, s.x = s.G + size_t(side) * s.P * W, s.keys = s.x + size_t(s.P) * W;
  s.H = s.keys + size_t(W) * length;
  std::fill(s.keys, s.H + size_t(s.P) * length, Real(0));
  for (int i = 0; i < F; ++i) std::copy_n(H + size_t(i) * F, i + 1, s.H + size_t(i) * length);
  for (int t = 0; t < n; t += W) {
    const int count = std::min(W, n - t);
    Real decay[W];
    for (int l = 0; l < W; ++l) { // lanes past the end repeat the last step's matrix
      decay[l] = alpha && l < count ? alpha[t + l] : Real(1);
      if (l < count)
        std::copy_n(k + (t + l) * ldk, F, s.keys + size_t(l) * length);
      else
        std::fill_n(s.keys + size_t(l) * length, F, Real(0));
    }
    s.form(ridge, decay);
    s.gather(count, q + t * ldq, ldq);
    s.factorise();
    s.solve();
    s.scatter(count, x + t * ldx, ldx);
  }
  for (int i = 0; i < F; ++i) std::copy_n(s.H + size_t(i) * length, i + 1, H + size_t(i) * F);
}

#define FOR(Real)                                                                                                      \
  template size_t prefix_work<Real>(int);                                                                              \
  template void solve_prefixes(int, int, Real, const Real *, const Real *, std::ptrdiff_t, const Real *,               \
                               std::ptrdiff_t, Real *, Real *, std::ptrdiff_t, Real *);
FOR(float)
FOR(double)

} // namespace recollect::tile::host
