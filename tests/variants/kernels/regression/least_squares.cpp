// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(least_squares)

/// G = sum_i w_i k_i k_i^T + ridge w_0 I and M = sum_i w_i v_i k_i^T, w_i = gamma^(T - i); w_0 the start's.
struct Weighted {
  Dense G, M;
  Weighted(const Sequence &s, double gamma, double ridge)
      : G(s.shape.Dk, s.shape.Dk, std::vector<double>(s.shape.Dk * s.shape.Dk, 0)),
        M(s.shape.Dv, s.shape.Dk, std::vector<double>(s.shape.Dv * s.shape.Dk, 0)) {
    const auto [B, H, T, D, V] = s.shape;
    for (int j = 0; j < D; ++j) G(j, j) = ridge * std::pow(gamma, T);
    for (int t = 0; t < T; ++t) {
      const double w = std::pow(gamma, T - 1 - t);
      for (int j = 0; j < D; ++j) {
        for (int i = 0; i < D; ++i) G(i, j) += w * s.k[t * D + i] * s.k[t * D + j];
        for (int c = 0; c < V; ++c) M(c, j) += w * s.v[t * V + c] * s.k[t * D + j];
      }
    }
  }
};

/// The state S above P holds S G = M and P G = I.
void solves(const Output &out, const Weighted &w) {
  const int D = w.G.rows, V = w.M.rows;
  const Dense S(V, D, {out.state.begin(), out.state.begin() + V * D}),
      P(D, D, {out.state.begin() + V * D, out.state.end()});
  check_close((S * w.G).data, w.M.data, 1e-11 * max_abs(w.M.data));
  check_close((P * w.G).data, Dense::identity(D).data, 1e-11);
}

BOOST_AUTO_TEST_CASE(blocks_leave_the_ridge_solution_and_the_inverse) {
  const Sequence s = random_sequence({1, 1, 41, 5, 3}, 341);
  const Variant &rls = find_variant("rls");
  for (int C : {1, 8, 41})
    solves(forward(rls, s, {"chunked", Real::f64, C, variant_params(rls, {{"ridge", "0.25"}})}), {s, 1, 0.25});
}

BOOST_AUTO_TEST_CASE(what_is_forgotten_weighs_less_the_start_included) {
  Sequence s = random_sequence({1, 1, 41, 5, 3}, 342);
  s.alpha.assign(41, 0.9);
  const Variant &weighted = find_variant("weighted_rls");
  for (int C : {1, 8, 41})
    solves(forward(weighted, s, {"chunked", Real::f64, C, variant_params(weighted, {{"ridge", "0.25"}})}),
           {s, 0.9, 0.25});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
