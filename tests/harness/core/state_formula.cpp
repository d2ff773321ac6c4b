// SPDX-License-Identifier: Apache-2.0
#include "harness/core/state_formula.hpp"
#include "harness/run/run.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(state_formulas)

BOOST_AUTO_TEST_CASE(formulas_of_some_layers) {
  const auto formula = [](const char *name) { return state_formula(find_variant(name)).str(); };
  BOOST_TEST(formula("linear") == "Dk Dv");
  BOOST_TEST(formula("linear_elu") == "Dk (Dv + 1)");
  BOOST_TEST(formula("based") == "(Dv + 1) (0.5 Dk^2 + 1.5 Dk + 1)");
  BOOST_TEST(formula("dpfp") == "2 Dk nu (Dv + 1)");
  BOOST_TEST(formula("mesa") == "Dk (Dk + Dv)");
  BOOST_TEST(formula("ttt_mlp") == "width (Dk + Dv)");
  BOOST_TEST(formula("softmax") == "T (Dk + Dv)");
  BOOST_TEST(formula("atlas") == "(Dv + window - 1) (Dk + window - 1)");
  BOOST_TEST(state_formula(find_variant("power_attention")).fixed.at(0) == "degree = 2");
}

BOOST_AUTO_TEST_CASE(formulas_are_the_layers_own_counts) {
  for (const Variant &v : all_variants()) {
    const StateFormula formula = state_formula(v);
    Params params = resolve(v.params, {}, v.name);
    for (const ParamSpec &p : v.params)
      if (!p.automatic.empty() && params.has(p.name)) params.set(p.name, 11);
    for (const Shape &shape : {Shape{1, 1, 1, 3, 10}, Shape{2, 3, 9, 64, 64}, Shape{1, 1, 1, 128, 80}})
      BOOST_TEST(8 * formula.at(shape, params) == state_bytes(v, shape, params, Real::f64),
                 v.name << ": " << formula.str());
  }
}

BOOST_AUTO_TEST_CASE(a_count_without_a_formula_is_refused) {
  Variant v = find_variant("linear");
  v.state_shape = [](const Shape &s, const Params &) { return StateShape{s.Dv, s.Dk * s.Dk * s.Dk}; };
  BOOST_CHECK_THROW(state_formula(v), std::logic_error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
