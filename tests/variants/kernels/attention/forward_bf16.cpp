// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/variants/kernels/attention_widths.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(attention_forward_bf16)

BOOST_AUTO_TEST_CASE(heads_of_any_width_equal_the_definition) {
  if (has_math(Math::bf16))
    check_widths_forward("softmax", Math::bf16);
  else
    BOOST_CHECK_THROW(check_widths_forward("softmax", Math::bf16), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
