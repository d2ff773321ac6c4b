// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/random.hpp"
#include "tests/reductions.hpp"
#include "tests/variants/kernels/gradients.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(comba)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // d = 2. S_1 = 0.5 * 4 [1,2] = [2,4], read at [1,1] - 2 [1,0] = [-1,1]: o_1 = 2. Step 2: the state decays to [1,2],
  // at w_2 = [0,1] it reads 2, the residual is 4 - 2 = 2, S_2 = [1,2] + 0.5 * 2 [1,-1] = [2,1], read at [3,1] - 2 [0,1]
  // = [3,-1].
  Sequence s = one_head(2, {1, 1, 3, 1}, {1, 2, 1, -1}, {4, 4});
  s.beta = {0.5, 0.5}, s.alpha = {1, 0.5}, s.w = {1, 0, 0, 1};
  const Variant &variant = find_variant("comba");
  for (const char *form : {"recurrent", "chunked"}) {
    const Output out = forward(variant, s, {form, Real::f64, 2, variant_params(variant, {{"d", "2"}})});
    check_close(out.o, {2, 5}, 0);
    check_close(out.state, {2, 1}, 0);
  }
}

BOOST_AUTO_TEST_CASE(with_the_key_as_erase_key_it_is_gated_delta_net) {
  Sequence s = random_sequence({2, 2, 70, 9, 5}, 61);
  s.w.clear();
  check_reduction("gated_delta_net", s, "comba", s);
}

BOOST_AUTO_TEST_CASE(the_correction_is_one_of_the_query) {
  const Sequence s = random_sequence({2, 2, 70, 9, 5}, 62);
  Sequence other = s;
  for (size_t i = 0; i < s.q.size(); ++i) other.q[i] -= 0.75 * s.w[i];
  check_reduction("comba", other, "comba", s, {}, {{"d", "0.75"}});
}

BOOST_AUTO_TEST_CASE(the_gradient_of_the_erase_key_has_that_of_the_query) {
  const Sequence s = random_sequence({1, 2, 21, 5, 3}, 63);
  Sequence other = s;
  for (size_t i = 0; i < s.q.size(); ++i) other.q[i] -= 0.75 * s.w[i];
  const std::vector<double> weights = Stream(63, "comba/weights").normals(s.v.size());
  const Sequence mine = gradients("comba", s, 8, weights, {{"d", "0.75"}}), its = gradients("comba", other, 8, weights);
  std::vector<double> w = its.w;
  for (size_t i = 0; i < w.size(); ++i) w[i] -= 0.75 * its.q[i];
  check_close(mine.w, w, 16 * epsilon_of(Real::f64) * max_abs(w));
  check_close(mine.q, its.q, 16 * epsilon_of(Real::f64) * max_abs(its.q));
}

BOOST_AUTO_TEST_CASE(a_share_of_the_key_erases_that_share) {
  // The source's b = 1/2 and a unit key, beta = 1: half is left.
  Sequence s = one_head(1, {1, 0}, {1, 0}, {0});
  s.w = {0.5, 0}, s.beta = {1}, s.alpha = {1}, s.state = {8, 3};
  check_close(forward(find_variant("comba"), s).state, {4, 3}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
