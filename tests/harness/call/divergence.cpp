// SPDX-License-Identifier: Apache-2.0
#include "harness/call/divergence.hpp"
#include "harness/run/run.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
namespace {

/// Two heads of 30 steps. From step 9 on keys are so long that a delta rule overflows float64 within a few steps.
Sequence long_keys() {
  Sequence s = random_sequence({2, 1, 30, 4, 3}, 61);
  for (size_t i = 0; i < s.k.size(); ++i)
    if (i / 4 % 30 >= 9) s.k[i] *= 1e60;
  return s;
}

} // namespace

BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(diverging)

BOOST_AUTO_TEST_CASE(names_the_earliest_step_and_its_head) {
  const Shape shape{1, 2, 3, 1, 2};
  Output out{std::vector<double>(12, 1.0), {1, 1}, {1, 1}};
  BOOST_TEST(divergence(out, shape).empty());
  out.state[1] = HUGE_VAL;
  BOOST_TEST(divergence(out, shape) == "the final state");
  out.o[5] = std::nan(""); // head 0, step 2
  out.o[9] = -HUGE_VAL;    // head 1, step 1
  BOOST_TEST(divergence(out, shape) == "step 1 of head 1");
}

BOOST_AUTO_TEST_CASE(what_diverges_says_from_where) {
  const Sequence s = long_keys();
  const Variant &delta = find_variant("delta_net");
  for (const char *form : {"recurrent", "chunked"}) {
    const Run run{form, Real::f64, 16, {}};
    Output out = forward(delta, s, run);
    const std::string note = settle(delta, s, run, out);
    BOOST_TEST_INFO(note);
    BOOST_TEST(note.find("diverged in f64 at step 1") ==
               0u); // at a step between 10 and 19: each step multiplies by 1e120
    for (size_t i = 0; i < 9 * 3; ++i) BOOST_TEST(std::isfinite(out.o[i]));
  }
}

BOOST_AUTO_TEST_CASE(a_definition_that_stays_in_range_takes_the_fast_forms_place) {
  Variant mixed = find_variant("delta_net"); // the sum of all writes, with a fast form that overflows
  mixed.forms[0] = find_variant("linear").forms[0], mixed.params = find_variant("linear").params;
  const Sequence s = long_keys();
  const Run run{"chunked", Real::f64, 16, {}};
  Output out = forward(mixed, s, run);
  const std::string note = settle(mixed, s, run, out);
  BOOST_TEST_INFO(note);
  BOOST_TEST(note.find("recurrent in place of chunked, which diverged in f64 at step 1") == 0u);
  BOOST_TEST(out.o == forward(find_variant("linear"), s).o);
  mixed.forms[1].exact = false; // the fast form is not exact, so the definition must not replace it
  BOOST_TEST(settle(mixed, s, run, out = forward(mixed, s, run)).find("diverged") == 0u);
}

BOOST_AUTO_TEST_CASE(a_matrix_that_the_type_does_not_resolve_is_named) {
  Sequence s = random_sequence({1, 2, 6, 2, 3}, 62);
  for (size_t i = 0; i < s.k.size(); ++i) s.k[i] = i >= 6 * 2 && i % 2 == 0; // head 1: one unit key at every step
  s.alpha.assign(12, 1), s.beta.assign(12, 1);
  const auto note = [&](const char *name, Real real, const char *ridge) {
    const Variant &variant = find_variant(name);
    const Run run{"chunked", real, 16, variant_params(variant, {{"ridge", ridge}})};
    Output out = forward(variant, s, run);
    return settle(variant, s, run, out);
  };
  for (const char *name : {"rls", "mesa", "intention"}) { // M_t = ridge I + (t + 1) e e^T
    BOOST_TEST(note(name, Real::f32, "1e-8") ==
               "f32 does not resolve the matrix solved at step 5 of head 1, of condition number 6e+08");
    BOOST_TEST(note(name, Real::f64, "1e-8") == "");
    BOOST_TEST(note(name, Real::f32, "1e-6") == ""); // condition number 6e6, below the limit of 8e6
  }
  s.alpha.assign(12, 0.5), s.k.assign(24, 0), s.k[12] = 1; // weighted_rls forgets its ridge and all else equally fast
  BOOST_TEST(note("weighted_rls", Real::f32, "1e-8") ==
             "f32 does not resolve the matrix solved at step 0 of head 1, of condition number 2e+08");
  s.state.assign(2 * 5 * 2, 1); // the contents of a given state are unknown
  BOOST_TEST(unresolved(find_variant("rls"), s, {"chunked", Real::f32, 16, {}}) == "");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
