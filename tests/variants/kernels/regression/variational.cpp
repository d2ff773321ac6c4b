// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(variational_rules)

Output run(const Sequence &s, int C, const char *refresh = "0") {
  const Variant &vla = find_variant("vla");
  return forward(
      vla, s,
      {"chunked", Real::f64, C,
       variant_params(vla,
                      {{"phi", "identity"}, {"lambda0", "1"}, {"u_norm", "1"}, {"refresh", refresh}, {"eta", "0.5"}})});
}

BOOST_AUTO_TEST_CASE(writes_turn_away_from_what_is_penalised) {
  // u = e_1: A = diag(1/2, 1). The key (2, 1) is written along (1, 1) / sqrt 2, and read with e_1 and then 2 e_2.
  Sequence s = one_head(2, {1, 0, 0, 2}, {2, 1, 2, 1}, {6, 0});
  s.w = {1, 0, 1, 0};
  const double x1 = 2 / std::sqrt(5), x2 = 1 / std::sqrt(5), S1 = 6 / std::sqrt(2);
  // Then u = e_1 again: A = diag(1/3, 1), along (2/3, 1) / |.|, by the error 0 - S_1 x.
  const double error = -S1 * (x1 + x2), length = std::sqrt(4 / 9.0 + 1);
  for (int C : {1, 2}) check_close(run(s, C).o, {S1, 2 * (S1 + error / length)}, 1e-14 * 6);
}

BOOST_AUTO_TEST_CASE(where_keys_are_axes_it_is_the_delta_rule) {
  // A stays diagonal with or without refreshes, so each key is its own write direction, and reads return its latest
  // value.
  const int T = 12;
  Sequence s = one_head(T, std::vector<double>(T * 3, 0), std::vector<double>(T * 3, 0), std::vector<double>(T, 0));
  std::vector<double> expected;
  for (int t = 0; t < T; ++t) {
    s.k[t * 3 + t % 3] = s.q[t * 3 + (t + 1) % 3] = 1, s.v[t] = t * t + 1;
    expected.push_back(t < 2 ? 0 : s.v[t - 2]);
  }
  for (const char *refresh : {"0", "5"})
    for (int C : {1, 5, T}) check_close(run(s, C, refresh).o, expected, 1e-13 * max_abs(s.v));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
