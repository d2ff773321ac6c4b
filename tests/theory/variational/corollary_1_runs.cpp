// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/variational/unit_jacobian.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(corollary_1_runs)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("vla_prop2_real_runs", {{"d", "5"}, {"T", "25"}, {"lambda0", "0.02"}});
  check_claim_at("vla_cor1_adversarial_real", {{"d", "3"}});
}

BOOST_AUTO_TEST_CASE(first_write_direction_is_the_key) {
  // A_0 = I / lambda0 and u = k: A_1 k = k / (lambda0 + 1), so a_1 = k and J_1 is a projector of norm 1.
  Vla memory(3, 1, 0.1);
  memory.chain = Dense::identity(3);
  memory.step({0.6, 0.8, 0}, {0.6, 0.8, 0}, {1});
  check_close(memory.a, {0.6, 0.8, 0}, 1e-15);
  BOOST_TEST(std::fabs(spectral_norm(memory.chain) - 1) < 1e-14);
}

BOOST_AUTO_TEST_CASE(layer_and_dense_algebra_take_the_same_two_steps) {
  // lambda0 = 1, u = e1 then e2 at k = (3, 4) / 5: A_2 = I / 2, so a_2 = k and the chain of the second step is I - k k^T.
  Vla layer(2, 1, 1);
  VlaAlgebra algebra(2, 1, 1);
  layer.chain = Dense::identity(2);
  for (const Vector &u : {Vector{1, 0}, Vector{0, 1}}) layer.step({0.6, 0.8}, u, {1}), algebra.step({0.6, 0.8}, u, {1});
  check_close(layer.a, {0.6, 0.8}, 1e-15);
  check_close(algebra.a, {0.6, 0.8}, 1e-15);
  check_close(layer.chain.data, algebra.chain.data, 1e-15);
  check_close(layer.S.data, algebra.S.data, 1e-15);
}

BOOST_AUTO_TEST_CASE(growth_along_one_repeated_key) {
  // u = k for ever: J = I - k k^T at every step, and det M_t / det M_0 = 1 + t / lambda0.
  const Vector key{0, 1, 0};
  Inputs x{3, {}, {}, {}};
  for (int t = 0; t < 4; ++t) append_row(x.keys, key);
  x.penalties = x.keys;
  const Growth g = growth_of(x, 0.5);
  check_close(g.chains, {1, 1, 1, 1}, 1e-14);
  BOOST_TEST(std::fabs(g.over_ceiling - 1 / std::sqrt(3.0)) < 1e-14); // at t = 1
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
