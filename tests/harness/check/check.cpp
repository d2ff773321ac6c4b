// SPDX-License-Identifier: Apache-2.0
#include "harness/check/check.hpp"
#include "harness/core/error.hpp"
#include "harness/check/samples.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(checks)

const Variant &layer() { return find_variant("delta_net"); }
Sequence inputs() { return sample(layer(), {1, 2, 40, 6, 4}, "random", 1); }
Output right_output() { return forward(layer(), inputs(), {"recurrent", Real::f64, 1, variant_params(layer())}); }
Checked checked(const Output &candidate, Precision precision = Precision::f32) {
  return check(layer(), inputs(), variant_params(layer()), candidate, precision);
}

BOOST_AUTO_TEST_CASE(precisions_are_spacings_at_1) {
  BOOST_TEST(spacing(parse_precision("f32")) == std::ldexp(1, -23));
  BOOST_TEST(spacing(parse_precision("tf32")) == std::ldexp(1, -10));
  BOOST_TEST(spacing(parse_precision("f16")) == std::ldexp(1, -10));
  BOOST_TEST(spacing(parse_precision("bf16")) == std::ldexp(1, -7));
  BOOST_CHECK_THROW(parse_precision("fp8"), Error);
}

BOOST_AUTO_TEST_CASE(the_definition_is_right_with_no_error) {
  const Checked c = checked(right_output());
  BOOST_TEST((c.right() && c.has_state && c.outputs.worst == 0 && c.state.rms == 0));
  BOOST_TEST(c.bound == (40 + 6 + 64) * std::ldexp(1, -23) * c.condition);
  BOOST_TEST(checked(right_output(), Precision::bf16).bound > 100 * c.bound);
}

BOOST_AUTO_TEST_CASE(one_wrong_element_is_named_by_where_it_is) {
  Output o = right_output();
  double largest = 0;
  for (double x : o.o) largest = std::max(largest, std::fabs(x));
  o.o[(size_t(1) * 40 + 17) * 4 + 2] += 0.5 * largest; // head 1, step 17, channel 2
  const Checked c = checked(o);
  BOOST_TEST((!c.right() && c.state.first_bad.empty()));
  BOOST_TEST((c.outputs.first_bad == std::vector<long>{0, 1, 17, 2}));
  BOOST_TEST(std::fabs(c.outputs.worst - 0.5) < 1e-12);
  for (const auto &[first, end, worst] : c.by_step) BOOST_TEST((worst > 0) == (first <= 17 && 17 < end));
  BOOST_TEST(c.diagnosis == ""); // no known mistake changes one element
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_is_wrong) {
  Output o = right_output();
  o.o[3] = std::nan("");
  BOOST_TEST(!checked(o).right());
  o = right_output();
  o.state[0] = HUGE_VAL;
  BOOST_TEST((checked(o).state.first_bad == std::vector<long>{0, 0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(a_layer_without_erasing_is_told_by_its_name) {
  Sequence s = inputs();
  for (double &b : s.beta) b = 1;
  const Checked c = checked(forward(layer(), s, {"recurrent", Real::f64, 1, variant_params(layer())}));
  BOOST_TEST(!c.right());
  BOOST_TEST(c.diagnosis == "beta is not applied");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
