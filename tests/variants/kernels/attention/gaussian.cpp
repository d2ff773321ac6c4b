// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(gaussian_kernels)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // Distances 5 and 0 at step 2: exp(-25 / 50) and 1.
  const Sequence s = one_head(2, {0, 0, 3, 4}, {0, 0, 3, 4}, {2, 10});
  const Variant &soft = find_variant("soft");
  const Output out = forward(soft, s, {"parallel", Real::f64, 1, variant_params(soft, {{"bandwidth", "50"}})});
  check_close(out.o, {2, 2 * std::exp(-0.5) + 10}, 16 * epsilon_of(Real::f64) * 10);
}

BOOST_AUTO_TEST_CASE(only_differences_of_queries_and_keys_count) {
  Sequence s = random_sequence({1, 2, 40, 3, 2}, 321);
  const Output before = forward(find_variant("soft"), s, {"parallel", Real::f64, 1, {}});
  for (std::vector<double> *rows : {&s.q, &s.k})
    for (size_t at = 0; at < rows->size(); ++at) (*rows)[at] += 1 + double(at % 3);
  check_close(forward(find_variant("soft"), s, {"parallel", Real::f64, 1, {}}).o, before.o, 1e-13 * max_abs(before.o));
}

BOOST_AUTO_TEST_CASE(with_every_row_a_landmark_nystrom_is_exact) {
  // Of fewer it is not. The landmarks' matrix is well conditioned: the rows are far apart for the bandwidth.
  Sequence s = random_sequence({1, 1, 10, 8, 3}, 322);
  for (std::vector<double> *rows : {&s.q, &s.k})
    for (double &x : *rows) x *= 4;
  const Variant &layer = find_variant("skyformer");
  const auto run = [&](const char *form, const char *landmarks) {
    const Params params = variant_params(layer, {{"features", landmarks}, {"ridge", "0"}, {"bandwidth", "4"}});
    return forward(layer, s, {form, Real::f64, 4, params}).o;
  };
  const std::vector<double> exact = run("parallel", "20");
  check_close(run("nystrom", "20"), exact, 1e-10 * max_abs(exact));
  BOOST_TEST(max_difference(run("nystrom", "6"), exact) > 1e-3 * max_abs(exact));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
