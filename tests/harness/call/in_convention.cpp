// SPDX-License-Identifier: Apache-2.0
#include "harness/call/in_convention.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(samples_in_conventions)

using Numbers = std::vector<double>;

BOOST_AUTO_TEST_CASE(a_sample_in_a_convention_means_what_was_drawn) {
  for (Gate gate : {Gate::factor, Gate::log, Gate::log2, Gate::gdn, Gate::kda_lb, Gate::rwkv})
    for (Strength strength : {Strength::factor, Strength::doubled, Strength::sigmoid, Strength::sigmoid_double}) {
      Sequence s = random_sequence({2, 2, 5, 3, 2}, 1);
      s.w.clear(), s.lambda.clear();
      Convention c;
      c.gate = gate, c.strength = strength;
      const Variant &layer = find_variant("gated_delta_net");
      const LayerInputs back = to_layer(in_convention(s, {}, {2, 3}, c, {}, 1), layer, variant_params(layer), c, false);
      BOOST_TEST((back.all.q == s.q && back.all.v == s.v));
      check_close(back.all.beta, s.beta, 1e-14);
      check_close(back.all.alpha, s.alpha, 1e-14);
    }
}

BOOST_AUTO_TEST_CASE(a_sample_has_the_arrays_that_are_asked_for) {
  Sequence s;
  s.shape = {1, 4, 1, 1, 1};
  s.q = s.k = s.v = {1, 2, 3, 4}, s.alpha = {1, 0.5, 0.25, 0.125}, s.beta = {5, 6, 7, 8}, s.state = {9, 9, 9, 9};
  Convention c;
  c.gate = Gate::log2;
  Sharing sharing;
  sharing.q_heads = 2, sharing.v_heads = 1, sharing.skip = sharing.gate = true, sharing.cu_seqlens = {0, 1};
  UsersArrays user = in_convention(s, {{1, 1, 1, 1}, {}}, {1, 1}, c, sharing, 1);
  BOOST_TEST((user["q"].data == Numbers{1, 3} && user["q"].dims == Dims{1, 2, 1, 1}));
  BOOST_TEST((user["k"].data == s.k && user["v"].data == Numbers{1}));
  check_close(user["alpha"].data, {0, -1, -2, -3}, 1e-15);
  BOOST_TEST((user["beta"].data == s.beta && user["beta"].dims == Dims{1, 4, 1}));
  BOOST_TEST((user["D"].dims == Dims{4} && user["z"].dims == Dims{1, 4, 1, 1} && user["z"].data.size() == 4u));
  BOOST_TEST((user["cu_seqlens"].data == Numbers{0, 1} && user["state"].dims == Dims{1, 4, 1, 1}));
  BOOST_TEST((user["do"].data == Numbers(4, 1.0) && user.count("dfinal_state") == 0u && user.count("A_log") == 0u));
  c.gate = Gate::mamba;
  user = in_convention(s, {}, {1, 1}, c, {}, 1);
  BOOST_TEST((user.count("beta") == 0u && user.count("D") == 0u && user.count("z") == 0u && user.count("do") == 0u));
  for (size_t h = 0; h < 4; ++h) { // decay exp(A dt)
    BOOST_TEST((user["A"].data[h] <= -1 && user["A"].data[h] >= -16));
    BOOST_TEST(std::fabs(std::exp(user["A"].data[h] * user["alpha"].data[h]) - s.alpha[h]) < 1e-15);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
