// SPDX-License-Identifier: Apache-2.0
#include "harness/train/network/mixer.hpp"
#include "harness/call/backward.hpp"
#include "harness/call/make_call.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/each_index.hpp"

namespace recollect::train {
namespace {

/// A Form or a Vjp has one function for each number type. Returns the function for Real.
template <class Real, class Kernels> const auto &of_type(const Kernels &kernels) {
  if constexpr (std::is_same_v<Real, float>)
    return kernels.f32;
  else
    return kernels.f64;
}

/// The initial states of all heads: each is a copy of `one` or, if `one` is empty, zero. They are in separate memory,
/// because the layer overwrites them.
template <class Real> Array<Real> state_of_all(Arena &arena, const Call<Real> &call, const Array<Real> &one) {
  const Array<Real> state = arena.take<Real>(call.shape.heads() * call.state_shape.size());
  if (const size_t size = one.extent(0))
    each_index(
        "train::state_of_all", state.extent(0), KOKKOS_LAMBDA(const size_t i) { state[i] = one[i % size]; });
  else
    fill(state, Real(0));
  return state;
}

} // namespace

template <class Real> Array<Real> start_of(const Variant &variant, const Params &params, const Shape &shape) {
  return variant.initial_state ? upload<Real>("initial state", variant.initial_state(shape, params)) : Array<Real>();
}
template Array<float> start_of(const Variant &, const Params &, const Shape &);
template Array<double> start_of(const Variant &, const Params &, const Shape &);

template <class Real>
Mixing<Real>::Mixing(const Variant &variant, const Params &params, const Shape &shape, const Array<Real> &start)
    : variant_(variant), start_(start) {
  call_.shape = shape, call_.params = params;
  call_.chunk = std::min(64, shape.T);
  call_.state_shape = variant.state_shape(shape, params);
  call_.stateless = start.extent(0) == 0;
  for (const Input &input : variant.inputs) call_.given.push_back(input.name);
}

template <class Real> Array<Real> Mixing<Real>::forward(Arena &arena, const std::shared_ptr<Arena> &scratch) {
  call_.o = arena.take<Real>(call_.v.extent(0));
  call_.state = state_of_all(arena, call_, start_);
  scratch->reset();
  call_.arena = scratch;
  of_type<Real>(std::is_same_v<Real, float> ? find_form(variant_, "fast") : variant_.forms.at(0))(call_);
  return call_.o;
}

template <class Real> void Mixing<Real>::backward(Arena &arena, const Array<Real> &d_o, Mixing &gradient) const {
  if (const Form &form = find_form(variant_, backward_form(variant_)); form.vjp) {
    BackwardCall<Real> back{call_, gradient.call_};
    back.call.o = arena.take<Real>(d_o.extent(0)), back.call.state = state_of_all(arena, call_, start_);
    back.d.o = d_o, back.d.state = arena.take<Real>(back.call.state.extent(0));
    fill(back.d.state, Real(0));
    for (Tensor tensor : all_tensors) back.d[tensor] = gradient[tensor] = arena.take<Real>(back.call[tensor].extent(0));
    call_.arena->reset();
    of_type<Real>(form.vjp)(back);
    return;
  }
  Sequence s;
  s.shape = call_.shape;
  Call<Real> call = call_;
  for (Tensor tensor : all_tensors) s[tensor] = download(call[tensor]);
  const Sequence found = recollect::gradient(variant_, s, call_.params, {download(d_o), {}});
  for (Tensor tensor : all_tensors) {
    gradient[tensor] = arena.take<Real>(found[tensor].size());
    copy(gradient[tensor], upload<Real>(name_of(tensor), found[tensor]));
  }
}

template class Mixing<float>;
template class Mixing<double>;

} // namespace recollect::train
