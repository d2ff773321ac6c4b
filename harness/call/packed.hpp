// SPDX-License-Identifier: Apache-2.0
// Passes over packed texts, and over heads of v that share a head of q and k. A form that takes these (Form::packs) runs
// all texts at once on the arrays as they are. Any other form runs one text after the other, with q and k repeated for
// every head.
//
// Results have the layout of the inputs: o and gradients over all steps, gradients of q and k with key_heads heads, and
// a state per text. Outputs and gradients are 0 at steps that follow the last text.
#pragma once
#include "harness/call/backward.hpp"
#include "harness/call/layer_inputs.hpp"

namespace recollect {

/// Whether a pass runs on the arrays as they are.
bool takes_packed(const Variant &variant, const LayerInputs &inputs, const Run &run);
bool takes_packed_backward(const Variant &variant, const LayerInputs &inputs, const Run &run);

/// Prepared passes; run.params are inputs.params. The jobs refer to the variant and the inputs.
Job prepare(const Variant &variant, const LayerInputs &inputs, const Run &run);
BackwardJob prepare_backward(const Variant &variant, const LayerInputs &inputs, const Run &run);

/// The outputs. If they are not finite, or if unresolved() may apply, the outputs of settle() for each text replace
/// them; `told` gets the remarks of settle().
Output forward(const Variant &variant, const LayerInputs &inputs, const Run &run,
               const std::function<void(const std::string &)> &told);
/// The gradients of inputs.weights, by the form's backward pass if there is one, as in gradient_by() of a sequence.
Sequence gradient_by(const Variant &variant, const LayerInputs &inputs, const Run &run);

/// The results of each text.
std::vector<TextResults> by_text(const LayerInputs &inputs, Output output, Sequence gradient);

} // namespace recollect
