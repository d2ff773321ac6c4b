// SPDX-License-Identifier: Apache-2.0
#include "tests/variants/kernels/attention_widths.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(attention_chosen)

BOOST_AUTO_TEST_CASE(heads_of_any_width_equal_the_definition) {
  for (const char *layer : {"relu_kernel", "exp_unnormalized"})
    for (Math math : {Math::exact, Math::bf16})
      if (has_math(math)) check_widths_forward(layer, math), check_widths_backward(layer, math);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
