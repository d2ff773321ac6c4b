// SPDX-License-Identifier: Apache-2.0
#include "tests/variants/kernels/attention_widths.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(attention_chosen)

BOOST_AUTO_TEST_CASE(heads_of_any_width_equal_the_definition) {
  for (const char *layer : {"relu_kernel", "exp_unnormalized"}) {
    check_widths_forward(layer, Math::exact), check_widths_backward(layer, Math::exact);
    if (has_math(Math::bf16)) check_widths_forward(layer, Math::bf16);
  }
  check_widths_backward("exp_unnormalized", Math::bf16); // rounding moves some products across relu's kink
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
