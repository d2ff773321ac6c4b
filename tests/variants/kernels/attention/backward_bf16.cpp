// SPDX-License-Identifier: Apache-2.0
#include "tests/variants/kernels/attention_widths.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(attention_backward_bf16)

BOOST_AUTO_TEST_CASE(heads_of_any_width_equal_float64) {
  check_widths_backward("softmax", Math::bf16); // a CPU computes in float32
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
