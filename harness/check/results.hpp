// SPDX-License-Identifier: Apache-2.0
// A kernel's inputs, and its results as a list of named arrays, so that outputs, final state and gradients are judged
// in one way.
#pragma once
#include "harness/call/gradient.hpp"
#include "harness/check/array_types.hpp"
#include "harness/core/variant.hpp"

namespace recollect {

/// A layer, its parameters and its inputs.
struct CheckCase {
  const Variant &variant;
  Params params;
  Sequence given;         // inputs; without a `state` the layer starts from its own initial state
  OutputWeights weights;  // do and dstate; no gradients without do
  bool log_gates = false; // gradients of alpha and lambda are with respect to their logarithms
  ArrayTypes types = {};  // types of arrays that are not in the type of the computation
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

/// The part with this name, or null.
const Part *find_part(const PartList &results, const std::string &name);
Part *find_part(PartList &results, const std::string &name);

/// Outputs, the final state if there is one, and the gradients that are given, as parts. Takes the arrays, which are
/// large, from arguments that are moved.
PartList as_results(const CheckCase &problem, Output output, Sequence gradient = {});

/// Outputs and state of the recurrent form in float64; gates outside [0,1] are accepted.
Output outputs_of(const CheckCase &problem);
/// Gradients in float64, by the layer's backward pass if it has one, else by the tape over its definition. They are
/// with respect to gates or, if the problem says so, to the gates' logarithms.
Sequence gradients_of(const CheckCase &problem);
/// outputs_of() and, if the problem has do, gradients_of(). In float32 only a backward pass gives gradients.
PartList results_in(const CheckCase &problem, Real real);
/// The reference: outputs_of() and, if the problem has do, gradients. Gradients come from the tape or, where the tape
/// takes long, from the layer's backward pass. Input error if the backward pass disagrees with differences of the
/// definition.
PartList definition_of(const CheckCase &problem);
/// Whether definition_of() takes its gradients from the tape, and `count` of them take about a second or less.
bool takes_tapes(const CheckCase &problem, int count);

/// Changes an array in place; `what` names it: state or dstate.
using Disturbance = std::function<void(std::vector<double> &numbers, const std::string &what)>;
/// results_in() in float64, computed in segments of `length` steps. `disturb` changes the state that a segment passes
/// to the next one and, in the backward pass, the gradient that it passes to the previous one. A layer without a state
/// has one segment.
PartList in_segments(const CheckCase &problem, int length, const Disturbance &disturb);

/// Calls work(case of some heads, index b H + h of the first head) until all heads are done. On a CPU each call has one
/// head and one thread, and several run concurrently. If there is one head, or runs_side_by_side() is false, it calls
/// work(problem, 0).
void over_heads(const CheckCase &problem, const std::function<void(const CheckCase &part, size_t first)> &work);

} // namespace recollect
