// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(normal_equations)

BOOST_AUTO_TEST_CASE(a_query_made_of_its_solution_is_solved_for_it) {
  // q_t = (H_t + ridge I) x for one x, so that o_t = B_t x: nothing is to be inverted for what is expected.
  const int T = 37, D = 5, V = 3;
  const double ridge = 0.5, x[D] = {1, -2, 0.5, 3, -1};
  Sequence s = random_sequence({1, 1, T, D, V}, 351);
  s.beta.clear();
  Dense H(D, D, std::vector<double>(D * D, 0)), B(V, D, std::vector<double>(V * D, 0));
  std::vector<double> expected;
  for (int t = 0; t < T; ++t) {
    const double *k = &s.k[t * D], *v = &s.v[t * V];
    for (int j = 0; j < D; ++j) {
      for (int i = 0; i < D; ++i) H(i, j) = s.alpha[t] * H(i, j) + k[i] * k[j];
      for (int c = 0; c < V; ++c) B(c, j) = s.alpha[t] * B(c, j) + v[c] * k[j];
    }
    for (int i = 0; i < D; ++i) {
      s.q[t * D + i] = ridge * x[i];
      for (int j = 0; j < D; ++j) s.q[t * D + i] += H(i, j) * x[j];
    }
    for (int c = 0; c < V; ++c) {
      double read = 0;
      for (int j = 0; j < D; ++j) read += B(c, j) * x[j];
      expected.push_back(read);
    }
  }
  const Variant &mesa = find_variant("mesa");
  for (const char *form : {"chunked", "conjugate_gradients"})
    for (Schedule schedule : {Schedule::streaming, Schedule::three_phase})
      for (int C : {1, 8, T}) {
        Run run{form, Real::f64, C, variant_params(mesa, {{"ridge", "0.5"}})};
        run.schedule = schedule;
        check_close(forward(mesa, s, run).o, expected, 1e-11 * max_abs(expected));
      }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
