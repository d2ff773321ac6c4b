// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(gated_delta_product)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // n_h = 2, beta = 0.5. Token 1: at w = [1,0] writes 0.5 * 4, S = [2,0]; at k = [0,2] reads 0, S = [2,4]; o_1 = 6.
  // Token 2: S decays to [1,2], once; at w = [1,1] reads 3, residual 2, S = [2,3]; at k = [1,-1] reads -1, residual 6,
  // S = [5,0]; o_2 = 15.
  Sequence s = one_head(2, {1, 1, 3, 1}, {0, 2, 1, -1}, {4, 5});
  s.w = {1, 0, 1, 1}, s.beta = {0.5, 0.5}, s.alpha = {1, 0.5};
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(find_variant("gated_delta_product"), s, {form, Real::f64, 2, {}});
    check_close(out.o, {6, 15}, 0);
    check_close(out.state, {5, 0}, 0);
  }
}

BOOST_AUTO_TEST_CASE(with_one_step_it_is_gated_delta_net) {
  const Sequence s = random_sequence({2, 2, 70, 9, 5}, 81);
  check_reduction("gated_delta_net", s, "gated_delta_product", s, {}, {{"householder", "1"}});
}

BOOST_AUTO_TEST_CASE(without_decay_it_is_delta_product) {
  Sequence s = random_sequence({2, 2, 70, 9, 5}, 82);
  s.alpha.assign(s.alpha.size(), 1);
  for (const char *steps : {"1", "2", "3", "5"})
    check_reduction("delta_product", s, "gated_delta_product", s, {{"householder", steps}}, {{"householder", steps}});
}

BOOST_AUTO_TEST_CASE(it_is_gated_delta_net_on_single_steps) {
  // Token t as steps 3 t at k, 3 t + 1 at w and 3 t + 2 at k; it decays at the first of them.
  const Shape n{1, 2, 20, 5, 3};
  const Sequence s = random_sequence(n, 83);
  Sequence fine = random_sequence({1, 2, 60, 5, 3}, 83);
  const auto row = [](const std::vector<double> &x, size_t i, int D) {
    return std::vector<double>(x.begin() + long(i) * D, x.begin() + long(i + 1) * D);
  };
  const auto put = [](std::vector<double> &x, size_t i, const std::vector<double> &values) {
    std::copy(values.begin(), values.end(), x.begin() + long(i * values.size()));
  };
  for (size_t t = 0; t < 40; ++t)
    for (size_t j = 0; j < 3; ++j) {
      put(fine.q, 3 * t + j, row(s.q, t, 5)), put(fine.v, 3 * t + j, row(s.v, t, 3));
      put(fine.k, 3 * t + j, row(j == 1 ? s.w : s.k, t, 5));
      fine.beta[3 * t + j] = s.beta[t], fine.alpha[3 * t + j] = j ? 1 : s.alpha[t];
    }
  const Variant &product = find_variant("gated_delta_product");
  const Output mine = forward(product, s, {"recurrent", Real::f64, 1, variant_params(product, {{"householder", "3"}})}),
               its = forward(find_variant("gated_delta_net"), fine);
  const double bound = accumulated_terms(fine.shape, 1) * epsilon_of(Real::f64) *
                       input_condition(find_variant("gated_delta_net"), fine, {});
  check_close(mine.state, its.state, bound * max_abs(its.state));
  for (size_t t = 0; t < 40; ++t) check_close(row(mine.o, t, 3), row(its.o, 3 * t + 2, 3), bound * max_abs(its.o));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
