// SPDX-License-Identifier: Apache-2.0
// The delta rule in continuous time, dS/dt = (v - S k) k^T, solved by a matrix exponential and not by the closed form
// of 2512.12602: the reference for that paper.
#pragma once
#include "theory/support/one_head.hpp"
#include "theory/support/stored.hpp"
#include <cmath>

namespace recollect::theory {
/// exp(A) of a small matrix: Taylor's series of A / 2^s, |A / 2^s| <= 1/16, squared s times. Its error is below 2^s eps
/// |exp(A)|, from rounding, plus 16^-12 / 12!, from the terms left out.
inline Dense exponential(Dense A) {
  int halvings = 0;
  for (double size = frobenius_norm(A); size > 1.0 / 16; size /= 2) ++halvings;
  A = std::ldexp(1.0, -halvings) * A;
  Dense sum = Dense::identity(A.rows), term = sum;
  for (int n = 1; n < 12; ++n) term = (1.0 / n) * (term * A), sum = sum + term;
  for (; halvings > 0; --halvings) sum = sum * sum;
  return sum;
}

/// S after the time beta with a constant key and value: the first d columns of [S v] exp(beta [-k k^T, 0; k^T, 0]).
inline Dense flow(const Dense &S, const Vector &k, const Vector &v, double beta) {
  const int d = S.columns;
  Dense state(S.rows, d + 1), generator(d + 1, d + 1);
  for (int i = 0; i < S.rows; ++i) {
    for (int j = 0; j < d; ++j) state(i, j) = S(i, j);
    state(i, d) = v[i];
  }
  for (int j = 0; j < d; ++j) {
    for (int i = 0; i < d; ++i) generator(i, j) = -beta * k[i] * k[j];
    generator(d, j) = beta * k[j];
  }
  const Dense after = state * exponential(generator);
  Dense out(S.rows, d);
  for (int i = 0; i < S.rows; ++i)
    for (int j = 0; j < d; ++j) out(i, j) = after(i, j);
  return out;
}

/// The write strength with which one step of the delta rule equals the flow over the time beta: (1 - exp(-beta |k|^2))
/// / |k|^2.
inline double exact_strength(double beta, double square) { return -std::expm1(-beta * square) / square; }

/// Keys of length `norm` [T,d], values [T,dv] and a first state [dv,d].
struct HeldTokens {
  Dense k, v, S;
  HeldTokens(int T, int d, int dv, double norm, std::uint64_t seed)
      : k(normal_matrix(T, d, seed, "flow/keys")), v(normal_matrix(T, dv, seed, "flow/values")),
        S(normal_matrix(dv, d, seed, "flow/state")) {
    normalise_rows(k.data, d);
    k = norm * k;
  }
  Vector key(int t) const { return column(k.data, t, k.columns).data; }
  Vector value(int t) const { return column(v.data, t, v.columns).data; }

  /// Bound on the rounding error of exact(), in units of eps. exact() squares a matrix at most 4 + log2(beta (|k|^2 +
  /// |k|)) times per token, and each squaring doubles the rounding errors. The flow itself does not amplify errors, and
  /// its states have the size of S and v / |k|.
  double units(double beta) const {
    const double norm = std::sqrt(inner(key(0), key(0)));
    return 16.0 * k.rows * (k.columns + 8) * (16 + 32 * beta * (norm * norm + norm)) *
           (max_abs(S.data) + max_abs(v.data) / norm);
  }
  /// The state of DeltaNet after all tokens with one write strength; each token is written `steps` times.
  Dense delta_rule(double strength, int steps = 1) const {
    Vector keys, values;
    for (int t = 0; t < k.rows * steps; ++t)
      append_column(keys, column(k.data, t / steps, k.columns)),
          append_column(values, column(v.data, t / steps, v.columns));
    Sequence s = stored({1, 1, k.rows * steps, k.columns, v.columns}, keys, values, strength);
    s.state = S.data;
    return memory(run("delta_net", s), s.shape);
  }
  /// The flow's state after all tokens.
  Dense exact(double beta) const {
    Dense state = S;
    for (int t = 0; t < k.rows; ++t) state = flow(state, key(t), value(t), beta);
    return state;
  }
  /// The flow's state if, during a token, the key moves towards the next key. It is computed by `pieces` short flows
  /// per token.
  Dense moving(double beta, int pieces = 64) const {
    Dense state = S;
    for (int t = 0; t < k.rows; ++t)
      for (int i = 0; i < pieces; ++i) {
        const Vector from = key(t), to = key(std::min(t + 1, k.rows - 1));
        Vector now(from);
        for (size_t c = 0; c < now.size(); ++c) now[c] += (i + 0.5) / pieces * (to[c] - from[c]);
        state = flow(state, now, value(t), beta / pieces);
      }
    return state;
  }
};
} // namespace recollect::theory
