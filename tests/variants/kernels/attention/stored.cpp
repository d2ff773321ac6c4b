// SPDX-License-Identifier: Apache-2.0
// Softmax attention on arrays of 16 bits. A CPU converts them to float32.
#include "tests/variants/kernels/attention_widths.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(attention_stored)

BOOST_AUTO_TEST_CASE(heads_of_any_width_equal_float64) {
  for (Real real : {Real::bf16, Real::f16}) {
    check_widths_forward("softmax", Math::exact, real);
    check_widths_backward("softmax", Math::exact, real);
  }
}

BOOST_AUTO_TEST_CASE(gradients_of_any_length_equal_float64) {
  for (Real real : {Real::bf16, Real::f16})
    for (int width : {64, 128})
      for (int T : {2, 63, 64, 65, 128, 129, 700})
        check_gradients("softmax", {2, 2, T, width, width}, Math::exact, real);
}

BOOST_AUTO_TEST_CASE(an_overflow_changes_no_query_before_it) {
  const Variant &softmax = find_variant("softmax");
  for (int width : {64, 128}) {
    const Shape shape{1, 2, 200, width, width};
    Sequence s = random_sequence(shape, 74);
    const Run run{backward_form(softmax), Real::bf16, 64, variant_params(softmax)};
    const auto earlier = [&] { // dq of all queries but the last
      const Sequence d = backward(softmax, s, run, {random_sequence(shape, 75).v, {}});
      std::vector<double> all;
      for (int head = 0; head < shape.H; ++head) {
        const auto first = d.q.begin() + std::ptrdiff_t(head) * shape.T * width;
        all.insert(all.end(), first, first + (shape.T - 1) * width);
      }
      return all;
    };
    const std::vector<double> usual = earlier();
    for (int head = 0; head < shape.H; ++head) {
      const auto last = s.v.begin() + (std::ptrdiff_t(head + 1) * shape.T - 1) * width;
      std::fill(last, last + width, 3e38); // products of these numbers with do overflow float32
    }
    check_close(earlier(), usual, allowed_of(Math::bf16) * max_abs(usual));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
