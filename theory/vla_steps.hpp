// SPDX-License-Identifier: Apache-2.0
// VLA (004 Eq 8-10, Alg. 1) step by step on the host in float64, for predictions: the inverse A_t of M_t = lambda0 I + sum u u^T
// by Sherman-Morrison, the unit write direction a_t = A_t k_t / |A_t k_t|, and S_t = S_{t-1} + (v_t - S_{t-1} k_t) a_t^T.
#pragma once
#include "linalg.hpp"
#include "random.hpp"
#include <cmath>

namespace recollect::theory {

using Vector = std::vector<double>;

inline double inner(const Vector &a, const Vector &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
inline double norm(const Vector &a) { return std::sqrt(inner(a, a)); }
/// x a + y b
inline Vector combine(double x, const Vector &a, double y, const Vector &b) {
  Vector c(a.size());
  for (size_t i = 0; i < a.size(); ++i) c[i] = x * a[i] + y * b[i];
  return c;
}
inline Vector scaled(double x, const Vector &a) { return combine(x, a, 0, a); }
inline Vector unit(const Vector &a) { return scaled(1 / norm(a), a); }
inline Vector times(const Dense &m, const Vector &x) { return (m * Dense(int(x.size()), 1, x)).data; }
/// Draw `index` of a uniform direction in R^d.
inline Vector random_unit(int d, std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return unit(Stream(seed, stream).normals(d, index * (d + d % 2)));
}

struct Vla {
  Dense A, S;
  double delta = 1; // of the last update of A
  Vector a;         // last write direction, unit
  double residual = 0;

  Vla(int d, int dv, double lambda0) : A(1 / lambda0 * Dense::identity(d)), S(dv, d) {}

  void update_inverse(const Vector &u) {
    const Vector z = times(A, u);
    delta = 1 + inner(u, z);
    A = A - 1 / delta * outer(z, z);
  }
  void write(const Vector &k, const Vector &v) {
    a = unit(times(A, k));
    const Vector e = combine(1, v, -1, times(S, k));
    residual = norm(e);
    S = S + outer(e, a);
  }
  void step(const Vector &k, const Vector &u, const Vector &v) {
    update_inverse(u);
    write(k, v);
  }
};

/// I - a k^T
inline Dense vla_jacobian_of(const Vector &a, const Vector &k) { return Dense::identity(int(a.size())) - outer(a, k); }

} // namespace recollect::theory
