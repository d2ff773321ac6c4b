// SPDX-License-Identifier: Apache-2.0
// Attention with heads of many widths, both those with GPU kernels (variants/kernels/attention/attention_cuda.hpp) and
// widths in between, compared with the float64 definition. The last block of queries is incomplete.
#pragma once
#include "harness/bench/plan.hpp"
#include "harness/call/backward.hpp"
#include "harness/device/backend.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {

constexpr int attention_widths[][2] = {{20, 20},   {32, 64},   {60, 68},   {96, 96},  {128, 128},
                                       {100, 130}, {192, 192}, {128, 256}, {256, 255}};

/// A few roundings of operands and of sums over channels and pairs.
inline double allowed_of(Math math, Real real = Real::f32) {
  return std::ldexp(1, real == Real::f16 ? -9 : real == Real::bf16 || math == Math::bf16 ? -6 : -18);
}

/// Random arrays, of numbers that the type has.
inline Sequence sequence_of(Real real, const Shape &shape, int seed) {
  Sequence s = random_sequence(shape, seed);
  for (std::vector<double> *x : {&s.q, &s.k, &s.v}) round_to(real, *x);
  return s;
}

/// Compares outputs of the layer's fast form. If it has the parameter `scale`, 1/sqrt(Dk) is set.
inline void check_widths_forward(const char *layer, Math math, Real real = Real::f32) {
  const Variant &variant = find_variant(layer);
  for (const auto &width : attention_widths) {
    const Sequence s = sequence_of(real, {1, 3, 150, width[0], width[1]}, 71);
    const Params params = variant_params(variant, {{"scale", std::to_string(1 / std::sqrt(width[0]))}});
    Run run;
    run.form = variant.forms.back().name, run.real = real, run.math = math, run.params = params;
    const double apart =
        deviation(forward(variant, s, run), forward(variant, s, {"recurrent", Real::f64, 64, params})).outputs;
    BOOST_TEST(apart <= allowed_of(math, real),
               layer << " in " << name_of(real) << " at " << width[0] << ", " << width[1] << ": " << apart);
  }
}

/// Compares gradients of its backward pass with float64 ones, relative to the largest number of each array; other tests
/// compare those with the definition.
inline void check_gradients(const char *layer, const Shape &shape, Math math, Real real = Real::f32) {
  const Variant &variant = find_variant(layer);
  const Sequence s = sequence_of(real, shape, 72);
  const std::vector<double> weights = sequence_of(real, shape, 73).v;
  Run run;
  run.form = backward_form(variant), run.real = real, run.math = math;
  run.params = variant_params(variant, {{"scale", std::to_string(1 / std::sqrt(shape.Dk))}});
  const Sequence found = backward(variant, s, run, {weights, {}});
  run.real = Real::f64, run.math = Math::exact;
  const Sequence wanted = backward(variant, s, run, {weights, {}});
  const auto check = [&](const char *name, const std::vector<double> &a, const std::vector<double> &b) {
    const double apart = max_difference(a, b), most = allowed_of(math, real) * max_abs(b);
    BOOST_TEST(apart <= most, layer << " d" << name << " in " << name_of(real) << " at T = " << shape.T << ", "
                                    << shape.Dk << ", " << shape.Dv << ": " << apart << ", allowed " << most);
  };
  check("q", found.q, wanted.q), check("k", found.k, wanted.k), check("v", found.v, wanted.v);
}
inline void check_widths_backward(const char *layer, Math math, Real real = Real::f32) {
  for (const auto &width : attention_widths) check_gradients(layer, {1, 2, 150, width[0], width[1]}, math, real);
}

} // namespace recollect
