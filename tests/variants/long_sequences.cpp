// SPDX-License-Identifier: Apache-2.0
// 65,536 steps through every chunked linear state, with gates as small as 1e-8 where the layer decays: nothing
// overflows, and the chunked form is the definition still.
#include "tests/gates.hpp"
#include "tests/variants/long_testing.hpp"

namespace recollect {
namespace {

bool takes(const Variant &variant, const std::string &input) {
  return std::any_of(variant.inputs.begin(), variant.inputs.end(), [&](const Input &i) { return i.name == input; });
}

/// The layers with a chunked linear state, with parameters that take so many steps.
template <class F> void every_chunked(const F &f) {
  for (const Variant &variant : all_variants()) {
    const Params params = variant_params(variant);
    if (!variant.find_form("chunked") || variant.state_shape(long_shape, params).size() == 0) continue;
    if (!variant.unsuitable || variant.unsuitable(long_shape, params).empty()) f(variant, params);
  }
}

/// Largest difference of the outputs of steps [begin, end), in units of the largest `reference` of all.
double error_within(const Output &out, const Output &reference, int begin, int end) {
  double worst = 0;
  for (size_t i = size_t(begin) * long_shape.Dv; i < size_t(end) * long_shape.Dv; ++i)
    worst = std::max(worst, std::fabs(out.o[i] - reference.o[i]));
  return worst / max_abs(reference.o);
}

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(long_sequences)

BOOST_AUTO_TEST_CASE(every_linear_state) {
  const Sequence s = random_sequence(long_shape, 5);
  every_chunked([&](const Variant &variant, const Params &params) { check_chunked(variant, params, s, "tame gates"); });
}

BOOST_AUTO_TEST_CASE(tiny_gates_at_every_step_and_now_and_then) {
  for (bool every : {true, false}) {
    const char *gates = every ? "all gates 1e-8" : "some gates 1e-8";
    Sequence s = random_sequence(long_shape, 5), by_beta = s;
    const auto tiny = [every](size_t count) { return every ? std::vector<double>(count, 1e-8) : harsh_gates(count); };
    s.alpha = tiny(s.alpha.size()), s.lambda = tiny(s.lambda.size()), by_beta.beta = tiny(s.beta.size());
    every_chunked([&](const Variant &variant, const Params &params) {
      if (!variant.traits.stable) return; // weighted_rls winds up, and says so
      if (takes(variant, "alpha") || takes(variant, "lambda")) check_chunked(variant, params, s, gates);
      if (takes(variant, "beta")) check_chunked(variant, params, by_beta, gates);
    });
  }
}

// What a layer has forgotten cannot make it err: its errors late in a sequence are those early on, the largest of 4,096
// steps within a factor of 4. A drift that grows with T is 8 times as large after 8 times as many steps.
BOOST_AUTO_TEST_CASE(layers_that_forget_do_not_drift) {
  const int T = long_shape.T, window = 4096;
  Sequence s = random_sequence(long_shape, 6);
  std::fill(s.w.begin(), s.w.end(), 0.1); // gateloop: one phase at every step
  Sequence other = s;
  for (size_t i = 0; i < other.v.size() / 2; ++i) other.v[i] = -other.v[i];
  int forgetful = 0;
  every_chunked([&](const Variant &variant, const Params &params) {
    if (!variant.traits.stable) return;
    const Output reference = forward(variant, s, {"recurrent", Real::f64, 1, params}),
                 changed = forward(variant, other, {"recurrent", Real::f64, 1, params});
    if (!(error_within(changed, reference, T - window, T) <= 1e-12)) return;
    ++forgetful;
    for (const char *form : {"recurrent", "chunked"}) {
      const Output out = forward(variant, s, {form, Real::f32, 64, params});
      const double early = error_within(out, reference, window, 2 * window),
                   late = error_within(out, reference, T - window, T);
      BOOST_TEST_INFO(variant.name << " " << form << ": error " << early << " early, " << late << " late");
      BOOST_TEST((late <= 4 * early && late < 1e-3));
    }
  });
  BOOST_TEST(forgetful > 8);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
