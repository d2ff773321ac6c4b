// SPDX-License-Identifier: Apache-2.0
#include "variants/kernels/attention/gaussian.hpp"
#include "variants/kernels/chunked/gated_recurrence.hpp"
#include "variants/kernels/regression/cholesky.hpp"

namespace recollect::variants {

template <class Real> void gaussian_parallel(const std::string &label, const Call<Real> &c) {
  attend(label, c, gaussian_by_product<Real, false>(c));
}

/// Writes the features f(q) and f(k), [heads,T,m], from landmarks [heads,m,Dk].
template <class Real> struct Nystrom {
  int m;
  Real bandwidth, ridge;
  Array<Real> landmarks, fq, fk;

  KOKKOS_FUNCTION Real kernel(const Real *x, const Real *y, int width) const {
    Real square = 0;
    for (int c = 0; c < width; ++c) square += (x[c] - y[c]) * (x[c] - y[c]);
    return math::exp(-square / bandwidth);
  }
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    Real *R = h.work; // [m,m]
    const Real *L = landmarks.data() + h.index * m * h.Dk;
    each(team, m, [&](int i) {
      for (int j = 0; j <= i; ++j) R[i * m + j] = kernel(L + i * h.Dk, L + j * h.Dk, h.Dk) + (i == j ? ridge : Real(0));
    });
    cholesky(team, m, R, m);
    each(team, 2 * h.T, [&](int row) {
      const int t = row / 2;
      const bool query = row % 2 == 0;
      Real *f = (query ? fq : fk).data() + (h.index * h.T + t) * m;
      const Real *x = query ? h.q(t) : h.k(t);
      for (int i = 0; i < m; ++i) f[i] = (kernel(L + i * h.Dk, x, h.Dk) - dot(R + i * m, f, i)) / R[i * m + i];
    });
  }
};

template <class Real> void nystrom(const std::string &label, Call<Real> call, const Array<Real> &landmarks, int m) {
  const Shape &s = call.shape;
  const size_t steps = s.heads() * s.T;
  const Array<Real> fq = allocate(call, steps * m), fk = allocate(call, steps * m);
  each_head(label + "::features", call, size_t(m) * m,
            Nystrom<Real>{m, bandwidth_param(call), Real(call.params.real("ridge")), landmarks, fq, fk});
  call.state_shape = {s.Dv, m};
  call.state = filled(call, s.heads() * call.state_shape.size(), Real(0));
  gated_recurrence(label, call, {m, fq, fk, {}, {}, Real(1)});
}

template void gaussian_parallel(const std::string &, const Call<float> &);
template void gaussian_parallel(const std::string &, const Call<double> &);
template void nystrom(const std::string &, Call<float>, const Array<float> &, int);
template void nystrom(const std::string &, Call<double>, const Array<double> &, int);

} // namespace recollect::variants
