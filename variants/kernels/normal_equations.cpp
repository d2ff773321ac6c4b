// SPDX-License-Identifier: Apache-2.0
// Compiled here once, with and without decays.
#include "variants/kernels/normal_equations.hpp"
#include "variants/kernels/prefix_regression.hpp"

namespace recollect::variants {

/// All steps of a chunk iterate together; one product (H_t + ridge I) x_t for every t is three matrix products. A step
/// stops when its residual is at rounding level, or after 4 F + 16 iterations (exact arithmetic needs F).
template <class Real> struct ConjugateGradients {
  Real ridge, epsilon;
  bool decays;

  static size_t work_size(int C, int F, int Dv) {
    return size_t(2) * C * C + size_t(5) * C * F + 2 * C + size_t(F) * Dv;
  }

  struct Chunk {
    int n, F;
    const Real *k, *H;
    Real *kT;    // [F,n]
    Real *decay; // [n,n] D(t,i) for i <= t, else 0
    Real *start; // [n] D(t,0)
    Real *W;     // [n,n]
  };

  /// W_ti = D(t,i) x_t . k_i
  KOKKOS_FUNCTION void weights(const Team &team, const Chunk &c, const Real *x) const {
    tile::gemm(team, c.n, c.n, c.F, Real(1), tile::rows(x, c.F), tile::rows<Real>(c.kT, c.n), Real(0), c.W, c.n);
    team.barrier();
    each(team, c.n, [=](int t) {
      Real *row = c.W + size_t(t) * c.n;
      for (int i = 0; i < c.n; ++i) row[i] = i <= t ? row[i] * c.decay[size_t(t) * c.n + i] : Real(0);
    });
    team.barrier();
  }

  /// y_t = (H_t + ridge I) x_t
  KOKKOS_FUNCTION void apply(const Team &team, const Chunk &c, const Real *x, Real *y) const {
    const Real ridge = this->ridge;
    tile::gemm(team, c.n, c.F, c.F, Real(1), tile::rows(x, c.F), tile::rows<Real>(c.H, c.F), Real(0), y, c.F);
    weights(team, c, x);
    each(team, c.n, [=](int t) {
      const size_t row = size_t(t) * c.F;
      for (int j = 0; j < c.F; ++j) y[row + j] = c.start[t] * y[row + j] + ridge * x[row + j];
    });
    team.barrier();
    const tile::Product<Real> own{tile::rows(c.W, c.n), tile::rows<Real>(c.k, c.F), c.n, {1, 1}};
    tile::gemm(team, c.n, c.F, Real(1), own, {}, Real(1), y, c.F);
    team.barrier();
  }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, Dv = h.Dv, C = h.chunk;
    const Real epsilon = this->epsilon;
    Real *B = h.state, *H = B + size_t(Dv) * F;
    Chunk c{0, F, nullptr, H, h.work, nullptr, nullptr, nullptr};
    c.decay = c.kT + size_t(F) * C, c.W = c.decay + size_t(C) * C, c.start = c.W + size_t(C) * C;
    Real *square = c.start + C;   // [C] |r_t|^2, 0 once the step is done
    Real *x = square + C;         // [C,F] solutions
    Real *r = x + size_t(C) * F;  // [C,F] residuals
    Real *d = r + size_t(C) * F;  // [C,F] search directions
    Real *y = d + size_t(C) * F;  // [C,F] (H_t + ridge I) d_t
    Real *BT = y + size_t(C) * F; // [F,Dv] transposed B
    tile::transpose(team, Dv, F, B, F, BT, Dv);

    for (int t0 = 0; t0 < h.T; t0 += C) {
      const int n = h.T - t0 < C ? h.T - t0 : C;
      const Real *q = h.q(t0), *alpha = decays ? h.alpha + t0 : nullptr;
      Real *o = h.o(t0);
      c.n = n, c.k = h.k(t0);
      team.barrier();
      tile::transpose(team, n, F, c.k, F, c.kT, n);
      each(team, n, [=](int t) {
        Real product = 1;
        for (int i = n - 1; i > t; --i) c.decay[size_t(t) * n + i] = 0;
        for (int i = t; i >= 0; --i) {
          c.decay[size_t(t) * n + i] = product;
          if (alpha) product *= alpha[i];
        }
        c.start[t] = product;
        for (int j = 0; j < F; ++j) {
          x[size_t(t) * F + j] = 0;
          r[size_t(t) * F + j] = d[size_t(t) * F + j] = q[size_t(t) * F + j];
        }
        square[t] = dot(q + size_t(t) * F, q + size_t(t) * F, F);
      });
      team.barrier();
      for (int iteration = 0; iteration < 4 * F + 16; ++iteration) {
        bool done = true;
        for (int t = 0; t < n; ++t) done = done && square[t] == 0;
        if (done) break;
        apply(team, c, d, y);
        each(team, n, [=](int t) {
          if (square[t] == 0) return;
          Real *xt = x + size_t(t) * F, *rt = r + size_t(t) * F, *dt = d + size_t(t) * F;
          const Real *yt = y + size_t(t) * F, *qt = q + size_t(t) * F, step = square[t] / dot(dt, yt, F);
          for (int j = 0; j < F; ++j) {
            xt[j] += step * dt[j];
            rt[j] -= step * yt[j];
          }
          const Real left = dot(rt, rt, F), turn = left / square[t];
          for (int j = 0; j < F; ++j) dt[j] = rt[j] + turn * dt[j];
          square[t] = left > epsilon * epsilon * dot(qt, qt, F) ? left : Real(0);
        });
        team.barrier();
      }
      weights(team, c, x);
      tile::gemm(team, n, Dv, F, Real(1), tile::rows(x, F), tile::rows<Real>(BT, Dv), Real(0), o, Dv);
      team.barrier();
      each(team, n, [=](int t) {
        for (int i = 0; i < Dv; ++i) o[size_t(t) * Dv + i] *= c.start[t];
        for (int j = 0; j < F; ++j) d[size_t(t) * F + j] = c.decay[size_t(n - 1) * n + t] * c.k[size_t(t) * F + j];
      });
      team.barrier();
      const tile::Product<Real> own{tile::rows(c.W, n), tile::rows<Real>(h.v(t0), Dv), n, {1, 1}};
      tile::gemm(team, n, Dv, Real(1), own, {}, Real(1), o, Dv);
      const Real total = c.start[n - 1];
      each(team, F, [=](int i) {
        for (int j = 0; j < F; ++j) H[size_t(i) * F + j] *= total;
        for (int j = 0; j < Dv; ++j) BT[size_t(i) * Dv + j] *= total;
      });
      team.barrier();
      tile::gemm(team, F, F, n, Real(1), tile::transposed(d, F), tile::rows<Real>(c.k, F), Real(1), H, F);
      tile::gemm(team, F, Dv, n, Real(1), tile::transposed(d, F), tile::rows<Real>(h.v(t0), Dv), Real(1), BT, Dv);
    }
    team.barrier();
    tile::transpose(team, F, Dv, BT, Dv, B, F);
  }
};

template <class Real> void normal_equations_chunked(const std::string &label, const Call<Real> &call, bool decays) {
  prefix_regression(label, call, Real(call.params.real("ridge")), decays, call.state);
}
template <class Real> void conjugate_gradients(const std::string &label, const Call<Real> &call, bool decays) {
  using Kernel = ConjugateGradients<Real>;
  const size_t work = Kernel::work_size(call.chunk, call.shape.Dk, call.shape.Dv);
  each_head(label, call, work, Kernel{Real(call.params.real("ridge")), std::numeric_limits<Real>::epsilon(), decays});
}

template void normal_equations_chunked(const std::string &, const Call<float> &, bool);
template void normal_equations_chunked(const std::string &, const Call<double> &, bool);
template void conjugate_gradients(const std::string &, const Call<float> &, bool);
template void conjugate_gradients(const std::string &, const Call<double> &, bool);

} // namespace recollect::variants
