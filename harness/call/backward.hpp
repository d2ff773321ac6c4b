// SPDX-License-Identifier: Apache-2.0
// Gradients of a layer by the backward pass (Form::vjp) of one of its forms, on the device and in the type of the run.
// gradient.hpp says what the gradients are; tests compare every backward pass with gradient().
#pragma once
#include "harness/call/gradient.hpp"

namespace recollect {

/// Name of the form whose backward pass the layer uses: the fast form, or the recurrent form if only that one has a
/// backward pass.
std::string backward_form(const Variant &variant);

/// Like gradient(), but computed in run.real by the form's backward pass. Usage error if the form has no backward pass.
Sequence backward(const Variant &variant, const Sequence &sequence, const Run &run, const OutputWeights &weights);

/// The gradient from the form's backward pass if it has one and all its numbers are finite, else from gradient(). Usage
/// error for an approximate form without a backward pass, because the definition's gradients are not the gradients of
/// this form's outputs.
Sequence gradient_by(const Variant &variant, const Sequence &sequence, const Run &run, const OutputWeights &weights);

/// A prepared backward pass. It corresponds to Job, which is a prepared forward pass.
struct BackwardJob {
  std::function<void()> reset, launch;
  std::function<Sequence()> fetch;
};
BackwardJob prepare_backward(const Variant &variant, const Sequence &sequence, const Run &run,
                             const OutputWeights &weights);
/// Like prepare_backward(), but without checks, as prepare_unchecked() for a forward pass.
BackwardJob prepare_backward_unchecked(const Variant &variant, const Sequence &sequence, const Run &run,
                                       const OutputWeights &weights, const Packing &packing);
/// Whether all gradients are finite.
bool all_finite(const Sequence &gradient);

} // namespace recollect
