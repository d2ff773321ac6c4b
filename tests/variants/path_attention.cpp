// SPDX-License-Identifier: Apache-2.0
#include "tests/reductions.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(path_attention)

BOOST_AUTO_TEST_CASE(three_steps_by_hand) {
  // Step 2 reflects at w = [1,0] with beta = 2, step 3 takes half away along w = [0,1]: k_1 = [log 2, log 4] becomes
  // [-log 2, log 4], then [-log 2, log 2], and k_2 = [0, log 16] becomes [0, log 4]. q_2 = [1,1] gives the logits log 2
  // and log 16, weights 1 : 8; q_3 = [0,1] gives log 2, log 4 and 0 for k_3 = 0, weights 2 : 4 : 1.
  const double log2 = std::log(2.0);
  Sequence s = one_head(3, {0, 0, 1, 1, 0, 1}, {log2, 2 * log2, 0, 4 * log2, 0, 0}, {9, 18, 5});
  s.w = {7, 7, 1, 0, 0, 1}, s.beta = {1, 2, 0.5};
  const Variant &variant = find_variant("path_attention");
  for (const char *form : {"recurrent", "chunked"})
    for (int chunk : {1, 2, 3})
      check_close(forward(variant, s, {form, Real::f64, chunk, variant_params(variant, {{"scale", "1"}})}).o,
                  {9, 17, (2 * 9 + 4 * 18 + 5) / 7.0}, 1e-13);
}

BOOST_AUTO_TEST_CASE(without_reflections_it_is_softmax_attention) {
  Sequence s = random_sequence({2, 2, 40, 9, 5}, 95);
  s.beta.assign(s.beta.size(), 0.0);
  check_reduction("softmax", s, "path_attention", s, {}, {}, false);
}

BOOST_AUTO_TEST_CASE(a_reflection_of_every_step_gives_alternating_signs) {
  // With beta = 2 and w = [1,0 ...] every step changes the sign of the first channel of all earlier keys. This is
  // softmax attention to keys and queries whose first channel at step t is multiplied by (-1)^t.
  const int D = 9;
  Sequence s = random_sequence({2, 2, 40, D, 5}, 96), signs = s;
  s.beta.assign(s.beta.size(), 2.0), s.w.assign(s.w.size(), 0.0);
  for (size_t i = 0; i < s.k.size(); i += D) {
    s.w[i] = 1;
    if (i / D % 40 % 2 == 1) signs.k[i] *= -1, signs.q[i] *= -1;
  }
  check_reduction("softmax", signs, "path_attention", s, {}, {}, false);
}

BOOST_AUTO_TEST_CASE(a_projection_hides_earlier_keys) {
  // With beta = 1 and unit w = k_3 = q_3 the earlier keys lose their component along w: their logits are 0, that of k_3
  // is 1.
  Sequence s = random_sequence({1, 1, 3, 4, 1}, 97);
  s.v = {0, 0, 1}, s.beta = {1, 1, 1};
  for (int j = 0; j < 4; ++j) s.w[8 + j] = s.k[8 + j] = s.q[8 + j] = 0.5;
  const Variant &variant = find_variant("path_attention");
  const double e = std::exp(1.0);
  for (const char *form : {"recurrent", "chunked"})
    BOOST_TEST(forward(variant, s, {form, Real::f64, 2, variant_params(variant, {{"scale", "1"}})}).o[2] == e / (2 + e),
               boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
