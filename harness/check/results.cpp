// SPDX-License-Identifier: Apache-2.0
#include "harness/check/results.hpp"
#include "harness/call/backward.hpp"
#include "harness/call/differences.hpp"
#include "harness/call/segment.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/device/side_by_side.hpp"
#include "harness/numerics/inputs.hpp"
#include <algorithm>

namespace recollect {
namespace {

using Numbers = std::vector<double>;

// Limits on the number of operations of the definition. Up to quick_tape operations, the tape takes at most a second.
// Up to long_tape, it is used only where difference quotients disagree with the backward pass.
constexpr double quick_tape = 1e6, long_tape = 2e7;
constexpr double long_quad = 2e8; // operations up to which differences in 113 bits are used; they take half a minute

Run definition_run(const CheckCase &problem, Real real) {
  Run run{"recurrent", real, 1, problem.params};
  run.any_gate = true; // mistakes and disturbed inputs may lie outside [0,1]
  return run;
}

Sequence back(const CheckCase &problem, Real real) {
  Run run{backward_form(problem.variant), real, 64, problem.params};
  run.any_gate = true;
  const auto compute = real == Real::f64 ? gradient_by : backward; // the tape records float64 only
  return compute(problem.variant, problem.given, run, problem.weights);
}

Sequence with_gates_of(const CheckCase &problem, Sequence gradient) {
  if (problem.log_gates) in_logarithms(gradient, problem.given);
  return gradient;
}

double operations(const CheckCase &problem) {
  const Shape &n = problem.given.shape;
  const Cost &cost = problem.variant.cost;
  const double step = cost.flops.at(n, problem.params) + cost.functions.at(n, problem.params);
  return step * double(n.heads()) * n.T;
}

Sequence by_tape(const CheckCase &problem) {
  return gradient(problem.variant, problem.given, problem.params, problem.weights);
}

/// Compares the gradient of the backward pass with difference quotients of the definition, and returns it if they
/// agree. They may disagree at a kink, or because rounding dominates the differences. The tape's gradient is then
/// returned; at kinks it takes the declared subgradients (taped.hpp). If the tape takes too long, differences in 113
/// bits decide.
Sequence held_gradient(const CheckCase &problem) {
  Sequence found = back(problem, Real::f64);
  for (const Slope &slope : slopes(problem.variant, problem.given, problem.params, problem.weights, found)) {
    if (slope.right()) continue;
    if (takes_gradients() && operations(problem) <= long_tape) return by_tape(problem);
    if (takes_gradients() && operations(problem) <= long_quad &&
        right_in_113_bits(slope, problem.variant, problem.given, problem.params, problem.weights))
      continue;
    input_error("the backward pass of " + problem.variant.name +
                " cannot serve as reference: along a random direction " + slope.name + " gives " +
                number(slope.claimed) + ", differences of the definition " + number(slope.measured));
  }
  return found;
}

} // namespace

const Part *find_part(const PartList &results, const std::string &name) {
  const auto found = std::find_if(results.begin(), results.end(), [&](const Part &part) { return part.name == name; });
  return found == results.end() ? nullptr : &*found;
}
Part *find_part(PartList &results, const std::string &name) {
  return const_cast<Part *>(find_part(const_cast<const PartList &>(results), name));
}

PartList as_results(const CheckCase &problem, Output output, Sequence gradient) {
  const Shape &n = problem.given.shape;
  const StateShape state = problem.variant.state_shape(n, problem.params);
  PartList all;
  const auto add = [&](const std::string &name, Numbers &values, int rows, int columns, bool over_steps) {
    if (!values.empty()) all.push_back({name, n.heads(), size_t(rows), size_t(columns), std::move(values), over_steps});
  };
  add("o", output.o, n.T, n.Dv, true);
  add("state", output.state, state.rows, state.columns, false);
  for (Tensor tensor : all_tensors)
    add(std::string("d") + name_of(tensor), gradient[tensor], n.T, width_of(tensor, n), true);
  add("dstate", gradient.state, state.rows, state.columns, false);
  return all;
}

Output outputs_of(const CheckCase &problem) {
  return forward(problem.variant, problem.given, definition_run(problem, Real::f64));
}

Sequence gradients_of(const CheckCase &problem) { return with_gates_of(problem, back(problem, Real::f64)); }

PartList results_in(const CheckCase &problem, Real real) {
  Output output = forward(problem.variant, problem.given, definition_run(problem, real));
  if (!problem.wants_gradient()) return as_results(problem, std::move(output));
  return as_results(problem, std::move(output), with_gates_of(problem, back(problem, real)));
}

bool takes_tapes(const CheckCase &problem, int count) {
  return takes_gradients() && operations(problem) * count <= quick_tape;
}

PartList definition_of(const CheckCase &problem) {
  Output output = outputs_of(problem);
  if (!problem.wants_gradient()) return as_results(problem, std::move(output));
  return as_results(problem, std::move(output),
                    with_gates_of(problem, takes_tapes(problem, 1) ? by_tape(problem) : held_gradient(problem)));
}

PartList in_segments(const CheckCase &problem, int length, const Disturbance &disturb) {
  const Shape &n = problem.given.shape;
  const bool has_state = problem.variant.state_shape(n, problem.params).size() > 0;
  const int step = has_state ? std::clamp(length, 1, n.T) : n.T;
  const auto segment = [&](int begin, Numbers &state) { // moves `state`, which is large, into the result
    CheckCase part{
        problem.variant,   problem.params, slice_steps(problem.given, begin, std::min(begin + step, n.T)), {},
        problem.log_gates, problem.types};
    part.given.state = std::move(state);
    return part;
  };

  std::vector<Numbers> starts{initial_state(problem.variant, problem.given, problem.params)};
  Output whole;
  for (int begin = 0; begin < n.T; begin += step) {
    CheckCase part = segment(begin, starts.back());
    Output out = outputs_of(part);
    starts.back() = std::move(part.given.state);
    const int end = std::min(begin + step, n.T);
    put_steps(whole.o, out.o, n, begin, end);
    whole.state_shape = out.state_shape;
    if (end == n.T) {
      whole.state = std::move(out.state);
      break;
    }
    disturb(out.state, "state");
    starts.push_back(std::move(out.state));
  }
  if (!problem.wants_gradient()) return as_results(problem, std::move(whole));

  Sequence gradient;
  gradient.shape = n;
  Numbers dstate = problem.weights.state;
  for (int i = int(starts.size()) - 1; i >= 0; --i) {
    const int begin = i * step, end = std::min(begin + step, n.T);
    CheckCase part = segment(begin, starts[size_t(i)]);
    part.weights = {steps_of(problem.weights.o, n, begin, end), std::move(dstate)};
    Sequence found = gradients_of(part);
    for (Tensor tensor : all_tensors) put_steps(gradient[tensor], found[tensor], n, begin, end);
    dstate = std::move(found.state);
    if (i > 0) disturb(dstate, "dstate");
  }
  gradient.state = std::move(dstate);
  return as_results(problem, std::move(whole), std::move(gradient));
}

void over_heads(const CheckCase &problem, const std::function<void(const CheckCase &part, size_t first)> &work) {
  const size_t heads = problem.given.shape.heads();
  const bool together = problem.variant.joins_heads && problem.variant.joins_heads(problem.params);
  if (heads == 1 || together || !runs_side_by_side()) return work(problem, 0);
  side_by_side(heads, [&](size_t head) {
    const auto own = [&](const Numbers &all) { return slice_heads(all, problem.given.shape, head, 1); };
    work({problem.variant,
          problem.params,
          slice_heads(problem.given, head, 1),
          {own(problem.weights.o), own(problem.weights.state)},
          problem.log_gates,
          problem.types},
         head);
  });
}

} // namespace recollect
