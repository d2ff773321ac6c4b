// SPDX-License-Identifier: Apache-2.0
// A number that overflows at one step leaves the outputs of every step before it as they were, also within its chunk.
#include "tests/variants/every_form.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

constexpr Shape shape{1, 2, 70, 5, 3};
constexpr int step = 41; // neither the first nor the last of a chunk, of a minibatch or of a register block

/// These tensors at `step` of every head near the largest number of the type.
Sequence overflowing(const Sequence &from, const std::vector<Tensor> &tensors, Real real) {
  Sequence s = from;
  for (Tensor tensor : tensors) {
    const size_t width = size_t(width_of(tensor, shape));
    for (size_t head = 0; head < shape.heads(); ++head)
      for (size_t i = 0; i < width; ++i)
        s[tensor][(head * shape.T + step) * width + i] *= real == Real::f32 ? 1e36 : 1e305;
  }
  return s;
}

/// Largest change of an output before `step`, over the largest output there.
double change_before(const Output &changed, const Output &base) {
  double change = 0, scale = 0;
  for (size_t head = 0; head < shape.heads(); ++head)
    for (size_t i = head * shape.T * shape.Dv, end = i + step * shape.Dv; i < end; ++i) {
      const double apart = std::fabs(changed.o[i] - base.o[i]);
      change = std::isnan(apart) ? HUGE_VAL : std::max(change, apart);
      scale = std::max(scale, std::fabs(base.o[i]));
    }
  return change / scale;
}

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(overflow)

BOOST_AUTO_TEST_CASE(leaves_the_outputs_before_it) {
  const Sequence s = random_sequence(shape, 41);
  for (const Variant &variant : all_variants()) {
    const Params params = variant_params(variant);
    if (!variant.traits.causal) continue;
    std::vector<Tensor> all{Tensor::q, Tensor::k, Tensor::v};
    for (const Input &input : variant.inputs)
      if (!facts_of(input.tensor()).decay) all.push_back(input.tensor());
    std::vector<std::vector<Tensor>> choices{all};
    for (Tensor tensor : all) choices.push_back({tensor});
    for (const Form &form : variant.forms)
      for (Real real : {Real::f32, Real::f64}) {
        if (!form.causal) continue;
        const Run run{form.name, real, 64, params};
        const Output base = forward(variant, s, run);
        const double allowed = bound(variant, params, s, real);
        for (const std::vector<Tensor> &tensors : choices) {
          const double change = change_before(forward(variant, overflowing(s, tensors, real), run), base);
          const char *which = tensors.size() == 1 ? name_of(tensors[0]) : "all";
          BOOST_TEST_INFO(label(variant, form, real) << ", " << which << ": outputs before step " << step
                                                     << " change by " << change << ", allowed " << allowed);
          BOOST_TEST(change <= allowed);
        }
      }
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
