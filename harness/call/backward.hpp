// SPDX-License-Identifier: Apache-2.0
// Gradients of a layer by a form's own backward pass (Form::vjp), in its type and on whatever device kernels run. What
// they are is gradient()'s to say (gradient.hpp), which every one of them is held to.
#pragma once
#include "harness/call/gradient.hpp"

namespace recollect {

/// Name of the form whose backward pass is the layer's: the fast one, unless only the definition has one.
std::string backward_form(const Variant &variant);

/// As gradient(), in run.real. Usage error where the form has no backward pass.
Sequence backward(const Variant &variant, const Sequence &sequence, const Run &run, const OutputWeights &weights);

/// By the form's backward pass where it has one and all of its gradients are finite, by gradient() elsewhere. Usage error
/// for an approximate form without a backward pass: the definition's gradients are not those of its outputs.
Sequence gradient_by(const Variant &variant, const Sequence &sequence, const Run &run, const OutputWeights &weights);

/// A prepared backward pass, as Job is a forward one.
struct BackwardJob {
  std::function<void()> reset, launch;
  std::function<Sequence()> fetch;
};
BackwardJob prepare_backward(const Variant &variant, const Sequence &sequence, const Run &run,
                             const OutputWeights &weights);

} // namespace recollect
