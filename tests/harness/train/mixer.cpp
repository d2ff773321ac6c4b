// SPDX-License-Identifier: Apache-2.0
// The model's layer on arrays of the device against the same layer on a sequence of the host.
#include "harness/train/mixer.hpp"
#include "harness/core/error.hpp"
#include "harness/numerics/random.hpp"
#include "harness/pipeline/gradient.hpp"
#include "harness/pipeline/make_call.hpp"
#include "tests/harness/pipeline/gradient_case.hpp"
#include <cmath>

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(mixers, *boost::unit_test::precondition(tape_runs))

const Shape shape{2, 2, 9, 4, 3};

template <class Real> Mixing<Real> mixing_of(const Variant &variant, const Sequence &s) {
  Mixing<Real> mixing(variant, variant_params(variant), s.shape);
  for (Tensor tensor : all_tensors) mixing[tensor] = upload<Real>(name_of(tensor), s[tensor]);
  return mixing;
}

/// Of the inputs that the layer takes.
Sequence inputs_of(const Variant &variant) {
  Sequence s = random_sequence(shape, 3);
  for (const char *name : {"beta", "alpha", "lambda", "w"}) {
    const auto is = [&](const Input &input) { return input.name == name; };
    if (std::none_of(variant.inputs.begin(), variant.inputs.end(), is)) s.input(name).clear();
  }
  return s;
}

BOOST_AUTO_TEST_CASE(forward_and_backward_are_the_layers) {
  for (const char *name : {"linear", "delta_net", "gated_delta_net", "softmax", "rls", "delta_former"}) {
    BOOST_TEST_CONTEXT(name) {
      const Variant &variant = find_variant(name);
      const Sequence s = inputs_of(variant);
      Mixing<double> mixing = mixing_of<double>(variant, s), gradient(variant, variant_params(variant), s.shape);
      Arena arena;
      const std::vector<double> found = download(mixing.forward(arena, std::make_shared<Arena>()));
      BOOST_TEST((found == forward(variant, s, {"recurrent", Real::f64, 1, variant_params(variant)}).o));
      const std::vector<double> weights = Stream(4, "mixer").normals(found.size());
      mixing.backward(arena, upload<double>("do", weights), gradient);
      const Sequence expected = recollect::gradient(variant, s, variant_params(variant), {weights, {}});
      for (Tensor tensor : all_tensors)
        if (!s[tensor].empty())
          check_close(download(gradient[tensor]), expected[tensor], 1e-12 * (1 + max_abs(expected[tensor])));
    }
  }
}

BOOST_AUTO_TEST_CASE(single_precision_takes_the_fast_form) {
  const Variant &variant = find_variant("delta_net");
  const Sequence s = inputs_of(variant);
  Arena arena;
  Mixing<float> mixing = mixing_of<float>(variant, s);
  const std::vector<double> found = download(mixing.forward(arena, std::make_shared<Arena>()));
  BOOST_TEST((found == forward(variant, s, {"chunked", Real::f32, shape.T, variant_params(variant)}).o));
}

/// Two models of two texts each, as gradient() has it, but for the second, which has a number that is not finite.
BOOST_AUTO_TEST_CASE(without_a_pass_each_model_has_its_own_gradient) {
  Variant variant = find_variant("delta_net");
  for (Form &form : variant.forms) form.vjp = {};
  Sequence all = random_sequence({4, 2, 9, 4, 3}, 3);
  all.alpha.clear(), all.lambda.clear(), all.w.clear();
  const Params params = variant_params(variant);
  const auto run = [&](const Sequence &s, int models) {
    Mixing<double> mixing(variant, params, s.shape, models), gradient(variant, params, s.shape, models);
    for (Tensor tensor : all_tensors) mixing[tensor] = upload<double>(name_of(tensor), s[tensor]);
    Arena arena;
    const std::vector<double> ones(download(mixing.forward(arena, std::make_shared<Arena>())).size(), 1.0);
    mixing.backward(arena, upload<double>("do", ones), gradient);
    return download(gradient[Tensor::k]);
  };
  const std::vector<double> whole = run(all, 1);
  BOOST_TEST((run(all, 2) == whole));
  all.v.back() = HUGE_VAL;
  const std::vector<double> found = run(all, 2), none = run(all, 1);
  const size_t half = whole.size() / 2;
  BOOST_TEST(std::equal(found.begin(), found.begin() + std::ptrdiff_t(half), whole.begin()));
  for (size_t i = 0; i < whole.size(); ++i) BOOST_TEST((std::isnan(none[i]) && (i < half || std::isnan(found[i]))));
}

BOOST_AUTO_TEST_CASE(a_shape_that_the_layer_cannot_take_is_refused) {
  Variant narrow = find_variant("linear");
  narrow.unsuitable = [](const Shape &s, const Params &) { return s.Dk > 3 ? "Dk must be at most 3" : ""; };
  BOOST_CHECK_THROW(Mixing<double>(narrow, variant_params(narrow), shape), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
