// SPDX-License-Identifier: Apache-2.0
// Shared by the files in mistakes/: moving and rearranging arrays, and running the definition on other inputs or in
// chunks.
#pragma once
#include "harness/check/mistakes.hpp"
#include "harness/check/precision.hpp"

namespace recollect {

using Numbers = std::vector<double>;

/// Typical chunk lengths of kernels, shorter than T.
std::vector<int> chunk_lengths(const CheckCase &problem);
inline std::string of_chunks(int length) { return "chunks of " + std::to_string(length); }

/// Whether the layer takes this input and the problem gives it.
bool gives(const CheckCase &problem, Tensor tensor);
/// alpha and lambda, as far as they are given.
std::vector<Tensor> given_gates(const CheckCase &problem);
/// -log of the decay of each step [heads, T]: alpha and lambda together, for the channel that decays most; zeros
/// without gates.
Numbers decay_rates(const CheckCase &problem);
/// Whether the layer has a delta rule: before it writes at a key, it erases what is stored there.
bool is_delta_rule(const CheckCase &problem);
/// Whether the state is S [Dv,Dk] with Dv = Dk.
bool has_square_state(const CheckCase &problem);
bool has_state(const CheckCase &problem);

/// Like disturbed(), but gates of exactly 1 stay 1, since some mistakes show only there.
CheckCase disturbed_but_for_ones(const CheckCase &problem, Precision precision, int draw);

CheckCase with_inputs(const CheckCase &problem, Sequence given);
/// The gradients at other inputs as parts of the problem; applies the misreading's chain rule, if it has one.
PartList gradient_results(const CheckCase &problem, const Sequence &inputs,
                          const std::function<void(Sequence &)> &chain = nullptr);
/// The definition's outputs and state on other inputs.
PartList forward_results(const CheckCase &problem, const Sequence &inputs);

/// Replaces every x of an input by f(x); the chain rule multiplies by slope(x).
Misread elementwise(const CheckCase &problem, Tensor tensor, const std::string &what, std::function<double(double)> f,
                    std::function<double(double)> slope);

/// Position of a number in an array [heads, rows, columns]; rows are steps, or rows of a state.
struct Place {
  long head, row, column;
};
constexpr Place nowhere{-1, -1, -1};
/// Arrays whose numbers are read from other places in them; `edge` replaces places outside. `names` are tensors, or
/// state.
Misread gathered(const CheckCase &problem, const std::vector<std::string> &names, const std::string &what,
                 std::function<Place(Place)> source, double edge = 0);

/// [B,H,T,D] read as though it were [B,T,H,D]. The next function is the inverse.
Numbers as_bthd(const Numbers &values, const Shape &shape, int width);
Numbers from_bthd(const Numbers &values, const Shape &shape, int width);
/// Transposes every head's square matrix.
Numbers transposed(const Numbers &matrices, int size);

/// A copy of a part with change(values, part) applied; empty if the results have no such part.
PartList changed(const PartList &right, const std::vector<std::string> &names,
                 const std::function<void(Part &)> &change);
/// Names of the gradients among the parts.
std::vector<std::string> gradient_names(const PartList &right);
/// Each gradient in turn times a factor, the others unchanged; then all of them times the factor.
std::vector<Made> scaled_gradients(const PartList &right, double factor, const std::string &before,
                                   const std::string &after);
/// Row `row` of head `head`.
inline double *row_of(Part &part, size_t head, size_t row) {
  return &part.values[(head * part.rows + row) * part.columns];
}
/// Sets rows [begin, end) of every head.
void fill_rows(Part &part, size_t begin, size_t end, double value);

/// Outputs and state (or gradients) of the definition, computed chunk by chunk. `disturb` changes the state (or its
/// gradient) between chunks. A layer without a state has one chunk.
PartList forward_in_chunks(const CheckCase &problem, int length, const std::function<void(Numbers &state)> &change);
PartList backward_in_chunks(const CheckCase &problem, int length, const std::function<void(Numbers &dstate)> &change);
/// The gradients for other do and dstate.
PartList gradients_with(const CheckCase &problem, OutputWeights weights);
/// The problem with `before` and `after` steps of zeros added, whose gates are 1. For forward passes only.
CheckCase padded(const CheckCase &problem, int before, int after);

/// o if the query of step t reads the state after step when(t) <= T - 1; zero if when(t) < 0.
Numbers read_at(const CheckCase &problem, const std::function<int(int)> &when);

/// Half-open range of steps of one chunk.
struct Steps {
  int begin, end;
};
std::vector<Steps> chunks(int T, int length);
/// The definition's states at the start of every chunk.
std::vector<Numbers> chunk_states(const CheckCase &problem, int length);
/// o of each chunk if it starts from change(the definition's state there).
Numbers outputs_from_states(const CheckCase &problem, int length, const std::function<void(Numbers &)> &change);
/// o and the state of these steps of the problem, started from that state. All [B,H,T,...] arrays are cut to these
/// steps.
Output outputs_of_steps(const CheckCase &problem, Steps steps, const Numbers &state);

} // namespace recollect
