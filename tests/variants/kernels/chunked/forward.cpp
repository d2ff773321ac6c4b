// SPDX-License-Identifier: Apache-2.0
// Decayed sums and delta rules in float32 for every static extent, widths between extents, widths that are no multiple
// of a fragment, keys and values of different widths, and lengths that are not whole chunks or only a few steps. On a
// CPU the portable algebras run instead.
#include "harness/device/backend.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
namespace {

const char *const layers[] = {"linear", "retnet",    "mamba2",          "gated_linear",
                              "rwkv6",  "delta_net", "gated_delta_net", "scalar_gated_delta",
                              "mlstm",  "cosformer"};
struct Widths {
  int keys, values;
};
constexpr Widths widths[] = {{16, 130}, {32, 8},   {33, 40},  {64, 64},  {72, 33},
                             {96, 96},  {128, 64}, {130, 16}, {200, 24}, {256, 72}};

void check_layers(const Shape &shape, Math math, double allowed, Real real = Real::f32) {
  for (const char *name : layers) {
    const Variant &variant = find_variant(name);
    const Sequence s = random_sequence(shape, 61);
    const Output expected = forward(variant, s);
    Run run{"chunked", real, 64, {}};
    run.math = math;
    const Deviation apart = deviation(forward(variant, s, run), expected);
    const double bound = allowed * input_condition(variant, s, variant_params(variant), 2);
    BOOST_TEST_INFO(name << " " << name_of(math) << " T=" << shape.T << " " << shape.Dk << "," << shape.Dv
                         << ": outputs " << apart.outputs << ", states " << apart.state << " apart, allowed " << bound);
    BOOST_TEST(apart.largest() <= bound);
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(chunked_forward)

BOOST_AUTO_TEST_CASE(serves_every_width) {
  for (const auto [keys, values] : widths)
    for (int T : {70, 3}) {
      const Shape shape{1, 2, T, keys, values};
      check_layers(shape, Math::exact, accumulated_terms(shape, 64) * epsilon_of(Real::f32));
    }
}

BOOST_AUTO_TEST_CASE(serves_every_length) {
  for (int T : {1, 2, 16, 17, 63, 64, 65, 127, 128, 200, 2500}) { // the last in segments (segments.hpp)
    const Shape shape{2, 1, T, 24, 40};
    check_layers(shape, Math::exact, accumulated_terms(shape, 64) * epsilon_of(Real::f32));
  }
}

BOOST_AUTO_TEST_CASE(rounds_operands_as_asked) {
  for (Math math : {Math::tf32, Math::bf16}) {
    if (!has_math(math)) continue; // CPUs refuse it (coarse_products.cpp)
    for (const auto [keys, values] : widths)
      check_layers({1, 2, 130, keys, values}, math, std::ldexp(1, math == Math::tf32 ? -7 : -5));
  }
}

BOOST_AUTO_TEST_CASE(serves_many_heads_of_16_bits) { // on a GPU sum_outputs.hpp runs linear, retnet and mamba2
  check_layers({2, 50, 70, 64, 64}, Math::exact, std::ldexp(1, -5), Real::bf16);
  check_layers({2, 50, 70, 120, 72}, Math::exact, std::ldexp(1, -7), Real::f16);
}

BOOST_AUTO_TEST_CASE(keeps_an_infinity_from_earlier_steps) {
  const int step = 39; // within a warp's 16 steps
  for (const char *name : layers) {
    const Variant &variant = find_variant(name);
    const Shape shape{1, 1, 70, 40, 72};
    const Sequence s = random_sequence(shape, 61);
    const auto before = [&](const Sequence &of) {
      Output all = forward(variant, of, {"chunked", Real::f32, 64, {}});
      return Output{{all.o.begin(), all.o.begin() + size_t(step) * shape.Dv}, {}, {}};
    };
    Sequence large = s;
    for (int i = 0; i < shape.Dv; ++i) large[Tensor::v][size_t(step) * shape.Dv + i] = 3e38;
    for (int i = 0; i < shape.Dk; ++i) large[Tensor::k][size_t(step) * shape.Dk + i] = 3e38;
    BOOST_TEST_INFO(name);
    BOOST_TEST(deviation(before(large), before(s)).outputs <= 1e-5);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
