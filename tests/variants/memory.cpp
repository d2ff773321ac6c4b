// SPDX-License-Identifier: Apache-2.0
// Device memory: forms of layers without a finite state grow with T as the layer declares; those of layers with a
// finite state need little more than inputs and outputs. Measured as the peak of the bytes that Kokkos had allocated.
#include "harness/call/backward.hpp"
#include "harness/device/backend.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
namespace {

std::int64_t bytes_at(const Variant &variant, const Form &form, int T) {
  const Sequence s = random_sequence({1, 1, T, 4, 3}, 1);
  return peak_bytes(
      prepare(variant, s, {form.name, Real::f64, 8, variant_params(variant)}).launch); // the inputs are O(T)
}

/// Growth from 2T to 4T over growth from T to 2T: 2 for linear, 4 for quadratic memory; 1 if nothing grows.
double growth(const Variant &variant, const Form &form) {
  bytes_at(variant, form, 64); // Kokkos keeps scratch memory after its first use
  const std::int64_t one = bytes_at(variant, form, 256), two = bytes_at(variant, form, 512),
                     four = bytes_at(variant, form, 1024);
  BOOST_TEST_INFO(variant.name << " " << form.name << ": " << one << ", " << two << ", " << four
                               << " bytes at T = 256, 512, 1024");
  BOOST_TEST((four > 0 || !counts_work())); // on a GPU all of it may be shared memory
  return two == one ? four > one ? INFINITY : 1 : double(four - two) / double(two - one);
}

/// Peak number of reals that a backward pass needs per additional step, with chunks of 32.
double numbers_a_step(const Variant &variant, const Form &form, int D) {
  const auto bytes = [&](int T) {
    const Sequence s = random_sequence({1, 1, T, D, D}, 1);
    OutputWeights weights;
    weights.o.assign(size_t(T) * size_t(D), 1.0);
    return peak_bytes(
        prepare_backward(variant, s, {form.name, Real::f64, 32, variant_params(variant)}, weights).launch);
  };
  bytes(32);
  return double(bytes(512) - bytes(256)) / 256 / sizeof(double);
}

/// Bytes that a whole pass of a layer with a state may use. They are the inputs, outputs and states; the features of
/// queries, keys and values (at most a row or a column of the state per step), twice while they are computed; and 4 MiB
/// for the chunks of a schedule in progress (engine.hpp).
double allowed_bytes(const Variant &variant, const Sequence &s, const Params &params) {
  const StateShape state = variant.state_shape(s.shape, params);
  double a_step = 2.0 * (s.shape.Dk + s.shape.Dv);
  for (const Input &input : variant.inputs) a_step += input.per_step() ? 1 : s.shape.Dk;
  return (s.shape.T * (a_step + 4.0 * (state.rows + state.columns)) + 2.0 * state.size()) * sizeof(double) + (1 << 22);
}

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(of_layers_without_a_finite_state_grows_as_declared, *slow) {
  for (const Variant &variant : all_variants()) {
    if (variant.state_shape({1, 1, 1, 4, 3}, variant_params(variant)).size() > 0) continue;
    for (const Form &form : variant.forms) {
      const double factor = growth(variant, form);
      BOOST_TEST_INFO(variant.name << " " << form.name << " grows by the factor " << factor);
      BOOST_TEST((variant.traits.linear_memory ? factor < 2.1 : factor > 3.5));
    }
  }
}

/// States are saved at the starts of chunks, T / C of them; one per step would be a whole state for every step.
BOOST_AUTO_TEST_CASE(of_backward_passes_is_that_of_a_state_a_chunk, *slow) {
  if (!counts_work()) return; // a GPU works on up to 16 segments per multiprocessor at once, each with its own states
  const int D = 64;
  for (const Variant &variant : all_variants()) {
    const double state = double(variant.state_shape({1, 1, 1, D, D}, variant_params(variant)).size());
    if (state < D * D) continue; // a single step needs more than the state
    for (const Form &form : variant.forms) {
      if (!form.vjp) continue;
      const double found = numbers_a_step(variant, form, D);
      BOOST_TEST(found < state,
                 variant.name << " " << form.name << ": " << found << " numbers per step, a state has " << state);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_layers_with_a_state_is_inputs_outputs_features_and_a_window, *slow) {
  if (!counts_work()) return; // a GPU's schedules keep more
  for (const Variant &variant : all_variants()) {
    const Sequence s = random_sequence({1, 1, 1 << 15, 4, 3}, 1);
    const bool bounded = variant_params(variant).has("length"); // cosformer's parameter
    const Params params = variant_params(variant, bounded ? Assignments{{"length", "32768"}} : Assignments{});
    if (variant.state_shape(s.shape, params).size() == 0) continue;
    for (const Form &form : variant.forms) {
      const Run run{form.name, Real::f64, 64, params};
      const double bytes = double(peak_bytes([&] {
        const Job job = prepare(variant, s, run);
        job.reset();
        job.launch();
      }));
      BOOST_TEST_INFO(variant.name << " " << form.name << ": " << bytes << " bytes of "
                                   << allowed_bytes(variant, s, params));
      BOOST_TEST(bytes <= allowed_bytes(variant, s, params));
      BOOST_TEST(bytes >= 14.0 * s.shape.T * sizeof(double)); // q, k, v and o are counted
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
