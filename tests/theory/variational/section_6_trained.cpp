// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_6_trained)

BOOST_AUTO_TEST_CASE(what_needs_training_or_a_gpu_is_not_tested) {
  for (const char *id : {"vla_training_setup", "vla_mqar_capacity_curve", "vla_triton_14x"}) {
    const Finding found = examine(find_claim(id), {Effort::quick, 1, {}});
    BOOST_TEST(name_of(found.verdict) == std::string("not_tested"));
    BOOST_TEST(!found.tested());
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
