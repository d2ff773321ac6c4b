// SPDX-License-Identifier: Apache-2.0
// Gradients of decayed sums and delta rules in float32 for every static extent, widths between extents, widths that are
// no multiple of a fragment, keys and values of different widths, and lengths that are not whole chunks, compared with
// the portable algebras in float64. On a CPU the portable algebras also run in float32.
#include "harness/device/backend.hpp"
#include "tests/variants/kernels/gradients.hpp"
#include <cmath>

namespace recollect {
namespace {

const char *const differentiable[] = {"linear", "retnet",    "mamba2",          "gated_linear",
                                      "rwkv6",  "delta_net", "gated_delta_net", "scalar_gated_delta",
                                      "mlstm"};
struct HeadWidths {
  int keys, values;
};
constexpr HeadWidths head_widths[] = {{16, 130}, {33, 40},   {64, 64},  {72, 33},
                                      {96, 96},  {128, 128}, {200, 24}, {72, 256}};

OutputWeights some_weights(const Variant &variant, const Shape &shape) {
  const Sequence noise = random_sequence(shape, 62);
  OutputWeights w{noise.v, {}};
  const StateShape state = variant.state_shape(shape, variant_params(variant));
  w.state.resize(shape.heads() * state.size());
  for (size_t i = 0; i < w.state.size(); ++i) w.state[i] = std::sin(double(i));
  return w;
}

Sequence gradients_in(Real real, Math math, const Variant &variant, const Sequence &s, const OutputWeights &w) {
  Run run{backward_form(variant), real, 64, variant_params(variant)};
  run.math = math;
  return backward(variant, s, run, w);
}

/// ||got - expected|| <= allowed ||expected|| of every gradient.
void check_gradients(const Shape &shape, Math math, double allowed) {
  for (const char *name : differentiable) {
    const Variant &variant = find_variant(name);
    const Sequence s = random_sequence(shape, 61);
    const OutputWeights w = some_weights(variant, shape);
    const Sequence expected = gradients_in(Real::f64, Math::exact, variant, s, w),
                   got = gradients_in(Real::f32, math, variant, s, w);
    const auto check = [&](const char *of, const std::vector<double> &x, const std::vector<double> &y) {
      BOOST_REQUIRE_EQUAL(x.size(), y.size());
      double apart = 0, norm = 0;
      for (size_t i = 0; i < x.size(); ++i) apart += (x[i] - y[i]) * (x[i] - y[i]), norm += y[i] * y[i];
      BOOST_TEST_INFO(name << " " << name_of(math) << " T=" << shape.T << " " << shape.Dk << "," << shape.Dv << " d"
                           << of << ": " << std::sqrt(apart) << " apart, norm " << std::sqrt(norm));
      BOOST_TEST(std::sqrt(apart) <= allowed * std::sqrt(norm));
    };
    for (int t = 0; t < tensor_count; ++t) check(facts_of(Tensor(t)).name, got[Tensor(t)], expected[Tensor(t)]);
    check("state", got.state, expected.state);
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(chunked_backward)

BOOST_AUTO_TEST_CASE(serves_every_width) {
  for (const auto [keys, values] : head_widths) check_gradients({1, 2, 70, keys, values}, Math::exact, 1e-4);
}

BOOST_AUTO_TEST_CASE(serves_every_length) {
  for (int T : {1, 2, 63, 64, 65, 128, 200, 2500}) // the last in segments (segments.hpp)
    check_gradients({2, 1, T, 24, 40}, Math::exact, 1e-4);
}

BOOST_AUTO_TEST_CASE(rounds_operands_as_asked) {
  for (Math math : {Math::tf32, Math::bf16}) {
    if (!has_math(math)) continue; // CPUs refuse it (coarse_products.cpp)
    for (const auto [keys, values] : head_widths)
      check_gradients({1, 2, 130, keys, values}, math, std::ldexp(1, math == Math::tf32 ? -7 : -4));
  }
}

BOOST_AUTO_TEST_CASE(keeps_an_overflow_from_later_steps) {
  const int step = 39; // within a warp's 16 steps
  const Shape shape{1, 1, 70, 40, 72};
  for (const char *name : differentiable) {
    const Variant &variant = find_variant(name);
    const Sequence s = random_sequence(shape, 61);
    const auto later = [&](const OutputWeights &w) {
      const Sequence d = gradients_in(Real::f32, Math::exact, variant, s, w);
      return std::vector<double>(d.v.begin() + size_t(step + 1) * shape.Dv, d.v.end());
    };
    const OutputWeights w = some_weights(variant, shape);
    OutputWeights large = w;
    for (int i = 0; i < shape.Dv; ++i) large.o[size_t(step) * shape.Dv + i] = 3e38;
    const std::vector<double> got = later(large), expected = later(w);
    for (size_t i = 0; i < got.size(); ++i) {
      BOOST_TEST_INFO(name << " " << i);
      BOOST_TEST(std::fabs(got[i] - expected[i]) <= 1e-5 * (1 + std::fabs(expected[i])));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
