// SPDX-License-Identifier: Apache-2.0
#include "harness/train/mixer.hpp"
#include "harness/core/registry.hpp"
#include "harness/pipeline/make_call.hpp"
#include "harness/pipeline/ran.hpp"
#include "harness/train/adjoint.hpp"

namespace recollect::train {
namespace {

const std::function<void(const Call<double> &)> &kernel(const Variant &v, const double *) { return v.forms.at(0).f64; }
const std::function<void(const Call<float> &)> &kernel(const Variant &v, const float *) {
  return find_form(v, "fast").f32;
}

} // namespace

template <class Real>
Mixing<Real>::Mixing(const Variant &variant, const Params &params, const Shape &shape) : variant_(variant) {
  const std::string why = variant.unsuitable ? variant.unsuitable(shape, params) : "";
  if (!why.empty()) input_error(variant.name + " cannot be this model's mixer: " + why);
  call_.shape = shape, call_.params = params;
  call_.chunk = std::min(64, shape.T);
  call_.state_shape = variant.state_shape(shape, params);
  for (const Input &input : variant.inputs) call_.given.push_back(input.name);
}

template <class Real> Array<Real> Mixing<Real>::forward(Arena &arena, const std::shared_ptr<Arena> &scratch) {
  note_variant_run(variant_.name);
  call_.o = arena.take<Real>(call_.v.extent(0));
  const size_t state = call_.shape.heads() * call_.state_shape.size();
  call_.state = arena.take<Real>(state);
  if (variant_.initial_state) {
    Sequence none;
    none.shape = call_.shape;
    Kokkos::deep_copy(call_.state, upload<Real>("initial state", initial_state(variant_, none, call_.params)));
  } else {
    Kokkos::deep_copy(call_.state, Real(0));
  }
  scratch->reset();
  call_.arena = scratch;
  kernel(variant_, static_cast<const Real *>(nullptr))(call_);
  return call_.o;
}

template <class Real> void Mixing<Real>::backward(Arena &arena, const Array<Real> &d_o, Mixing &gradient) const {
  Sequence s;
  s.shape = call_.shape;
  Call<Real> call = call_;
  for (Tensor tensor : all_tensors) s[tensor] = download(call[tensor]);
  const Sequence found = mixer_gradient(variant_, s, call_.params, download(d_o));
  for (Tensor tensor : all_tensors) {
    gradient[tensor] = arena.take<Real>(found[tensor].size());
    Kokkos::deep_copy(gradient[tensor], upload<Real>(name_of(tensor), found[tensor]));
  }
}

template class Mixing<float>;
template class Mixing<double>;

} // namespace recollect::train
