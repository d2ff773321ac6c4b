// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_6_variations)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) { // once: the seeds of the trainings are their own
  for (const char *id : {"vla_copy_reduced", "vla_nan_reduced", "vla_ablation_reduced", "vla_longcontext_reduced",
                         "vla_ood_reduced", "vla_overload_reduced"})
    check_claim(find_claim(id), {Effort::quick, 1, {}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
