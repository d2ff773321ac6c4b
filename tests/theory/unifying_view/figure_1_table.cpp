// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(figure_1_table)

BOOST_AUTO_TEST_CASE(at_points_of_our_own) {
  check_claim_at("blog_table_forms", {{"T", "9"}, {"Dk", "3"}, {"Dv", "6"}}, 4);
  check_claim_at("blog_table_forms", {{"T", "5"}, {"Dk", "4"}, {"Dv", "4"}}, 4);
}

BOOST_AUTO_TEST_CASE(one_step_by_hand) {
  // S = (1, 2), k = (1, 0), v = 5, beta = alpha = 1/2. DeltaNet: S (I - k k^T / 2) = (1/2, 2), plus 5/2 k^T. Gated: the
  // first half of that. Mamba2: S / 2 + 5 k^T.
  Sequence s = one_head(1, {1, 0}, {1, 0}, {5});
  s.state = {1, 2};
  const auto state = [&](const char *layer, bool beta, bool alpha) {
    s.beta.assign(beta, 0.5), s.alpha.assign(alpha, 0.5);
    return forward(find_variant(layer), s).state;
  };
  check_close(state("linear", false, false), {6, 2}, 0);
  check_close(state("delta_net", true, false), {3, 2}, 0);
  check_close(state("gated_delta_net", true, true), {2.75, 1}, 0);
  check_close(state("mamba2", false, true), {5.5, 1}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
