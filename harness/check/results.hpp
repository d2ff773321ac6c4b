// SPDX-License-Identifier: Apache-2.0
// What a kernel is given and what it computes, as a list of named arrays: outputs, final state and gradients are judged
// alike.
#pragma once
#include "harness/core/variant.hpp"
#include "harness/pipeline/gradient.hpp"

namespace recollect {

/// A layer, its parameters and what it is given.
struct CheckCase {
  const Variant &variant;
  Params params;
  Sequence given;         // inputs; `state` is empty where the layer starts from its own
  OutputWeights weights;  // do and dstate; no do: gradients are not asked for
  bool log_gates = false; // gradients are those in the logarithms of alpha and lambda
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

/// Outputs and state of the recurrent form in float64; gates outside [0,1] are let through.
Output outputs_of(const CheckCase &problem);
/// Gradients in float64: by the layer's backward pass where it has one, by the tape over its definition elsewhere. Those
/// of gates are in the gates, or in their logarithms where the problem has them so.
Sequence gradients_of(const CheckCase &problem);
/// Both, as far as they are asked for. Input error where the backward pass disagrees with differences of the definition.
PartList definition_of(const CheckCase &problem);

/// Moves numbers of an array in place; `what` names the array.
using Disturbance = std::function<void(std::vector<double> &numbers, const std::string &what)>;
/// definition_of() in segments of `length` steps, the state and, on the way back, its gradient disturbed where one
/// segment hands over to the next. A layer without a state has one segment.
PartList in_segments(const CheckCase &problem, int length, const Disturbance &disturb);

} // namespace recollect
