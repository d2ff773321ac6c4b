// SPDX-License-Identifier: Apache-2.0
// --math tf32 and bf16: products may round their operands, and nothing else may change. Tested at sizes with GPU
// kernels (variants/kernels/chunked), including sequences that are cut into segments of several chunks. CPUs refuse
// these options.
#include "harness/core/error.hpp"
#include "harness/device/backend.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
namespace {

const char *const layers[] = {"linear", "linear_elu", "retnet", "mamba2", "gated_linear", "softmax"};
constexpr Shape usual{1, 16, 4096, 64, 64}, few{1, 1, 64, 64, 64};

Output fast(const char *layer, const Sequence &s, Math math) {
  Run run;
  run.form = find_variant(layer).forms.back().name, run.real = Real::f32, run.math = math;
  return forward(find_variant(layer), s, run);
}

/// The bound: a few roundings of operands, by 2^-11 or 2^-9 each, and exact sums over pairs in another order.
double allowed(Math math) { return std::ldexp(1, math == Math::tf32 ? -8 : math == Math::bf16 ? -6 : -18); }

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(coarse_products)

BOOST_AUTO_TEST_CASE(round_their_operands_alone) {
  const Sequence s = random_sequence(has_math(Math::bf16) ? usual : few, 51);
  for (const char *layer : layers) {
    const Output exact = fast(layer, s, Math::exact);
    for (Math math : {Math::tf32, Math::bf16}) {
      if (!has_math(math)) {
        BOOST_CHECK_THROW(fast(layer, s, math), Error);
        continue;
      }
      const Deviation apart = deviation(fast(layer, s, math), exact);
      BOOST_TEST_INFO(layer << " " << name_of(math) << ": outputs " << apart.outputs << " apart, states "
                            << apart.state);
      BOOST_TEST((apart.outputs <= allowed(math) && apart.state <= allowed(math)));
      if (math == Math::bf16) BOOST_TEST(apart.outputs > std::ldexp(1, -16)); // rounding changed something
    }
  }
}

BOOST_AUTO_TEST_CASE(leave_the_outputs_before_an_infinite_value) {
  const Math math = has_math(Math::bf16) ? Math::bf16 : Math::exact;
  const Shape shape = math == Math::bf16 ? usual : few;
  const int step = shape.T / 2 + 9; // within a segment, a chunk and a warp's rows
  const Sequence s = random_sequence(shape, 52);
  const auto before = [&](const Output &all) {
    return Output{{all.o.begin(), all.o.begin() + size_t(step) * shape.Dv}, {}, {}};
  };
  for (const char *layer : layers) {
    const Output exact = fast(layer, s, Math::exact);
    Sequence large = s;
    for (int i = 0; i < shape.Dv; ++i) large[Tensor::v][size_t(step) * shape.Dv + i] = 3.4e38; // infinite in bf16
    const Output coarse = fast(layer, large, math);
    const double apart = deviation(before(coarse), before(exact)).outputs;
    BOOST_TEST_INFO(layer << ": outputs before step " << step << " are " << apart << " apart");
    BOOST_TEST(apart <= allowed(math));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
