// SPDX-License-Identifier: Apache-2.0
// Device memory of the layers without a finite state: every form grows with T as the layer declares.
// Measured: the most bytes that Kokkos had allocated at one time.
#include "harness/device/backend.hpp"
#include "harness/pipeline/backward.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
namespace {

std::int64_t bytes_at(const Variant &variant, const Form &form, int T) {
  const Sequence s = random_sequence({1, 1, T, 4, 3}, 1);
  return peak_bytes(
      prepare(variant, s, {form.name, Real::f64, 8, variant_params(variant)}).launch); // the inputs are O(T)
}

/// Growth from 2T to 4T over growth from T to 2T: 2 for linear, 4 for quadratic; 1 where nothing grows.
double growth(const Variant &variant, const Form &form) {
  bytes_at(variant, form, 64); // Kokkos keeps scratch memory from its first use on
  const std::int64_t one = bytes_at(variant, form, 256), two = bytes_at(variant, form, 512),
                     four = bytes_at(variant, form, 1024);
  BOOST_TEST_INFO(variant.name << " " << form.name << ": " << one << ", " << two << ", " << four
                               << " bytes at T = 256, 512, 1024");
  BOOST_TEST((four > 0 || !counts_work())); // on a GPU all of it may be shared memory
  return two == one ? four > one ? INFINITY : 1 : double(four - two) / double(two - one);
}

/// The most numbers at one time that a backward pass adds for every further step, in chunks of 32.
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

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(of_layers_without_a_finite_state_grows_as_declared) {
  for (const Variant &variant : all_variants()) {
    if (variant.state_shape({1, 1, 1, 4, 3}, variant_params(variant)).size() > 0) continue;
    for (const Form &form : variant.forms) {
      const double factor = growth(variant, form);
      BOOST_TEST_INFO(variant.name << " " << form.name << " grows by the factor " << factor);
      BOOST_TEST((variant.traits.linear_memory ? factor < 2.1 : factor > 3.5));
    }
  }
}

/// States are kept at the starts of chunks, T / C of them: one a step would be the whole state for every step.
BOOST_AUTO_TEST_CASE(of_backward_passes_is_that_of_a_state_a_chunk) {
  const int D = 64;
  for (const Variant &variant : all_variants()) {
    const double state = double(variant.state_shape({1, 1, 1, D, D}, variant_params(variant)).size());
    if (state < D * D) continue; // what a step itself takes is more
    for (const Form &form : variant.forms) {
      if (!form.vjp) continue;
      const double found = numbers_a_step(variant, form, D);
      BOOST_TEST(found < state,
                 variant.name << " " << form.name << ": " << found << " numbers a step, a state has " << state);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
