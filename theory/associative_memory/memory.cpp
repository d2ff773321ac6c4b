// SPDX-License-Identifier: Apache-2.0
// The sums behind the recurrences (000 Eq 1, 4, 30-32).
// Host sums are the reference; the program's own variants are measured.
#include "harness/core/registry.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/support/claims.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::theory {
namespace {

using Vector = std::vector<double>;

constexpr int T = 20, d = 6, dv = 4;

Dense keys_of(const Sequence &s) { return Dense(s.shape.T, s.shape.Dk, s.k); }
Dense values_of(const Sequence &s) { return Dense(s.shape.T, s.shape.Dv, s.v); }
Sequence gaussian_story(std::uint64_t seed) { return random_sequence({1, 1, T, d, dv}, seed, Keys::gaussian); }
Dense final_state(const std::string &variant, const Sequence &s) {
  return Dense(s.shape.Dv, s.shape.Dk, forward(find_variant(variant), s).state);
}

/// Rounding units of a sum of n outer products or reads over d channels.
double units(const Sequence &s) {
  return 4.0 * (s.shape.T + s.shape.Dk) * frobenius_norm(keys_of(s)) * frobenius_norm(values_of(s)) *
         (1 + max_abs(s.q));
}

Point same(const Vector &measured, const Vector &expected, double conditioning, const std::string &quantity) {
  return at(exact_point(max_difference(measured, expected), 0, conditioning, 1e-3), "exact",
            labels({{"quantity", txt(quantity)}}));
}

/// S = sum_{t < terms} v_t k_t^T.
std::vector<Point> outer_products(const Protocol &protocol, int terms) {
  const Sequence s = gaussian_story(protocol.seed);
  Dense sum(dv, d);
  for (int t = 0; t < terms; ++t)
    for (int i = 0; i < dv; ++i)
      for (int j = 0; j < d; ++j) sum(i, j) += s.v[t * dv + i] * s.k[t * d + j];
  return {same(final_state("linear", s).data, sum.data, units(s), "S_T - sum of v_t k_t^T")};
}

/// S k_i = v_i |k_i|^2 + sign sum_{j != i} v_j (k_j.k_i) for every i.
std::vector<Point> signal_and_noise(const Protocol &protocol, double sign) {
  std::vector<Point> points;
  for (int i : {0, T / 2, T - 1}) {
    Sequence s = gaussian_story(protocol.seed);
    std::copy_n(&s.k[i * d], d, &s.q[(T - 1) * d]);
    const Vector o = forward(find_variant("linear"), s).o;
    Vector expected(dv);
    for (int j = 0; j < T; ++j) {
      double overlap = 0;
      for (int c = 0; c < d; ++c) overlap += s.k[j * d + c] * s.k[i * d + c];
      for (int c = 0; c < dv; ++c) expected[c] += (j == i ? 1 : sign) * overlap * s.v[j * dv + c];
    }
    points.push_back(same(Vector(o.end() - dv, o.end()), expected, units(s),
                          "S k_" + std::to_string(i + 1) + " - (signal + noise)"));
  }
  return points;
}

/// Values are the unit vectors, so that reads at the n keys are the rows of what a memory makes of the identity.
Dense reads_of_identity(const std::string &variant, const Dense &keys, int passes) {
  const int n = keys.rows, width = keys.columns;
  Sequence s;
  s.shape = {1, 1, passes * n, width, n};
  for (int pass = 0; pass < passes; ++pass) {
    s.k.insert(s.k.end(), keys.data.begin(), keys.data.end());
    const Dense identity = Dense::identity(n);
    s.v.insert(s.v.end(), identity.data.begin(), identity.data.end());
  }
  s.q = s.k;
  s.beta.assign(s.shape.T, 1.0);
  return keys * transpose(final_state(variant, s));
}

/// A Hebbian sum reads every value back exactly if and only if the Gram matrix is the identity; the delta rule,
/// repeated, needs only independence: each pass multiplies the error by M = prod (I - k k^T).
std::vector<Point> orthonormal_keys(const Protocol &protocol) {
  const int n = 4, passes = 300;
  const Dense orthonormal(n, d, make_keys({"orthonormal", n, d}, 1, protocol.seed)),
      independent(n, d, make_keys({"unit", n, d}, 1, protocol.seed));
  const Dense identity = Dense::identity(n);
  const auto error = [&](const std::string &variant, const Dense &keys, int count) {
    return max_difference(reads_of_identity(variant, keys, count).data, identity.data);
  };
  const auto labelled = [](Point p, const std::string &tier, const std::string &quantity) {
    return at(p, tier, labels({{"n", num(n)}, {"d", num(d)}, {"quantity", txt(quantity)}}));
  };
  Dense pass = Dense::identity(d);
  for (int i = 0; i < n; ++i) {
    const Vector k(independent.data.begin() + i * d, independent.data.begin() + (i + 1) * d);
    pass = pass * (Dense::identity(d) - outer(k, k));
  }
  const Dense solution =
      transpose(pseudo_inverse(independent)); // least squares: S k_i = e_i, rows in the span of the keys
  Dense left = solution;                      // the error -S* after every pass
  for (int p = 0; p < passes; ++p) left = left * pass;
  const double rounding = 8.0 * passes * n * (d + 4) * (1 + frobenius_norm(solution)) * epsilon_of(Real::f64);
  return {labelled(exact_point(error("linear", orthonormal, 1), 0, 16.0 * (n + d), 1e-3), "exact",
                   "Hebbian sum, orthonormal keys: largest error"),
          labelled(bounded_point(error("linear", independent, 1), Point::at_least, 1e-3, 0, 1e-3), "exact",
                   "Hebbian sum, independent unit keys: largest error"),
          labelled(exact_point(max_difference((independent * transpose(solution)).data, identity.data), 0,
                               rounding / epsilon_of(Real::f64), 1e-3),
                   "boundary", "least squares, independent keys: largest error"),
          labelled(bounded_point(error("delta_net", independent, passes), Point::at_most,
                                 spectral_norm(independent) * frobenius_norm(left), rounding, 1e-2),
                   "boundary", "delta rule, 300 passes over independent keys: largest error")};
}

/// o_t = sum_i v_i (prod_{j > i} alpha_j) (q_t.k_i) for every t; the control's product starts one gate early.
std::vector<Point> unrolled_gates(const Protocol &protocol, int first_gate) {
  Sequence s = gaussian_story(protocol.seed);
  s.lambda.clear();
  Vector expected(size_t(T) * dv);
  for (int t = 0; t < T; ++t)
    for (int i = 0; i <= t; ++i) {
      double weight = 0;
      for (int c = 0; c < d; ++c) weight += s.q[t * d + c] * s.k[i * d + c];
      for (int j = i + first_gate; j <= t; ++j) weight *= s.alpha[j];
      for (int c = 0; c < dv; ++c) expected[t * dv + c] += weight * s.v[i * dv + c];
    }
  return {same(forward(find_variant("gated_linear"), s).o, expected, units(s), "o - sum of gated reads, every t")};
}

} // namespace

std::vector<Claim> memory() {
  Claim eq1 =
      ledger_row("eq1-recurrent", "000 Eq 1, 32; 002 §2", "S_t = S_{t-1} + v_t k_t^T is the sum of the outer products.",
                 "Identity. Control: the last term dropped.", [](const Protocol &p) { return outer_products(p, T); });
  eq1.control = [](const Protocol &p) { return outer_products(p, T - 1); };
  Claim eq4 = ledger_row("eq4-split", "000 Eq 4, 53; 002 §3", "S k_i = v_i |k_i|^2 + sum_{j != i} v_j (k_j.k_i).",
                         "Identity. Control: the sign of the noise term flipped.",
                         [](const Protocol &p) { return signal_and_noise(p, +1); });
  eq4.control = [](const Protocol &p) { return signal_and_noise(p, -1); };
  Claim gates =
      ledger_row("gating-unrolled", "000 Eq 30-31; 002 §5",
                 "o_t = sum_i v_i prod_{j=i+1..t} alpha_j kappa(q,k_i) is S_t = alpha_t S_{t-1} + v k^T read at q.",
                 "Identity; the empty product at i = t is 1. Control: the product begun at i.",
                 [](const Protocol &p) { return unrolled_gates(p, 1); });
  gates.control = [](const Protocol &p) { return unrolled_gates(p, 0); };
  return {
      running(eq1, {"linear"}),
      running(eq4, {"linear"}),
      running(ledger_row("orthonormal-exact", "000 after Eq 4", "Accurate retrieval requires orthonormal keys.",
                         "For the sum of Eq 1 orthonormality is necessary and sufficient, over all values. Any linear "
                         "memory needs only independent keys: least squares, and "
                         "the delta rule repeated, read them back exactly.",
                         orthonormal_keys),
              {"linear", "delta_net"}),
      running(gates, {"gated_linear"}),
  };
}

} // namespace recollect::theory
