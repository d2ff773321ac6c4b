// SPDX-License-Identifier: Apache-2.0 Passes over packed texts, and over inputs in which several heads of v share a
// head of q and k. A form with Form::packs runs all texts at once on the arrays as they are. Any other form runs one
// text after the other, with q and k repeated for every head of v.
//
// Results have the layout of the inputs: o and gradients over all steps, gradients of q and k with key_heads heads, and
// a state per text. Outputs and gradients are 0 at steps that follow the last text.
#pragma once
#include "harness/call/backward.hpp"
#include "harness/call/layer_inputs.hpp"

namespace recollect {

/// Parses the lengths of packed texts, such as "30,0,69". Returns the step at which each text starts, followed by the
/// step at which the last text ends; empty for "". Usage error unless the lengths are whole numbers whose sum is at
/// most T.
std::vector<int> starts_of_texts(const std::string &lengths, int T);
/// Usage error unless `shared` divides `heads`, so that equally many of the `heads` heads can share each of `shared`
/// heads. 0 is accepted: no heads are shared.
void refuse_shared_heads(int shared, int heads);

/// The texts that the user's array cu_seqlens describes. If there is no such array, one text that has all steps. Input
/// error unless cu_seqlens starts at 0, never decreases and ends at T or before.
std::vector<Text> texts_of(const UsersArrays &user, const Shape &shape);

/// One text with its initial state, and with q and k for every head.
Sequence sequence_of(const LayerInputs &inputs, size_t text);
/// Like sequence_of(), but makes no copy if texts are not packed and heads are not grouped. Otherwise stores the copy
/// in `cut` and returns `cut`.
const Sequence &sequence_in(const LayerInputs &inputs, size_t text, Sequence &cut);
/// The output weights of one text; weights_in() makes a copy, in `cut`, only if texts are packed.
OutputWeights weights_of(const LayerInputs &inputs, size_t text);
const OutputWeights &weights_in(const LayerInputs &inputs, size_t text, OutputWeights &cut);

/// Whether the form runs all texts at once on the arrays as they are.
bool takes_packed(const Variant &variant, const LayerInputs &inputs, const Run &run);
bool takes_packed_backward(const Variant &variant, const LayerInputs &inputs, const Run &run);

/// Prepared passes over all texts. run.params must be inputs.params. The jobs hold references to the variant and to the
/// inputs.
Job prepare(const Variant &variant, const LayerInputs &inputs, const Run &run);
BackwardJob prepare_backward(const Variant &variant, const LayerInputs &inputs, const Run &run);

/// The outputs and final states of all texts. If they are not finite, or if the layer has a worst_condition, settle()
/// checks the outputs of each text and may replace them; told(remark) is called for each remark of settle().
Output forward(const Variant &variant, const LayerInputs &inputs, const Run &run,
               const std::function<void(const std::string &)> &told);
/// The gradients for the output weights inputs.weights, by the form's backward pass if there is one, as in
/// gradient_by() of a sequence (backward.hpp).
Sequence gradient_by(const Variant &variant, const LayerInputs &inputs, const Run &run);

/// Cuts an array into `parts` parts of equal size, such as the states of the texts, and returns part `index`. Empty if
/// the array is empty.
std::vector<double> part(const std::vector<double> &all, size_t index, size_t parts);
/// Divides results over all texts into the results of each text.
std::vector<TextResults> by_text(const LayerInputs &inputs, Output output, Sequence gradient);
/// The results of a text without steps: its final state is its initial state.
TextResults results_of_empty(const LayerInputs &inputs, const Variant &variant, size_t text);

} // namespace recollect
