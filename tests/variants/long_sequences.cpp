// SPDX-License-Identifier: Apache-2.0
// 65,536 steps through every chunked linear state, with gates as small as 1e-8 where the layer decays: nothing
// overflows, and the chunked form is the definition still.
#include "tests/gates.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

const Shape long_shape{1, 1, 65536, 3, 2};

bool decays(const Variant &variant) {
  return variant.name == "scalar_gated_delta" || // by beta
         std::any_of(variant.inputs.begin(), variant.inputs.end(),
                     [](const Input &i) { return i.name == "alpha" || i.name == "lambda"; });
}

bool finite(const Output &out) {
  const auto all = [](const std::vector<double> &x) {
    return std::all_of(x.begin(), x.end(), [](double y) { return std::isfinite(y); });
  };
  return all(out.o) && all(out.state);
}

void check_chunked(const Variant &variant, const Sequence &s, const char *gates) {
  const Params params =
      variant_params(variant, variant.name == "cosformer" ? Assignments{{"length", "65536"}} : Assignments{});
  const Output reference = forward(variant, s, {"recurrent", Real::f64, 1, params});
  const double kappa = input_condition(variant, s, params, 1);
  for (Real real : {Real::f32, Real::f64}) {
    const Output out = forward(variant, s, {"chunked", real, 64, params});
    const double error = deviation(out, reference).largest(),
                 allowed = accumulated_terms(s.shape, 64) * epsilon_of(real) * kappa;
    BOOST_TEST_INFO(variant.name << " " << name_of(real) << ", " << gates << ": error " << error << ", allowed "
                                 << allowed << ", kappa " << kappa);
    BOOST_TEST((finite(out) && error <= allowed && (real == Real::f32 || allowed < 1e-3)));
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(long_sequences)

BOOST_AUTO_TEST_CASE(every_linear_state) {
  const Sequence s = random_sequence(long_shape, 5);
  for (const Variant &variant : all_variants())
    if (variant.find_form("chunked") && variant.state_shape(long_shape, variant_params(variant)).size() > 0)
      check_chunked(variant, s, "tame gates");
}

BOOST_AUTO_TEST_CASE(tiny_gates_at_every_step_and_now_and_then) {
  for (bool every : {true, false}) {
    Sequence s = random_sequence(long_shape, 5);
    s.alpha = every ? std::vector<double>(s.alpha.size(), 1e-8) : harsh_gates(s.alpha.size());
    s.lambda = every ? std::vector<double>(s.lambda.size(), 1e-8) : harsh_gates(s.lambda.size());
    Sequence by_beta = s;
    by_beta.beta = s.alpha;
    for (const Variant &variant : all_variants())
      if (decays(variant) && variant.find_form("chunked") &&
          variant.state_shape(long_shape, variant_params(variant)).size() > 0 &&
          variant.traits.stable) // weighted_rls winds up, and says so
        check_chunked(variant, variant.name == "scalar_gated_delta" ? by_beta : s,
                      every ? "all gates 1e-8" : "some gates 1e-8");
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
