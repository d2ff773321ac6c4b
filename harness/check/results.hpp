// SPDX-License-Identifier: Apache-2.0
// A kernel's inputs and its results. Results are a list of named arrays, so that the same code judges outputs, final
// state and gradients.
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
  OutputWeights weights;  // do and dstate; without do no gradients are computed
  bool log_gates = false; // gradients of alpha and lambda are with respect to their logarithms
  ArrayTypes types = {};  // types of the arrays, which may differ from the type of the computation
  bool wants_gradient() const { return !weights.o.empty(); }
};

/// One array [heads, rows, columns], heads = B H. For o and gradients of inputs, rows are steps. For a state and its
/// gradient, they are the rows of the matrix.
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

/// Outputs, final state and gradients as parts; empty arrays are left out. Pass the arguments with std::move, because
/// the arrays are large.
PartList as_results(const CheckCase &problem, Output output, Sequence gradient = {});

/// Outputs and state of the recurrent form in float64; gates outside [0,1] are accepted.
Output outputs_of(const CheckCase &problem);
/// Gradients in float64, by the layer's backward pass or, if it has none, by the tape over its definition. With
/// problem.log_gates, the gradients of gates are with respect to the gates' logarithms.
Sequence gradients_of(const CheckCase &problem);
/// Outputs and, if the problem has do, gradients, computed in `real`. In float32 the layer must have a backward pass.
PartList results_in(const CheckCase &problem, Real real);
/// The reference: outputs_of() and, if the problem has do, gradients. Gradients come from the tape or, where the tape
/// takes long, from the layer's backward pass. Input error if the backward pass disagrees with difference quotients of
/// the definition and the tape takes too long to decide.
PartList definition_of(const CheckCase &problem);
/// Whether `count` gradients from the tape take about a second or less. definition_of() uses the tape if one does.
bool takes_tapes(const CheckCase &problem, int count);

/// Changes `numbers` in place. `what` is the name of this array: state or dstate.
using Disturbance = std::function<void(std::vector<double> &numbers, const std::string &what)>;
/// results_in() in float64, computed in segments of `length` steps. `disturb` changes the state that a segment passes
/// to the next segment and, in the backward pass, the gradient of the state that a segment passes to the previous
/// segment. A layer without a state has one segment.
PartList in_segments(const CheckCase &problem, int length, const Disturbance &disturb);

/// Calls work(part, first) until all heads are done. `part` is the case of some heads, and `first` is the index b H + h
/// of the first of them. On a CPU each call has one head and one thread, and several calls run concurrently. If there
/// is one head, if the layer joins heads, or if runs_side_by_side() is false, the only call is work(problem, 0).
void over_heads(const CheckCase &problem, const std::function<void(const CheckCase &part, size_t first)> &work);

} // namespace recollect
