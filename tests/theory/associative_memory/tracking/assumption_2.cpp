// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(assumption_2)

BOOST_AUTO_TEST_CASE(at_points_of_its_own) {
  check_claim_at("round_assumption2", {{"eps", "0.05"}});
  refuse_point("round_assumption2", {{"eps", "0.2"}});
}

BOOST_AUTO_TEST_CASE(similarities_of_the_layer_by_hand) {
  check_close(similarity_of_layer({-1.6, 0.4, 2}, "round"), {-2, 0, 2}, 0);
  check_close(similarity_of_layer({-1.6, 0.4, 2}, "relu"), {0, 0.4, 2}, 0);
  check_close(similarity_of_layer({0, 1}, "exp"), {1, std::exp(1.0)}, 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
