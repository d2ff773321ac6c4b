// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(vla_dynamics)

BOOST_AUTO_TEST_CASE(claims_come_out_as_stated) {
  check_claims({"vla_a_decay_56_to_10", "linattn_norm_ot", "vla_fig4_*"});
}

BOOST_AUTO_TEST_CASE(untrained_recall_comes_out_as_stated) {
  check_claims({"vla_mqar_*", "vla_overload_graceful", "vla_capacity_tight_at_dh", "vla_ablation_*", "vla_remark_*",
                "vla_longcontext_untrained", "vla_internal_table_*"});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
