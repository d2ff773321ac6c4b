// SPDX-License-Identifier: Apache-2.0
// An overflow at one step does not change the outputs of earlier steps, not even within its chunk.
#include "tests/variants/every_form.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

/// Sets these tensors, at `step` of every head, to numbers near the largest of the type.
Sequence overflowing(const Sequence &from, int step, const std::vector<Tensor> &tensors, Real real) {
  Sequence s = from;
  for (Tensor tensor : tensors) {
    const size_t width = size_t(width_of(tensor, s.shape));
    for (size_t head = 0; head < s.shape.heads(); ++head)
      for (size_t i = 0; i < width; ++i)
        s[tensor][(head * s.shape.T + step) * width + i] *= real == Real::f32 ? 1e36 : 1e305;
  }
  return s;
}

/// Largest change of an output before `step`, over the largest output there.
double change_before(const Shape &shape, int step, const Output &changed, const Output &base) {
  double change = 0, scale = 0;
  for (size_t head = 0; head < shape.heads(); ++head)
    for (size_t i = head * shape.T * shape.Dv, end = i + step * shape.Dv; i < end; ++i) {
      const double apart = std::fabs(changed.o[i] - base.o[i]);
      change = std::isnan(apart) ? HUGE_VAL : std::max(change, apart);
      scale = std::max(scale, std::fabs(base.o[i]));
    }
  return change / scale;
}

/// Tests each tensor alone and all at once, in every causal form of the layer.
void hold(const Variant &variant, const Sequence &s, int step, std::initializer_list<Real> reals) {
  const Params params = variant_params(variant);
  if (!variant.traits.causal) return;
  std::vector<Tensor> all{Tensor::q, Tensor::k, Tensor::v};
  for (const Input &input : variant.inputs)
    if (!facts_of(input.tensor()).decay) all.push_back(input.tensor());
  std::vector<std::vector<Tensor>> choices{all};
  for (Tensor tensor : all) choices.push_back({tensor});
  for (const Form &form : variant.forms)
    for (Real real : reals) {
      if (!form.causal) continue;
      const Run run{form.name, real, 64, params};
      const Output base = forward(variant, s, run);
      const double allowed = bound(variant, params, s, real);
      for (const std::vector<Tensor> &tensors : choices) {
        const double change =
            change_before(s.shape, step, forward(variant, overflowing(s, step, tensors, real), run), base);
        const char *which = tensors.size() == 1 ? name_of(tensors[0]) : "all";
        BOOST_TEST_INFO(label(variant, form, real) << ", " << which << ": outputs before step " << step << " change by "
                                                   << change << ", allowed " << allowed);
        BOOST_TEST(change <= allowed);
      }
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(overflow)

BOOST_AUTO_TEST_CASE(leaves_the_outputs_before_it) {
  const Sequence s = random_sequence({1, 2, 70, 5, 3}, 41);
  for (const Variant &variant : all_variants()) // neither the first nor the last step of a chunk or a register block
    hold(variant, s, 41, {Real::f32, Real::f64});
}

BOOST_AUTO_TEST_CASE(leaves_them_at_the_sizes_that_gpus_have_kernels_for) { // harness/device/static_extents.hpp
  const Sequence s = random_sequence({1, 1, 192, 64, 64}, 43);
  for (const char *name :
       {"linear", "linear_elu", "retnet", "mamba2", "gated_linear", "delta_net", "gated_delta_net", "mesa", "softmax"})
    hold(find_variant(name), s, 105, {Real::f32});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
