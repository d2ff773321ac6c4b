// SPDX-License-Identifier: Apache-2.0
// What a kernel is given and what it computes, as a list of named arrays: outputs, final state and gradients are judged
// alike.
#pragma once
#include "harness/call/gradient.hpp"
#include "harness/check/array_types.hpp"
#include "harness/core/variant.hpp"

namespace recollect {

/// A layer, its parameters and what it is given.
struct CheckCase {
  const Variant &variant;
  Params params;
  Sequence given;         // inputs; without a `state` the layer starts from its own initial state
  OutputWeights weights;  // do and dstate; without do no gradients are wanted
  bool log_gates = false; // gradients of alpha and lambda are with respect to their logarithms
  ArrayTypes types = {};  // of arrays that are not held in the type of the computation
  bool wants_gradient() const { return !weights.o.empty(); }
};

/// One array [heads, rows, columns], heads = B H. Rows are the steps of o and of gradients, or the rows of a state.
struct Part {
  std::string name; // o, state, dq, dk, dv, dbeta, dalpha, dlambda, dw, dstate
  size_t heads, rows, columns;
  std::vector<double> values;
  bool over_steps; // rows are steps
};
using PartList = std::vector<Part>;

/// The part of that name; null where there is none.
const Part *find_part(const PartList &results, const std::string &name);
Part *find_part(PartList &results, const std::string &name);

/// Outputs, the final state where there is one, and gradients of what was given, as parts.
PartList as_results(const CheckCase &problem, const Output &output, const Sequence *gradient = nullptr);

/// Outputs and state of the recurrent form in float64; gates outside [0,1] are accepted.
Output outputs_of(const CheckCase &problem);
/// Gradients in float64: by the layer's backward pass where it has one, by the tape over its definition elsewhere. The
/// gradients of gates are in the gates, or in their logarithms where the problem wants those.
Sequence gradients_of(const CheckCase &problem);
/// outputs_of() and, where the problem wants them, gradients_of(); in float32 the backward pass alone gives gradients.
PartList results_in(const CheckCase &problem, Real real);
/// The reference: outputs_of() and, where the problem wants them, gradients of the tape, or where that takes long of the
/// layer's backward pass. Input error where the backward pass disagrees with differences of the definition.
PartList definition_of(const CheckCase &problem);

/// Changes an array in place; `what` names it: state or dstate.
using Disturbance = std::function<void(std::vector<double> &numbers, const std::string &what)>;
/// results_in() float64 by segments of `length` steps. `disturb` changes the state that a segment passes to the next and,
/// in the backward pass, the gradient that it passes to the one before. A layer without a state has one segment.
PartList in_segments(const CheckCase &problem, int length, const Disturbance &disturb);

} // namespace recollect
