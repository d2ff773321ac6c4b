// SPDX-License-Identifier: Apache-2.0
#include "harness/check/remake.hpp"
#include "harness/check/noise.hpp"
#include "harness/numerics/inputs.hpp"
#include <algorithm>
#include <cmath>
#include <map>

namespace recollect {

std::vector<int> chunk_lengths(const CheckCase &problem) {
  std::vector<int> lengths;
  for (int length : {16, 32, 64, 128, 256, 512})
    if (length < problem.given.shape.T) lengths.push_back(length);
  return lengths;
}

bool gives(const CheckCase &problem, Tensor tensor) { return !problem.given[tensor].empty(); }

std::vector<Tensor> given_gates(const CheckCase &problem) {
  std::vector<Tensor> gates;
  for (Tensor tensor : {Tensor::alpha, Tensor::lambda})
    if (gives(problem, tensor)) gates.push_back(tensor);
  return gates;
}

Numbers decay_rates(const CheckCase &problem) {
  const Shape &n = problem.given.shape;
  Numbers rates(n.heads() * size_t(n.T), 0.0);
  for (size_t step = 0; step < rates.size(); ++step)
    for (Tensor tensor : given_gates(problem)) {
      const size_t width = size_t(width_of(tensor, n));
      const auto first = problem.given[tensor].begin() + std::ptrdiff_t(step * width);
      rates[step] -= std::log(*std::min_element(first, first + std::ptrdiff_t(width)));
    }
  return rates;
}

bool is_delta_rule(const CheckCase &problem) { return problem.variant.family == "delta rule"; }

bool has_state(const CheckCase &problem) {
  return problem.variant.state_shape(problem.given.shape, problem.params).size() > 0;
}

bool has_square_state(const CheckCase &problem) {
  const Shape &n = problem.given.shape;
  const StateShape state = problem.variant.state_shape(n, problem.params);
  return n.Dk == n.Dv && state.rows == n.Dv && state.columns == n.Dk;
}

CheckCase disturbed_but_for_ones(const CheckCase &problem, Precision precision, int draw) {
  CheckCase moved = disturbed(problem, precision, draw, 64);
  for (Tensor gate : given_gates(problem))
    for (size_t i = 0; i < moved.given[gate].size(); ++i)
      if (problem.given[gate][i] == 1) moved.given[gate][i] = 1;
  return moved;
}

CheckCase with_inputs(const CheckCase &problem, Sequence given) {
  CheckCase other = problem;
  other.given = std::move(given);
  return other;
}

PartList gradient_results(const CheckCase &problem, const Sequence &inputs,
                          const std::function<void(Sequence &)> &chain) {
  CheckCase other = with_inputs(problem, inputs);
  other.log_gates = false; // `chain` takes gradients with respect to the gates, not to their logarithms
  Sequence gradient = gradients_of(other);
  if (chain) chain(gradient);
  if (problem.log_gates) in_logarithms(gradient, problem.given);
  return as_results(problem, {}, std::move(gradient));
}

PartList forward_results(const CheckCase &problem, const Sequence &inputs) {
  return as_results(problem, outputs_of(with_inputs(problem, inputs)));
}

Misread elementwise(const CheckCase &problem, Tensor tensor, const std::string &what, std::function<double(double)> f,
                    std::function<double(double)> slope) {
  const auto inputs = [&problem, tensor, f] {
    Sequence other = problem.given;
    for (double &x : other[tensor]) x = f(x);
    return other;
  };
  return {what, inputs, [&problem, tensor, slope](Sequence &gradient) {
            for (size_t i = 0; i < gradient[tensor].size(); ++i) gradient[tensor][i] *= slope(problem.given[tensor][i]);
          }};
}

namespace {

Numbers &array_named(Sequence &sequence, const std::string &name) {
  return name == "state" ? sequence.state : sequence.input(name);
}

/// Calls told(i, j) for every index i of the named array. j is the index of source(place of i), or -1 for `nowhere`.
template <class Told>
void each_source(const CheckCase &problem, const std::string &name, const std::function<Place(Place)> &source,
                 const Told &told) {
  const Shape &n = problem.given.shape;
  const StateShape state = problem.variant.state_shape(n, problem.params);
  const long rows = name == "state" ? state.rows : n.T,
             columns = name == "state" ? state.columns : width_of(tensor_named(name), n);
  size_t i = 0;
  for (long head = 0; head < long(n.heads()); ++head)
    for (long row = 0; row < rows; ++row)
      for (long column = 0; column < columns; ++column, ++i) {
        const Place from = source({head, row, column});
        told(i, from.head < 0 ? -1 : (from.head * rows + from.row) * columns + from.column);
      }
}

} // namespace

Misread gathered(const CheckCase &problem, const std::vector<std::string> &names, const std::string &what,
                 std::function<Place(Place)> source, double edge) {
  std::vector<std::string> present;
  for (const std::string &name : names)
    if (Sequence given = problem.given; !array_named(given, name).empty()) present.push_back(name);
  const auto inputs = [&problem, present, source, edge] {
    Sequence other = problem.given, given = problem.given;
    for (const std::string &name : present) {
      const Numbers &from = array_named(given, name);
      Numbers &to = array_named(other, name);
      each_source(problem, name, source, [&](size_t i, long at) { to[i] = at < 0 ? edge : from[size_t(at)]; });
    }
    return other;
  };
  return {what, inputs, [&problem, present, source](Sequence &gradient) {
            for (const std::string &name : present) {
              Numbers &array = array_named(gradient, name);
              const Numbers found = array;
              std::fill(array.begin(), array.end(), 0.0);
              each_source(problem, name, source, [&](size_t i, long at) {
                if (at >= 0) array[size_t(at)] += found[i];
              });
            }
          }};
}

namespace {

/// Moves the rows (b, h, t) of an array from [B,T,H] to [B,H,T], or back if `to_bthd` is false.
Numbers laid_out(const Numbers &values, const Shape &shape, int width, bool to_bthd) {
  Numbers out(values.size());
  if (values.empty()) return out;
  for (int b = 0; b < shape.B; ++b)
    for (int h = 0; h < shape.H; ++h)
      for (int t = 0; t < shape.T; ++t) {
        const size_t bhtd = ((size_t(b) * size_t(shape.H) + size_t(h)) * size_t(shape.T) + size_t(t)) * size_t(width),
                     bthd = ((size_t(b) * size_t(shape.T) + size_t(t)) * size_t(shape.H) + size_t(h)) * size_t(width);
        std::copy_n(&values[to_bthd ? bthd : bhtd], width, &out[to_bthd ? bhtd : bthd]);
      }
  return out;
}

} // namespace

Numbers as_bthd(const Numbers &values, const Shape &shape, int width) { return laid_out(values, shape, width, true); }
Numbers from_bthd(const Numbers &values, const Shape &shape, int width) {
  return laid_out(values, shape, width, false);
}

Numbers transposed(const Numbers &matrices, int size) {
  Numbers out(matrices.size());
  const size_t n = size_t(size);
  for (size_t i = 0; i < out.size(); ++i) out[i] = matrices[i / (n * n) * n * n + i % n * n + i / n % n];
  return out;
}

PartList changed(const PartList &right, const std::vector<std::string> &names,
                 const std::function<void(Part &)> &change) {
  PartList found;
  for (const std::string &name : names)
    if (const Part *part = find_part(right, name)) {
      found.push_back(*part);
      change(found.back());
    }
  return found;
}

std::vector<std::string> gradient_names(const PartList &right) {
  std::vector<std::string> found;
  for (const Part &part : right)
    if (part.name != "o" && part.name != "state") found.push_back(part.name);
  return found;
}

std::vector<Made> scaled_gradients(const PartList &right, double factor, const std::string &before,
                                   const std::string &after) {
  std::vector<Made> all;
  const auto add = [&](const std::string &what, const std::vector<std::string> &names) {
    all.push_back({before + what + after, nullptr, [&right, names, factor] {
                     return changed(right, names, [&](Part &part) {
                       for (double &x : part.values) x *= factor;
                     });
                   }});
  };
  const std::vector<std::string> names = gradient_names(right);
  for (const std::string &name : names) add(name, {name});
  if (!names.empty()) add("every gradient", names);
  return all;
}

void fill_rows(Part &part, size_t begin, size_t end, double value) {
  for (size_t head = 0; head < part.heads; ++head)
    std::fill(row_of(part, head, begin), row_of(part, head, begin) + (end - begin) * part.columns, value);
}

PartList forward_in_chunks(const CheckCase &problem, int length, const std::function<void(Numbers &)> &change) {
  CheckCase forward = problem;
  forward.weights = {};
  return in_segments(forward, length, [&](Numbers &state, const std::string &) { change(state); });
}

PartList backward_in_chunks(const CheckCase &problem, int length, const std::function<void(Numbers &)> &change) {
  PartList found = in_segments(problem, length, [&](Numbers &numbers, const std::string &what) {
    if (what == "dstate") change(numbers);
  });
  found.erase(std::remove_if(found.begin(), found.end(),
                             [](const Part &part) { return part.name == "o" || part.name == "state"; }),
              found.end());
  return found;
}

PartList gradients_with(const CheckCase &problem, OutputWeights weights) {
  CheckCase other = problem;
  other.weights = std::move(weights);
  return gradient_results(other, problem.given);
}

CheckCase padded(const CheckCase &problem, int before, int after) {
  const Shape &n = problem.given.shape;
  CheckCase longer = problem;
  Sequence &s = longer.given;
  longer.weights = {};
  s.shape.T += before + after;
  for (Tensor tensor : all_tensors) {
    if (!gives(problem, tensor)) continue;
    const size_t width = size_t(width_of(tensor, n)), rows = size_t(n.T), all_rows = size_t(s.shape.T);
    s[tensor].assign(n.heads() * all_rows * width, facts_of(tensor).decay ? 1.0 : 0.0);
    for (size_t head = 0; head < n.heads(); ++head)
      std::copy_n(&problem.given[tensor][head * rows * width], rows * width,
                  &s[tensor][(head * all_rows + size_t(before)) * width]);
  }
  return longer;
}

Numbers read_at(const CheckCase &problem, const std::function<int(int)> &when) {
  const Shape &n = problem.given.shape;
  const size_t T = size_t(n.T), Dk = size_t(n.Dk), Dv = size_t(n.Dv);
  Numbers o(problem.given.v.size(), 0.0);
  std::vector<int> waiting;
  for (int t = 0; t < n.T; ++t)
    if (when(t) >= 0) waiting.push_back(t);
  while (!waiting.empty()) { // each pass of the definition answers one query per step
    std::map<int, int> query_at;
    std::vector<int> later;
    for (int t : waiting)
      if (!query_at.emplace(std::min(when(t), n.T - 1), t).second) later.push_back(t);
    Sequence asked = problem.given;
    for (size_t head = 0; head < n.heads(); ++head)
      for (const auto &[step, t] : query_at)
        std::copy_n(&problem.given.q[(head * T + size_t(t)) * Dk], Dk, &asked.q[(head * T + size_t(step)) * Dk]);
    const Numbers reads = outputs_of(with_inputs(problem, asked)).o;
    for (size_t head = 0; head < n.heads(); ++head)
      for (const auto &[step, t] : query_at)
        std::copy_n(&reads[(head * T + size_t(step)) * Dv], Dv, &o[(head * T + size_t(t)) * Dv]);
    waiting = later;
  }
  return o;
}

std::vector<Steps> chunks(int T, int length) {
  std::vector<Steps> all;
  for (int begin = 0; begin < T; begin += length) all.push_back({begin, std::min(begin + length, T)});
  return all;
}

Output outputs_of_steps(const CheckCase &problem, Steps steps, const Numbers &state) {
  Sequence part = slice_steps(problem.given, steps.begin, steps.end);
  part.state = state;
  return outputs_of(with_inputs(problem, part));
}

std::vector<Numbers> chunk_states(const CheckCase &problem, int length) {
  std::vector<Numbers> states{initial_state(problem.variant, problem.given, problem.params)};
  for (const Steps &steps : chunks(problem.given.shape.T, length))
    if (steps.end < problem.given.shape.T) states.push_back(outputs_of_steps(problem, steps, states.back()).state);
  return states;
}

Numbers outputs_from_states(const CheckCase &problem, int length, const std::function<void(Numbers &)> &change) {
  const Shape &n = problem.given.shape;
  const size_t T = size_t(n.T), Dv = size_t(n.Dv);
  std::vector<Numbers> states = chunk_states(problem, length);
  Numbers o(problem.given.v.size());
  size_t at = 0;
  for (const Steps &steps : chunks(n.T, length)) {
    change(states[at]);
    const Numbers part = outputs_of_steps(problem, steps, states[at++]).o;
    const size_t rows = size_t(steps.end - steps.begin);
    for (size_t head = 0; head < n.heads(); ++head)
      std::copy_n(&part[head * rows * Dv], rows * Dv, &o[(head * T + size_t(steps.begin)) * Dv]);
  }
  return o;
}

} // namespace recollect
