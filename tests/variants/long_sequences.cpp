// SPDX-License-Identifier: Apache-2.0
// 65,536 steps through every state, with gates as small as 1e-8 where the layer decays: nothing overflows, and every
// form still agrees with the definition. The environment variable LONG_STEPS sets another number of steps, and
// --log_level=message prints the errors; docs/accuracy.md shows a million steps.
#include "harness/core/text.hpp"
#include "tests/gates.hpp"
#include "tests/variants/every_form.hpp"
#include <algorithm>
#include <cstdlib>

namespace recollect {
namespace {

int steps() {
  const char *given = std::getenv("LONG_STEPS");
  return given ? std::atoi(given) : 65536;
}

const Shape long_shape{1, 1, steps(), 3, 4};

bool finite(const Output &out) {
  const auto all = [](const std::vector<double> &x) {
    return std::all_of(x.begin(), x.end(), [](double y) { return std::isfinite(y); });
  };
  return all(out.o) && all(out.state);
}

/// Parameters with which the layer supports this many steps.
Params long_params(const Variant &variant) {
  for (const ParamSpec &spec : variant.params)
    if (spec.name == "length") return variant_params(variant, {{"length", std::to_string(long_shape.T)}});
  return variant_params(variant);
}

/// The definition of one layer over a long sequence, and how far other forms may differ from it.
struct LongReference {
  const Variant &variant;
  const Params &params;
  const Sequence &s;
  Output output = forward(variant, s, {"recurrent", Real::f64, 1, params});
  double kappa = input_condition(variant, s, params, 1);

  void check(const Form &form, Real real, const char *gates) const {
    const Output out = forward(variant, s, {form.name, real, 64, params});
    const double terms = accumulated_terms(s.shape, 64), allowed = terms * epsilon_of(real) * kappa;
    const std::string found = label(variant, form, real) + ", " + gates + ": error " +
                              number(deviation(out, output).outputs) + ", allowed " + number(allowed);
    BOOST_TEST_MESSAGE(found);
    BOOST_TEST_INFO(found);
    BOOST_TEST((finite(out) && (!form.exact || within(out, output, allowed, terms, real))));
    BOOST_TEST((real == Real::f32 || !form.exact || allowed < 1e-3));
  }
};

template <class F> void every_state(const F &f) {
  for (const Variant &variant : all_variants()) {
    const Params params = long_params(variant);
    if (variant.state_shape(long_shape, params).size() > 0) f(variant, params);
  }
}

/// Calls f for every form in both real types, except the definition itself.
template <class F> void every_other_form(const Variant &variant, const F &f) {
  for (const Form &form : variant.forms)
    for (Real real : {Real::f32, Real::f64})
      if (form.name != "recurrent" || real == Real::f32) f(form, real);
}

/// Largest difference of the outputs of steps [begin, end), relative to the largest `reference` output of all steps.
double error_within(const Output &out, const Output &reference, int begin, int end) {
  double worst = 0;
  for (size_t i = size_t(begin) * long_shape.Dv; i < size_t(end) * long_shape.Dv; ++i)
    worst = std::max(worst, std::isfinite(out.o[i]) ? std::fabs(out.o[i] - reference.o[i]) : HUGE_VAL);
  return worst / max_abs(reference.o);
}

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(long_sequences)

BOOST_AUTO_TEST_CASE(tame_gates, *slow) {
  const Sequence s = random_sequence(long_shape, 5);
  every_state([&](const Variant &variant, const Params &params) {
    const LongReference reference{variant, params, s};
    every_other_form(variant, [&](const Form &form, Real real) { reference.check(form, real, "tame gates"); });
  });
}

BOOST_AUTO_TEST_CASE(tiny_gates_at_every_step_and_now_and_then, *slow) {
  for (bool every : {true, false}) {
    const char *gates = every ? "all gates 1e-8" : "some gates 1e-8";
    Sequence s = random_sequence(long_shape, 5), by_beta = s;
    const auto tiny = [every](size_t count) { return every ? std::vector<double>(count, 1e-8) : harsh_gates(count); };
    s.alpha = tiny(s.alpha.size()), s.lambda = tiny(s.lambda.size()), by_beta.beta = tiny(s.beta.size());
    every_state([&](const Variant &variant, const Params &params) {
      if (!variant.traits.stable) return; // weighted_rls is declared unstable: its P grows
      for (const auto &[taken, with] : {std::pair{variant.takes(Tensor::alpha) || variant.takes(Tensor::lambda), &s},
                                        std::pair{variant.takes(Tensor::beta), &by_beta}}) {
        if (!taken) continue;
        const LongReference reference{variant, params, *with};
        every_other_form(variant, [&](const Form &form, Real real) { reference.check(form, real, gates); });
      }
    });
  }
}

// What a layer has forgotten cannot cause errors: its errors late in a sequence are like the early ones, the largest of
// 4,096 steps within a factor of 4. A drift that grows with T would be 8 times as large after 8 times as many steps.
BOOST_AUTO_TEST_CASE(layers_that_forget_do_not_drift, *slow) {
  const int T = long_shape.T, window = 4096;
  Sequence s = random_sequence(long_shape, 6);
  std::fill(s.w.begin(), s.w.end(), 0.1); // gateloop: one phase at every step
  Sequence other = s;
  for (size_t i = 0; i < other.v.size() / 2; ++i) other.v[i] = -other.v[i];
  int forgetful = 0;
  every_state([&](const Variant &variant, const Params &params) {
    if (!variant.traits.stable) return;
    const Output reference = forward(variant, s, {"recurrent", Real::f64, 1, params}),
                 changed = forward(variant, other, {"recurrent", Real::f64, 1, params});
    const bool forgets = error_within(changed, reference, T - window, T) <= 1e-12;
    forgetful += forgets;
    for (const Form &form : variant.forms) {
      if (!form.exact) continue;
      const Output out = forward(variant, s, {form.name, Real::f32, 64, params});
      const double early = error_within(out, reference, window, 2 * window),
                   late = error_within(out, reference, T - window, T);
      const std::string found = variant.name + " " + form.name + (forgets ? ", forgets" : "") + ": error " +
                                number(early) + " early, " + number(late) + " late";
      BOOST_TEST_MESSAGE(found);
      BOOST_TEST_INFO(found);
      BOOST_TEST((!forgets || (late <= 4 * early && late < 1e-3)));
    }
  });
  BOOST_TEST(forgetful > 8);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
