// SPDX-License-Identifier: Apache-2.0
// Both schedules of the engine are compared with the definition, for many heads and for one, with an incomplete last
// chunk, small and large chunks, and windows that hold only part of a sequence.
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(schedules)

BOOST_AUTO_TEST_CASE(give_what_the_recurrent_form_gives, *slow) {
  for (const Variant &variant : all_variants()) {
    if (!variant.find_form("chunked")) continue;
    for (const Shape &shape : {Shape{1, 1, 333, 10, 19}, Shape{2, 3, 70, 5, 3}}) {
      const Params params = variant_params(variant);
      const Sequence s = random_sequence(shape, 9);
      const Output reference = forward(variant, s, {"recurrent", Real::f64, 1, params});
      const double kappa = input_condition(variant, s, params, 1);
      for (Schedule schedule : {Schedule::streaming, Schedule::three_phase})
        for (int C : {1, 7, 32, shape.T})
          for (Real real : {Real::f32, Real::f64}) {
            const Output out = forward(variant, s, {"chunked", real, C, params, schedule});
            const double error = deviation(out, reference).largest(),
                         allowed = accumulated_terms(shape, C) * epsilon_of(real) * kappa;
            BOOST_TEST_INFO(variant.name << " " << name_of(real) << " T=" << shape.T << " C=" << C << " "
                                         << (schedule == Schedule::streaming ? "streaming" : "three_phase")
                                         << ": error " << error << ", allowed " << allowed);
            BOOST_TEST(error <= allowed);
          }
    }
  }
}

BOOST_AUTO_TEST_CASE(at_the_sizes_that_gpus_have_kernels_for, *slow) { // harness/device/static_extents.hpp
  int told = 0;
  for (const Variant &variant : all_variants()) {
    if (!variant.find_form("chunked")) continue;
    const Shape shape{1, 2, 192, 64, 64};
    const Params params = variant_params(variant);
    Sequence s = random_sequence(shape, 11);
    s.state = forward(variant, random_sequence(shape, 12), {"recurrent", Real::f64, 1, params}).state;
    const Output reference = forward(variant, s, {"recurrent", Real::f64, 1, params});
    const double error = deviation(forward(variant, s, {"chunked", Real::f32, 64, params, Schedule::three_phase}),
                                   reference)
                             .largest(),
                 allowed =
                     accumulated_terms(shape, 64) * epsilon_of(Real::f32) * input_condition(variant, s, params, 1);
    BOOST_TEST_INFO(variant.name << ": error " << error << ", allowed " << allowed);
    BOOST_TEST(error <= allowed);
    told += allowed < 0.01; // least squares are too ill-conditioned in float32
  }
  BOOST_TEST(told >= 20);
}

BOOST_AUTO_TEST_CASE(go_on_from_one_window_to_the_next) {
  // 20,000 chunks of one step: many windows on the host.
  const Shape shape{1, 1, 20000, 16, 16};
  for (const char *name : {"linear_elu", "gla", "gated_delta_net", "rwkv7"}) {
    const Variant &variant = find_variant(name);
    const Params params = variant_params(variant);
    const Sequence s = random_sequence(shape, 10);
    const Output one = forward(variant, s, {"chunked", Real::f64, 4, params, Schedule::streaming}),
                 other = forward(variant, s, {"chunked", Real::f64, 4, params, Schedule::three_phase});
    const double error = deviation(other, one).largest(),
                 allowed =
                     2 * accumulated_terms(shape, 4) * epsilon_of(Real::f64) * input_condition(variant, s, params, 1);
    BOOST_TEST_INFO(name << ": error " << error << ", allowed " << allowed);
    BOOST_TEST(error <= allowed);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
