// SPDX-License-Identifier: Apache-2.0
// How a layer declares its forms:
//
//   v.forms = {definition([](const auto &call) { recurrent(call); }),
//              fast("chunked", chunked<float>, chunked<double>)
//                  .backward(backward<float>, backward<double>)
//                  .work(1.3 * cost::Dv * cost::Dk + 50 * cost::Dk)};
#pragma once
#include "harness/core/variant.hpp"
#include "harness/device/launch_space.hpp"
#include <utility>

namespace recollect {

/// A form under construction. It converts to the Form that a descriptor holds.
class FormBuilder {
public:
  explicit FormBuilder(Form form) : form_(std::move(form)) {}

  /// The gradients with respect to every input. If they are not given, gradients come from the definition.
  FormBuilder &backward(std::function<void(const BackwardCall<float> &)> f32,
                        std::function<void(const BackwardCall<double> &)> f64) {
    form_.vjp.f32 = std::move(f32), form_.vjp.f64 = std::move(f64);
    return *this;
  }
  /// Kernels that read and write arrays of 16 bits themselves, at the shapes that `takes` accepts.
  FormBuilder &native(Native16<Call> kernels) {
    form_.native = std::move(kernels);
    return *this;
  }
  FormBuilder &native_backward(Native16<BackwardCall> kernels) {
    form_.vjp.native = std::move(kernels);
    return *this;
  }
  /// Form::packs: the kernels take packed texts and grouped heads.
  FormBuilder &packs() {
    form_.packs = true;
    return *this;
  }
  /// Form::work: the time per token on one CPU thread, in units of the time that the definition takes per operation.
  /// Without it, and always on a GPU, this form counts as faster than the definition at every width.
  FormBuilder &work(const Polynomial &on_one_thread) {
    if (on_host) form_.work = on_one_thread;
    return *this;
  }
  /// The form differs from the definition even in exact arithmetic.
  FormBuilder &approximate() {
    form_.exact = false;
    return *this;
  }
  /// The outputs depend on later steps too, because the form approximates with the whole sequence.
  FormBuilder &not_causal() {
    form_.causal = false;
    return *this;
  }
  /// On ill-conditioned keys, the form loses digits that the definition keeps.
  FormBuilder &unstable() {
    form_.stable = false;
    return *this;
  }

  operator Form() const { return form_; }

private:
  Form form_;
};

/// The form `recurrent`, computed by a generic function of a call, such as
/// [](const auto &call) { recurrent(call); }.
template <class F> FormBuilder definition(const F &recurrent) {
  Form form("recurrent", recurrent, recurrent);
  if constexpr (on_host) form.counted = recurrent, form.taped = recurrent, form.quad = recurrent;
  return FormBuilder(std::move(form));
}

/// A form that computes the same results in another order and is faster at large widths (FormBuilder::work).
FormBuilder fast(std::string name, std::function<void(const Call<float> &)> f32,
                 std::function<void(const Call<double> &)> f64);

} // namespace recollect
