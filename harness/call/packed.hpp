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

/// Parses the lengths of packed texts, such as "30,0,69". Returns the step at which each text starts, then the step at
/// which the last text ends; empty for "". Usage error unless the lengths are whole and add up to at most T.
std::vector<int> starts_of_texts(const std::string &lengths, int T);
/// Usage error if so many heads cannot be shared by all `heads`; 0: none are shared.
void refuse_shared_heads(int shared, int heads);

/// The texts of cu_seqlens; without it, one text of all steps. Input error unless they are steps in order.
std::vector<Text> texts_of(const UsersArrays &user, const Shape &shape);

/// One text with its initial state, and with q and k for every head.
Sequence sequence_of(const LayerInputs &inputs, size_t text);
/// Like sequence_of(), but without a copy if texts are not packed and heads not grouped; else the copy is stored in
/// `cut`.
const Sequence &sequence_in(const LayerInputs &inputs, size_t text, Sequence &cut);
OutputWeights weights_of(const LayerInputs &inputs, size_t text);
const OutputWeights &weights_in(const LayerInputs &inputs, size_t text, OutputWeights &cut);

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

/// Part `index` of `parts` equal ones, such as the states of a text; empty if `all` is.
std::vector<double> part(const std::vector<double> &all, size_t index, size_t parts);
/// The results of each text, and those of a text without steps.
std::vector<TextResults> by_text(const LayerInputs &inputs, Output output, Sequence gradient);
TextResults results_of_empty(const LayerInputs &inputs, const Variant &variant, size_t text);

} // namespace recollect
