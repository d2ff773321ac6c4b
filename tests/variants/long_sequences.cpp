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

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
