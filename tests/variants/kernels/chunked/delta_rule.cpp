// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(delta_rule_forms)

BOOST_AUTO_TEST_CASE(errors_solve_one_triangular_system) {
  // 000 Eq 96-98 for the whole sequence: E = (I + diag(beta) strictly_lower(K K^T))^{-1} diag(beta) V, O = lower(Q K^T) E.
  const int T = 33, D = 6, V = 4;
  const Sequence s = random_sequence({1, 1, T, D, V}, 311);
  const Dense Q(T, D, s.q), K(T, D, s.k), values(T, V, s.v);
  Dense system = K * transpose(K), scores = Q * transpose(K), written = values;
  for (int t = 0; t < T; ++t) {
    for (int i = 0; i < T; ++i) {
      system(t, i) = i < t ? s.beta[t] * system(t, i) : double(i == t);
      if (i > t) scores(t, i) = 0;
    }
    for (int c = 0; c < V; ++c) written(t, c) *= s.beta[t];
  }
  const Dense expected = scores * (inverse(system) * written);
  Sequence plain = s;
  plain.alpha.clear(), plain.lambda.clear(), plain.w.clear();
  for (Schedule schedule : {Schedule::streaming, Schedule::three_phase})
    for (int C : {5, 16, T}) {
      Run run{"chunked", Real::f64, C, {}};
      run.schedule = schedule;
      check_close(forward(find_variant("delta_net"), plain, run).o, expected.data, 1e-12 * max_abs(expected.data));
    }
}

BOOST_AUTO_TEST_CASE(the_last_full_write_to_a_unit_key_is_what_is_left) {
  const int T = 11;
  Sequence s = one_head(T, std::vector<double>(T, 1), std::vector<double>(T, 1), {});
  for (int t = 0; t < T; ++t) s.v.push_back(t * t - 5);
  s.shape.Dv = 1;
  s.beta.assign(T, 1);
  for (int C : {1, 4, T}) check_close(forward(find_variant("delta_net"), s, {"chunked", Real::f64, C, {}}).o, s.v, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
