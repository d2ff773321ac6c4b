// SPDX-License-Identifier: Apache-2.0
#include "harness/check/self.hpp"
#include "harness/call/backward.hpp"
#include "tests/testing.hpp"
#include <set>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(self_checks)

std::vector<SelfCase> quick(const std::string &name) {
  SelfOptions options;
  options.quick = true;
  std::vector<SelfCase> all;
  check_forms(find_variant(name), options, [&](const SelfCase &one) { all.push_back(one); });
  return all;
}

BOOST_AUTO_TEST_CASE(every_exact_form_is_held_in_both_types_with_gradients) {
  std::set<std::string> forms;
  for (const SelfCase &one : quick("gated_delta_net")) {
    forms.insert(one.form + " " + name_of(one.real));
    std::set<std::string> parts;
    for (const Judged &part : one.checked.parts) parts.insert(part.name);
    BOOST_TEST((parts.count("o") && parts.count("state")));
    BOOST_TEST(parts.count("dk") == size_t(one.form == "chunked"));
    BOOST_TEST(one.checked.right(), one.title());
  }
  BOOST_TEST((forms == std::set<std::string>{"recurrent f32", "chunked f32", "chunked f64"}));
  for (const SelfCase &one : quick("ttt_linear"))
    BOOST_TEST(one.form != "minibatch"); // only approximately equal to the definition
}

BOOST_AUTO_TEST_CASE(a_layer_whose_cases_are_shorter_has_quick_ones) { // weighted_rls has no case of 2 or of 65 steps
  BOOST_TEST(!quick("weighted_rls").empty());
}

BOOST_AUTO_TEST_CASE(forms_are_held_on_arrays_of_16_bits_too) {
  for (Real real : {Real::bf16, Real::f16}) {
    SelfOptions options;
    options.quick = true, options.reals = {real};
    std::set<std::string> forms;
    check_forms(find_variant("gated_delta_net"), options, [&](const SelfCase &one) {
      forms.insert(one.form + " " + name_of(one.real));
      BOOST_TEST(one.checked.right(), one.title());
      BOOST_TEST(one.checked.inexact.empty(), one.title()); // the battery's inputs are exact in this type
    });
    BOOST_TEST((forms == std::set<std::string>{std::string("recurrent ") + name_of(real),
                                               std::string("chunked ") + name_of(real)}));
  }
}

/// Gradients of nlms at keys of a norm near 0 exceed 65504: no kernel can store them in float16, but all can in
/// bfloat16. The recurrent form is not skipped, because it has outputs only.
BOOST_AUTO_TEST_CASE(what_float16_cannot_hold_is_skipped) {
  int skipped = 0;
  for (Real real : {Real::f16, Real::bf16}) {
    SelfOptions options;
    options.quick = true, options.reals = {real};
    check_forms(find_variant("nlms"), options, [&](const SelfCase &one) {
      BOOST_TEST((one.checked.judgement != Judgement::wrong || !one.skipped.empty()), one.title());
      if (one.skipped.empty()) return;
      BOOST_TEST((one.form == "chunked" && one.skipped == "dk is beyond the largest number of f16"), one.skipped);
      ++skipped;
    });
  }
  BOOST_TEST(skipped == 1);
}

/// A layer whose fast form computes another layer in float32.
BOOST_AUTO_TEST_CASE(a_wrong_form_fails, *slow) {
  Variant wrong = find_variant("linear");
  wrong.forms[1].f32 = find_variant("nlms").forms[0].f32;
  int failed = 0;
  SelfOptions options;
  options.quick = true;
  check_forms(wrong, options, [&](const SelfCase &one) {
    const bool is_wrong = one.form == "chunked" && one.real == Real::f32;
    BOOST_TEST(((one.checked.judgement == Judgement::wrong) == is_wrong), one.title());
    failed += is_wrong;
  });
  BOOST_TEST(failed > 0);
}

/// Rounding is measured with the definition in float32; a fault there must not pass for rounding.
BOOST_AUTO_TEST_CASE(a_definition_that_is_wrong_in_float32_fails) {
  Variant wrong = find_variant("linear");
  wrong.forms[0].f32 = find_variant("nlms").forms[0].f32;
  int failed = 0;
  SelfOptions options;
  options.quick = true;
  check_forms(wrong, options, [&](const SelfCase &one) {
    if (one.form == "recurrent") BOOST_TEST((one.checked.judgement == Judgement::wrong), one.title());
    failed += one.form == "recurrent";
  });
  BOOST_TEST(failed > 0);
}

/// Features of keys of norm 1000, logits of that size, and gradients whose terms cancel: here correct forms differ from
/// the definition by rounding only.
BOOST_AUTO_TEST_CASE(rounding_inside_a_kernel_is_no_mistake, *slow) {
  const std::pair<const char *, const char *> hard[] = {{"based", "T64-norms-S0"},
                                                        {"dpfp", "T2-norms"},
                                                        {"mesa", "T1-rates-norms"},
                                                        {"mlstm", "T2-strong-repeated-beta02-S0"},
                                                        {"kernel_regression", "T2-norms"}};
  for (const auto &[layer, name] : hard) {
    const Variant &variant = find_variant(layer);
    const Params params = variant_params(variant);
    bool met = false;
    for (const BatteryCase &one : battery(variant, params, Precision::f32, true, 1, 64)) {
      if (one.name != name) continue;
      const Reference reference(one.problem);
      for (const Form &form : variant.forms)
        if (form.exact && form.vjp) {
          const Run run{form.name, Real::f32, 64, params};
          const Sequence gradient = backward(variant, one.problem.given, run, one.problem.weights);
          const PartList computed = as_results(one.problem, forward(variant, one.problem.given, run), gradient);
          BOOST_TEST((check(reference, computed, Precision::f32).judgement != Judgement::wrong), layer << " " << name);
          met = true;
        }
    }
    BOOST_TEST(met, layer << " has no case " << name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
