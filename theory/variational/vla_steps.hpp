// SPDX-License-Identifier: Apache-2.0
// The layer `vla` (004 Eq 8-10, Alg. 1), continued from its own state: how a run changes A_t, S_t and gradients.
#pragma once
#include "theory/support/one_head.hpp"
#include "theory/support/stored.hpp"

namespace recollect::theory {
inline double norm(const Vector &a) { return std::sqrt(inner(a, a)); }
/// x a + y b
inline Vector combine(double x, const Vector &a, double y, const Vector &b) {
  Vector c(a.size());
  for (size_t i = 0; i < a.size(); ++i) c[i] = x * a[i] + y * b[i];
  return c;
}
inline Vector scaled(double x, const Vector &a) { return combine(x, a, 0, a); }
inline Vector unit(const Vector &a) { return scaled(1 / norm(a), a); }
/// A uniform direction in R^d: draw number `index` of the stream.
inline Vector random_unit(int d, const Stream &stream, std::uint64_t index) {
  return unit(stream.normals(d, index * (d + d % 2)));
}
/// The feature map elu + 1. Its first two moments over N(0,1) follow by completing the square on either side of 0.
inline double elu1(double x) { return x > 0 ? x + 1 : std::exp(x); }
inline double normal_tail(double x) { return std::erfc(x / std::sqrt(2.0)) / 2; }
inline double elu1_mean() { return 1 / std::sqrt(2 * M_PI) + 0.5 + std::exp(0.5) * normal_tail(1); }
inline double elu1_mean_square() { return 1 + 2 / std::sqrt(2 * M_PI) + std::exp(2.0) * normal_tail(2); }
inline void append_row(Vector &rows, const Vector &row) { rows.insert(rows.end(), row.begin(), row.end()); }

/// lambda0 of 004, and a width, as parameters of claims.
inline ParamSpec penalty_param(double low = 1e-4) {
  return real_param("lambda0", 0.1, low, 10, "penalty at the start");
}
inline ParamSpec width_param(int own = 8) { return integer_param("d", own, 2, 64, "width"); }

/// `vla` with the identity for phi and with u as given; the caller passes unit keys, as in Eq 10. The state has further
/// value channels. One of them has the value 1 at every step and a row that starts at zero: after one step this row is
/// the write direction `a`. If `chain` is set to P_0, d more channels have the value 0, and their rows start as P_0^T.
/// After step t these rows are P_t^T, where P_t = J_t ... J_1 P_0 and J = I - a k^T is the Jacobian of a step.
class Vla {
public:
  Dense A, S, chain;   // A_t, S_t, P_t
  double delta = 1;    // 1 + u^T A_{t-1} u of the latest call that took one step
  Vector a;            // write direction a of the latest call that took one step
  double residual = 0; // |v - S k| of the last step

  Vla(int d, int dv, double lambda0, const Assignments &settings = {{"refresh", "0"}}, const std::string &layer = "vla",
      Real real = Real::f64)
      : A(1 / lambda0 * Dense::identity(d)), S(dv, d), layer_(&find_variant(layer)), real_(real), rest_(2 * d) {
    Assignments all{{"phi", "identity"}, {"u_norm", "0"}};
    all.insert(settings.begin(), settings.end());
    params_ = variant_params(*layer_, all);
  }

  /// Runs over the rows of K, U [T,d] and V [T,dv]; returns |v_t - S_{t-1} k_t| of each step.
  Vector run(const Vector &K, const Vector &U, const Vector &V) {
    const int d = A.rows, dv = S.rows, T = int(K.size()) / d, width = dv + chain.rows + 1;
    Sequence s = stored({1, 1, T, d, width}, K, Vector(size_t(T) * width));
    s.w = U;
    // o_t = S_t k_{t+1}, so that the next residual is v_{t+1} - o_t
    s.q.assign(K.begin() + d, K.end()), s.q.resize(K.size());
    for (int t = 0; t < T; ++t)
      std::copy_n(&V[size_t(t) * dv], dv, &s.v[size_t(t) * width]), s.v[size_t(t + 1) * width - 1] = 1;
    for (const Vector &part : {S.data, transpose(chain).data, Vector(d), A.data, rest_}) append_row(s.state, part);
    Vector reads = times(S, Vector(K.begin(), K.begin() + d));
    const Output out = forward(*layer_, s, {"recurrent", real_, 1, params_});
    Vector residuals(T);
    for (int t = 0; t < T; ++t) {
      double square = 0;
      for (int i = 0; i < dv; ++i) square += std::pow(V[size_t(t) * dv + i] - reads[i], 2);
      residuals[t] = std::sqrt(square);
      reads.assign(&out.o[size_t(t) * width], &out.o[size_t(t) * width] + dv);
    }
    residual = residuals.back();
    const double *row = out.state.data();
    const auto take = [&](Vector &into) { std::copy_n(row, into.size(), into.data()), row += into.size(); };
    Dense rows(chain.rows, d);
    a.resize(d);
    take(S.data), take(rows.data), take(a), take(A.data), take(rest_);
    if (chain.rows > 0) chain = transpose(rows);
    return residuals;
  }
  void step(const Vector &k, const Vector &u, const Vector &v) {
    delta = 1 + inner(u, times(A, u));
    run(k, u, v);
  }
  /// Updates A by the rows of U as penalty directions; the keys are zero, so that S does not change.
  void update_inverse(const Vector &U) {
    if (int(U.size()) == A.rows) delta = 1 + inner(U, times(A, U));
    run(Vector(U.size()), U, Vector(U.size() / A.rows * S.rows));
  }
  /// Writes v at the key k; the penalty direction is zero, so that A does not change.
  void write(const Vector &k, const Vector &v) { run(k, Vector(k.size()), v); }

private:
  const Variant *layer_;
  Real real_;
  Params params_;
  Vector rest_; // sum of features, steps since the last refresh
};

/// The layer's Jacobian I - a k^T for the write direction a. The layer gets this direction from the state A = a k^T /
/// |k|^2.
inline Dense vla_jacobian_of(const Vector &a, const Vector &k, const std::string &layer = "vla") {
  Vla one(int(a.size()), 1, 1, {{"refresh", "0"}}, layer);
  one.A = 1 / inner(k, k) * outer(a, k), one.chain = Dense::identity(one.A.rows);
  one.write(k, {0.0});
  return one.chain;
}

/// Bound on the rounding error after T updates of width d, in units of eps. The condition number of M_t is at most 1 +
/// T |u|^2 / lambda0.
inline double step_units(int T, int d, double lambda0, double u_square = 1) {
  return 16.0 * d * T * (1 + T * u_square / lambda0);
}
/// Row t of `rows`, whose width is d.
inline Vector row(const Vector &rows, int t, int d) { return {&rows[size_t(t) * d], &rows[size_t(t) * d] + d}; }

/// The same steps in dense algebra, without the layer: A_t = M_t^{-1} by inversion of M_t = lambda0 I + sum u u^T.
struct VlaAlgebra {
  Dense M, S, chain; // M_t, S_t, P_t
  Vector a;          // write direction of the last step
  bool normalised;   // whether a is scaled to length 1
  VlaAlgebra(int d, int dv, double lambda0, bool normalised = true)
      : M(lambda0 * Dense::identity(d)), S(dv, d), chain(Dense::identity(d)), normalised(normalised) {}

  void step(const Vector &k, const Vector &u, const Vector &v) {
    M = M + outer(u, u);
    a = times(inverse(M), k);
    if (normalised) a = unit(a);
    S = S + outer(combine(1, v, -1, times(S, k)), a);
    chain = chain - outer(a, times(transpose(chain), k));
  }
};
} // namespace recollect::theory
