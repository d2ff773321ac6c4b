// SPDX-License-Identifier: Apache-2.0
#include "tests/variants/kernels/attention_widths.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(attention_forward_exact)

BOOST_AUTO_TEST_CASE(heads_of_any_width_equal_the_definition) { check_widths_forward("softmax", Math::exact); }

BOOST_AUTO_TEST_CASE(a_negative_scale_prefers_what_is_unlike) {
  // Products 3 and -3, times -1000: the second key has all the weight.
  std::vector<double> k(256, 0), q(256, 0);
  q[0] = q[128] = 3, k[0] = 1, k[128] = -1;
  const Params params = variant_params(find_variant("softmax"), {{"scale", "-1000"}});
  for (Real real : {Real::f32, Real::f64})
    check_close(forward(find_variant("softmax"), one_head(2, q, k, {5, 7}), {"parallel", real, 64, params}).o, {5, 7},
                0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
