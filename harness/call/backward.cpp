// SPDX-License-Identifier: Apache-2.0
#include "harness/call/backward.hpp"
#include "harness/call/converted.hpp"
#include "harness/call/make_call.hpp"
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"

namespace recollect {
namespace {

template <class Real, class Stored> struct Prepared {
  BackwardCall<Real, Stored> back;
  Array<Real> start; // gradient of the final state, from which the backward pass starts
};

template <class Number> void spoil(const Array<Number> &array) { fill(array, Number(std::nan(""))); }

bool all_finite(const std::vector<double> &values) {
  const auto bad = [&](size_t i) { return !std::isfinite(values[i]); };
  return first_in_pieces(values.size(), bad, cost_of_copies) == values.size();
}

/// The inputs that the layer takes. A backward pass computes the gradients of all of them, even of those not given.
std::vector<Tensor> taken(const Variant &variant) {
  std::vector<Tensor> all{Tensor::q, Tensor::k, Tensor::v};
  for (const Input &input : variant.inputs) all.push_back(input.tensor());
  return all;
}

/// Whether `tensor` is not given and the layer uses the key in its place. Its gradient is then added to the key's.
bool is_the_key(const Variant &variant, const Sequence &s, Tensor tensor) {
  return s[tensor].empty() && facts_of(tensor).neutral == TensorFacts::the_key &&
         std::all_of(variant.inputs.begin(), variant.inputs.end(),
                     [&](const Input &input) { return input.tensor() != tensor || input.absent.empty(); });
}

/// Fills the arrays of results with NaN, so that a gradient that the kernel does not write is detected.
template <class Real, class Stored> void spoil_results(const Variant &variant, BackwardCall<Real, Stored> &back) {
  for (Tensor tensor : taken(variant)) back.d.with(tensor, [](const auto &array) { spoil(array); });
  spoil(back.call.o);
}

template <class Real, class Stored>
Sequence fetched(const Variant &variant, const Sequence &shape, bool own_state, Call<Real, Stored> d) {
  Sequence found;
  found.shape = shape.shape;
  for (Tensor tensor : taken(variant)) {
    std::vector<double> values = d.with(tensor, [](const auto &array) { return download(array); });
    if (is_the_key(variant, shape, tensor))
      for (size_t i = 0; i < values.size(); ++i) found.k[i] += values[i];
    else if (!shape[tensor].empty())
      found[tensor] = std::move(values);
  }
  if (own_state) found.state = symmetrised(variant, shape.shape, download(d.state));
  return found;
}

template <class Number> void allocate_to(Array<Number> &array, const std::string &label, size_t n) {
  array = allocated<Number>(label, n);
}

template <class Real, class Stored>
std::shared_ptr<Prepared<Real, Stored>> prepared(const Variant &variant, const Sequence &s, const Run &run,
                                                 const OutputWeights &weights, const Packing &packing) {
  const Params params = params_of(variant, run);
  const auto x = std::make_shared<Prepared<Real, Stored>>();
  Call<Real, Stored> &call = x->back.call, &d = x->back.d;
  call = make_call<Real, Stored>(variant, s, run, params, packing);
  call.state = upload<Real>("initial state", initial_states(variant, s, params, packing));
  d = call; // the same shape, parameters and arena
  for (Tensor tensor : taken(variant))
    d.with(tensor, [&](auto &array) { allocate_to(array, std::string("d") + name_of(tensor), array.extent(0)); });
  d.o = upload<Stored>("do", weights.o);
  const size_t state_size = call.state.extent(0);
  x->start = upload<Real>("dstate", weights.state.empty() ? std::vector<double>(state_size, 0.0) : weights.state);
  d.state = allocated<Real>("dstate", state_size);
  return x;
}

template <class Real, class Stored>
BackwardJob job_of(const Variant &variant, const Sequence &s, const std::shared_ptr<Prepared<Real, Stored>> &x,
                   const std::function<void(const BackwardCall<Real, Stored> &)> &kernel) {
  BackwardJob job;
  job.reset = [x, variant] {
    spoil_results(variant, x->back);
    copy(x->back.d.state, x->start);
    Kokkos::fence();
  };
  job.launch = [x, kernel] {
    x->back.call.arena->reset();
    kernel(x->back);
    end_of_pass();
  };
  Sequence shape; // one number per given tensor, to record which are given
  shape.shape = s.shape;
  for (Tensor tensor : all_tensors) shape[tensor].assign(s[tensor].empty() ? 0 : 1, 0.0);
  const bool own_state = x->start.extent(0) > 0;
  job.fetch = [x, variant, shape, own_state] { return fetched(variant, shape, own_state, x->back.d); };
  return job;
}

/// Prepares the form's 16-bit backward kernel or, if it has none, its float32 kernel on converted arrays.
template <class Stored>
BackwardJob prepare_stored(const Variant &variant, const Sequence &s, const Run &run, const OutputWeights &weights,
                           const Packing &packing, const Vjp &vjp) {
  const auto x = prepared<float, Stored>(variant, s, run, weights, packing);
  if (vjp.native.has(run.real, s.shape, params_of(variant, run))) return job_of(variant, s, x, vjp.native.of<Stored>());
  const auto wide = std::make_shared<BackwardCall<float>>();
  wide->call = widened(x->back.call), wide->d = widened(x->back.d);
  BackwardJob job = job_of(variant, s, x, converting<Stored>(wide, vjp.f32));
  job.reset = [reset = job.reset, variant, wide] {
    spoil_results(variant, *wide);
    reset();
  };
  return job;
}

} // namespace

bool all_finite(const Sequence &gradient) {
  return all_finite(gradient.state) && std::all_of(std::begin(all_tensors), std::end(all_tensors),
                                                   [&](Tensor tensor) { return all_finite(gradient[tensor]); });
}

std::string backward_form(const Variant &variant) {
  const Form &fast = find_form(variant, "fast"), &definition = variant.forms.at(0);
  return (fast.vjp || !definition.vjp ? fast : definition).name;
}

BackwardJob prepare_backward(const Variant &variant, const Sequence &s, const Run &run, const OutputWeights &weights) {
  const Params params = params_of(variant, run);
  check_inputs(variant, s, params, run.any_gate);
  check_weights(variant, s, params, weights);
  return prepare_backward_unchecked(variant, s, run, weights, {});
}

BackwardJob prepare_backward_unchecked(const Variant &variant, const Sequence &s, const Run &run,
                                       const OutputWeights &weights, const Packing &packing) {
  const Form &form = find_form(variant, run.form);
  if (!form.vjp) usage_error("form '" + form.name + "' of " + variant.name + " has no backward pass");
  refuse_math(run.real, run.math);
  switch (run.real) {
  case Real::f32:
    return job_of(variant, s, prepared<float, float>(variant, s, run, weights, packing), form.vjp.f32);
  case Real::f64:
    return job_of(variant, s, prepared<double, double>(variant, s, run, weights, packing), form.vjp.f64);
  case Real::bf16:
    return prepare_stored<BFloat16>(variant, s, run, weights, packing, form.vjp);
  case Real::f16:
    return prepare_stored<Float16>(variant, s, run, weights, packing, form.vjp);
  }
  throw std::logic_error("no such type");
}

Sequence gradient_by(const Variant &variant, const Sequence &s, const Run &run, const OutputWeights &weights) {
  const Form &form = find_form(variant, run.form);
  if (!form.exact && !form.vjp)
    usage_error("form '" + form.name + "' of " + variant.name +
                " approximates it and has no backward pass; name another form, or none");
  if (form.vjp) {
    Sequence found = backward(variant, s, run, weights);
    if (all_finite(found) || !takes_gradients()) return found;
  }
  return gradient(variant, s, run.params, weights);
}

Sequence backward(const Variant &variant, const Sequence &s, const Run &run, const OutputWeights &weights) {
  const BackwardJob job = prepare_backward(variant, s, run, weights);
  job.reset();
  job.launch();
  return job.fetch();
}

} // namespace recollect
