// SPDX-License-Identifier: Apache-2.0
// The model's layer on device arrays compared with the same layer on a sequence on the host.
#include "harness/train/network/mixer.hpp"
#include "harness/call/backward.hpp"
#include "harness/call/conditioning.hpp"
#include "harness/call/make_call.hpp"
#include "harness/core/error.hpp"
#include "harness/numerics/random.hpp"
#include "tests/harness/call/gradient_case.hpp"

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(mixers)

const Shape shape{2, 2, 9, 4, 3};

template <class Real> Mixing<Real> mixing_at(const Variant &variant, const Shape &shape) {
  const Params params = variant_params(variant);
  return {variant, params, shape, start_of<Real>(variant, params, shape)};
}

template <class Real> Mixing<Real> mixing_of(const Variant &variant, const Sequence &s) {
  Mixing<Real> mixing = mixing_at<Real>(variant, s.shape);
  for (Tensor tensor : all_tensors) mixing[tensor] = upload<Real>(name_of(tensor), s[tensor]);
  return mixing;
}

/// Of the inputs that the layer takes.
Sequence inputs_of(const Variant &variant, const Shape &shape = shape) {
  Sequence s = random_sequence(shape, 3);
  for (const char *name : {"beta", "alpha", "lambda", "w"}) {
    const auto is = [&](const Input &input) { return input.name == name; };
    if (std::none_of(variant.inputs.begin(), variant.inputs.end(), is)) s.input(name).clear();
  }
  return s;
}

BOOST_AUTO_TEST_CASE(forward_and_backward_are_the_layers, *boost::unit_test::precondition(tape_runs)) {
  for (const char *name : {"linear", "delta_net", "gated_delta_net", "softmax", "rls", "delta_former"}) {
    BOOST_TEST_CONTEXT(name) {
      const Variant &variant = find_variant(name);
      const Sequence s = inputs_of(variant);
      Mixing<double> mixing = mixing_of<double>(variant, s), gradient = mixing_at<double>(variant, s.shape);
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

/// Whether it works in chunks and supports this shape.
bool by_chunks(const Variant &variant, const Shape &shape) {
  return variant.find_form("chunked") &&
         (!variant.unsuitable || variant.unsuitable(shape, variant_params(variant)).empty());
}

/// If the initial state is zero, the layer is told that nobody needs its final state (Call::stateless).
BOOST_AUTO_TEST_CASE(without_a_state_a_layer_reads_and_learns_the_same) {
  for (const int T :
       {1, 9, 33, 73,
        130}) // shorter and longer than a team processes as one block (variants/kernels/chunked/single_block.hpp)
    for (const Variant &variant : all_variants()) {
      const Shape shape{2, 1, T, 6, 5};
      if (!by_chunks(variant, shape)) continue;
      BOOST_TEST_CONTEXT(variant.name << ", " << T << " steps") {
        const Params params = variant_params(variant);
        const Sequence s = inputs_of(variant, shape);
        const auto arena = std::make_shared<Arena>();
        Mixing<float> single = mixing_of<float>(variant, s);
        const Output reference = forward(variant, s, {"recurrent", Real::f64, 1, params});
        const std::vector<double> found = download(single.forward(*arena, std::make_shared<Arena>()));
        const double allowed =
            accumulated_terms(shape, T) * epsilon_of(Real::f32) * input_condition(variant, s, params, 1);
        check_close(found, reference.o, allowed * (1 + max_abs(reference.o)));
        const std::string form = backward_form(variant);
        if (!find_form(variant, form).vjp) continue;
        Mixing<double> mixing = mixing_of<double>(variant, s), gradient = mixing_at<double>(variant, shape);
        mixing.forward(*arena, std::make_shared<Arena>());
        const std::vector<double> weights = Stream(4, "mixer").normals(found.size());
        mixing.backward(*arena, upload<double>("do", weights), gradient);
        const Sequence expected = backward(variant, s, {form, Real::f64, 64, params}, {weights, {}});
        for (Tensor tensor : all_tensors)
          if (!s[tensor].empty())
            check_close(download(gradient[tensor]), expected[tensor], 1e-10 * (1 + max_abs(expected[tensor])));
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
