// SPDX-License-Identifier: Apache-2.0
// Variational linear attention (004 Alg 1, Eq 8-11). With f = phi(k_t), the key x_t is f / |f| in the normalised form
// (v3), and f in the unnormalised form (v2). The penalty direction u_t is w_t, scaled to length u_norm unless u_norm =
// 0:
//
//   A_t = A_{t-1} - z z^T / (1 + u_t . z),  z = A_{t-1} u_t;   every `refresh` steps A_t = A_t + eta I
//   S_t = S_{t-1} + (v_t - S_{t-1} x_t) a_t^T,                 a_t = A_t x_t or A_t x_t / |A_t x_t|
//   o_t = S_t phi(q_t) / max(phi(q_t) . sum_{i<=t} phi(k_i), 1e-4) if phi = elu + 1,   S_t q_t if phi is the identity
//
// Since A is positive definite, 1 + u_t . z >= 1, so that Algorithm 1's lower limit of 1e-4 on this divisor never acts.
// The state stacks S [Dv,Dk], A [Dk,Dk] (initially I / lambda0), the sum of features [1,Dk], and a row [1,Dk] whose
// first element counts the steps since the last refresh. The chunked form first computes A in Woodbury blocks, each of
// which ends at a refresh at the latest. Then it computes S by the WY form of a delta rule with erase key x_t and write
// direction a_t.
#pragma once
#include "harness/core/error.hpp"
#include "harness/device/device.hpp"
#include "variants/kernels/common/unit_rows.hpp"
#include <cmath>

namespace recollect::variants {

template <class Real> struct VariationalRule {
  bool elu;        // phi = elu + 1 and outputs are divided by a normaliser; else phi is the identity
  bool normalised; // scale x_t and a_t to length 1
  Real u_norm;     // length of u_t; 0: the length of w_t
  int refresh;     // steps between refreshes; 0: never
  Real eta;

  /// Steps since the last refresh, from the number that the state stores; 0 if this number is not a valid count
  /// (check_counts()).
  template <class Number> KOKKOS_FUNCTION int counted(Number count) const {
    return count >= Number(0) && count < Number(refresh) ? int(count) : 0;
  }
  /// since(s, n): steps since the last refresh, if n steps earlier this number was s. added(s): what is added to A's
  /// diagonal when this number is s; 0 if no refresh is due.
  KOKKOS_FUNCTION int since(int since, int n) const { return since + n == refresh ? 0 : since + n; }
  KOKKOS_FUNCTION Real added(int since) const { return refresh > 0 && since == 0 ? eta : Real(0); }
  KOKKOS_FUNCTION Real phi(Real x) const { return !elu ? x : x > 0 ? x + 1 : math::exp(x); }
  KOKKOS_FUNCTION static Real inverse(Real length) { return length > 0 ? 1 / length : Real(0); }
  /// Scale factors that turn f_t, w_t and A_t x_t into x_t, u_t and a_t; 0 for a zero vector.
  KOKKOS_FUNCTION Real key_factor(const Real *f, int n) const {
    return normalised ? inverse(length_of(f, n)) : Real(1);
  }
  KOKKOS_FUNCTION Real penalty_factor(const Real *w, int n) const {
    return u_norm > 0 ? u_norm * inverse(length_of(w, n)) : Real(1);
  }
  KOKKOS_FUNCTION Real write_factor(const Real *a, int n) const {
    return normalised ? inverse(length_of(a, n)) : Real(1);
  }
  /// The output's scale factor, from the sum of features and phi(q).
  KOKKOS_FUNCTION Real read_factor(const Real *sum, const Real *query, int n) const {
    return elu ? 1 / math::fmax(dot(sum, query, n), Real(1e-4)) : Real(1);
  }
};

template <class Real> struct VariationalRecurrent {
  VariationalRule<Real> rule;

  static size_t work_size(int F) { return 6 * size_t(F); }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = h.Dk, Dv = h.Dv;
    const VariationalRule<Real> rule = this->rule;
    Real *S = h.state, *A = S + size_t(Dv) * F, *sum = A + size_t(F) * F, *count = sum + F;
    Real *f = h.work, *x = f + F, *u = x + F, *z = u + F, *a = z + F, *query = a + F;
    int since = rule.counted(count[0]);
    for (int t = 0; t < h.T; ++t) {
      const Real *k = h.k(t), *q = h.q(t), *v = h.v(t), *w = h.w(t);
      Real *o = h.o(t);
      team.barrier();
      each(team, F, [=](int j) {
        f[j] = rule.phi(k[j]);
        query[j] = rule.phi(q[j]);
        sum[j] += f[j];
      });
      team.barrier();
      const Real key_factor = rule.key_factor(f, F), penalty_factor = rule.penalty_factor(w, F);
      each(team, F, [=](int j) {
        x[j] = key_factor * f[j];
        u[j] = penalty_factor * w[j];
      });
      team.barrier();
      each(team, F, [=](int i) { z[i] = dot(A + size_t(i) * F, u, F); });
      team.barrier();
      since = rule.since(since, 1);
      const Real d = 1 + dot(u, z, F), added = rule.added(since);
      each(team, F, [=](int i) {
        const Real zi = z[i] / d;
        for (int j = 0; j < F; ++j) A[size_t(i) * F + j] -= zi * z[j];
        A[size_t(i) * F + i] += added;
        a[i] = dot(A + size_t(i) * F, x, F);
      });
      team.barrier();
      const Real write_factor = rule.write_factor(a, F), read_factor = rule.read_factor(sum, query, F);
      each(team, Dv, [=](int i) {
        Real *s = S + size_t(i) * F;
        const Real written = write_factor * (v[i] - dot(s, x, F));
        for (int j = 0; j < F; ++j) s[j] += written * a[j];
        o[i] = read_factor * dot(s, query, F);
      });
    }
    team.barrier();
    once(team, [=] { count[0] = rule.refresh > 0 ? Real(since) : Real(0); });
  }
};

/// Throws an input error if a given state has no valid count of steps since a refresh. On a GPU this is not checked,
/// and an invalid count is read as 0.
template <class Real> void check_counts(const std::string &label, const Call<Real> &call, int refresh) {
  if constexpr (on_host) {
    const size_t row = size_t(call.state_shape.rows) - 1;
    for (size_t head = 0; refresh > 0 && head < call.shape.heads(); ++head) {
      const Real count = call.state((head * call.state_shape.rows + row) * call.state_shape.columns);
      if (!(count >= Real(0) && count < Real(refresh)))
        input_error(label + ": row " + std::to_string(row) + " of the state of head " + std::to_string(head) +
                    " must begin with the steps since the last refresh, 0 to " + std::to_string(refresh - 1));
    }
  }
}

template <class Real>
VariationalRule<Real> variational_rule(const std::string &label, const Call<Real> &call, bool normalised) {
  const Params &p = call.params;
  check_counts(label, call, p.integer("refresh"));
  const Real u_norm = p.real_or("u_norm", 1 / std::sqrt(double(call.shape.Dk)));
  return {p.text("phi") == "elu", normalised, u_norm, p.integer("refresh"), Real(p.real("eta"))};
}

template <class Real> void variational_recurrent(const std::string &label, const Call<Real> &call, bool normalised) {
  each_head(label, call, VariationalRecurrent<Real>::work_size(call.shape.Dk),
            VariationalRecurrent<Real>{variational_rule(label, call, normalised)});
}

template <class Real> void variational_chunked(const std::string &label, const Call<Real> &call, bool normalised);

inline StateShape variational_state(const Shape &s, const Params &) { return {s.Dv + s.Dk + 2, s.Dk}; }

/// The initial state: S = 0, A = I / lambda0, no features, no steps.
inline std::vector<double> variational_start(const Shape &s, const Params &p) {
  std::vector<double> state(size_t(s.Dv + s.Dk + 2) * s.Dk, 0.0);
  for (int i = 0; i < s.Dk; ++i) state[size_t(s.Dv + i) * s.Dk + i] = 1 / p.real("lambda0");
  return state;
}

} // namespace recollect::variants
