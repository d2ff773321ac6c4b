// SPDX-License-Identifier: Apache-2.0
#include "harness/core/variant.hpp"

namespace recollect {

DEFINE_SPECIAL_MEMBERS(Form);
DEFINE_SPECIAL_MEMBERS(Variant);

Form::Form(std::string called, std::function<void(const Call<float> &)> single,
           std::function<void(const Call<double> &)> real)
    : name(std::move(called)), f32(std::move(single)), f64(std::move(real)) {}

bool Variant::takes(Tensor tensor) const {
  if (tensor == Tensor::q || tensor == Tensor::k || tensor == Tensor::v) return true;
  for (const Input &input : inputs)
    if (input.tensor() == tensor) return true;
  return false;
}

const Form *Variant::find_form(std::string_view form) const {
  for (const Form &f : forms)
    if (f.name == form) return &f;
  return nullptr;
}

std::vector<double> symmetrised(const Variant &variant, const Shape &shape, std::vector<double> d_state) {
  if (variant.symmetric.empty()) return d_state;
  const size_t n = size_t(shape.Dk), before = size_t(shape.Dv) * n;
  const size_t stride = d_state.size() / shape.heads(); // 0 if there is no gradient
  for (size_t head = 0; stride > 0 && head < shape.heads(); ++head) {
    double *const d = d_state.data() + head * stride + before;
    for (size_t i = 0; i < n; ++i)
      for (size_t j = i + 1; j < n; ++j) d[i * n + j] = d[j * n + i] = d[i * n + j] / 2 + d[j * n + i] / 2;
  }
  return d_state;
}

} // namespace recollect
