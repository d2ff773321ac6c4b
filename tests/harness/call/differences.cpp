// SPDX-License-Identifier: Apache-2.0
// What differences detect, on any device. tests/harness/call/gradient.cpp compares the tape with them.
#include "harness/call/differences.hpp"
#include "harness/call/backward.hpp"
#include "tests/harness/call/gradient_case.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(differences)

BOOST_AUTO_TEST_CASE(every_backward_pass_agrees) {
  int found = 0;
  for (const Variant &variant : all_variants()) {
    const std::string form = backward_form(variant);
    if (!find_form(variant, form).vjp) continue;
    const GradientCase c = case_of(variant, {1, 2, 7, 8, 8}, 3);
    const Sequence g = backward(variant, c.s, {form, Real::f64, 4, c.params}, c.weights);
    for (const Slope &slope : slopes(variant, c.s, c.params, c.weights, g))
      BOOST_TEST(slope.right(), variant.name << " " << slope.name << ": " << slope.claimed << ", differences "
                                             << slope.measured << ", terms " << slope.size);
    ++found;
  }
  BOOST_TEST(found > 0);
}

BOOST_AUTO_TEST_CASE(see_one_part_in_a_million) {
  const GradientCase c = case_of(find_variant("gated_delta_net"), {1, 2, 7, 8, 8}, 3);
  Sequence g = backward(c.variant, c.s, {"fast", Real::f64, 4, c.params}, c.weights);
  for (double &x : g.alpha) x *= 1 + 1e-6;
  g.k[3] = std::nan("");
  for (const Slope &slope : slopes(c.variant, c.s, c.params, c.weights, g))
    BOOST_TEST(slope.right() == (slope.name != "dalpha" && slope.name != "dk"), slope.name);
}

BOOST_AUTO_TEST_CASE(in_113_bits_tell_right_from_wrong) {
  GradientCase c = case_of(find_variant("weighted_rls"), {1, 1, 40, 8, 4}, 3);
  for (double &x : c.s.alpha) x = 0.5; // P grows without bound
  const Sequence g = backward(c.variant, c.s, {"fast", Real::f64, 64, c.params}, c.weights);
  for (Slope slope : slopes(c.variant, c.s, c.params, c.weights, g)) {
    BOOST_TEST(right_in_113_bits(slope, c.variant, c.s, c.params, c.weights), slope.name);
    slope.claimed += 1e-6 * slope.size;
    BOOST_TEST(!right_in_113_bits(slope, c.variant, c.s, c.params, c.weights), slope.name);
  }
}

/// Among 43,000 pairs one has z = 6e-7, closer to the kink of max(z, 0) than the first step of the differences.
BOOST_AUTO_TEST_CASE(come_nearer_where_there_is_a_kink) {
  const GradientCase c = case_of(find_variant("ffn_relu"), {1, 2, 147, 18, 33}, 12);
  const Sequence g = backward(c.variant, c.s, {"fast", Real::f64, 64, c.params}, c.weights);
  for (const Slope &slope : slopes(c.variant, c.s, c.params, c.weights, g)) BOOST_TEST(slope.right(), slope.name);
  Sequence wrong = g;
  for (double &x : wrong.q) x *= 1 + 1e-4;
  for (const Slope &slope : slopes(c.variant, c.s, c.params, c.weights, wrong))
    BOOST_TEST(slope.right() == (slope.name != "dq"), slope.name);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
