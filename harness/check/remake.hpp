// SPDX-License-Identifier: Apache-2.0
// What the files in mistakes/ share: functions that move and rearrange arrays, and that run the definition on other
// inputs or in chunks.
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
/// Those of alpha and lambda that the problem gives.
std::vector<Tensor> given_gates(const CheckCase &problem);
/// -log(alpha_t min_i lambda_t,i) of each step t, [heads, T], where i runs over channels. An absent gate counts as 1.
Numbers decay_rates(const CheckCase &problem);
/// Whether the layer has a delta rule: before it writes at a key, it erases what is stored at this key.
bool is_delta_rule(const CheckCase &problem);
/// Whether the state is S [Dv,Dk] with Dv = Dk.
bool has_square_state(const CheckCase &problem);
bool has_state(const CheckCase &problem);

/// Like disturbed(), but gates of exactly 1 stay 1, because some mistakes show only at a gate of 1.
CheckCase disturbed_but_for_ones(const CheckCase &problem, Precision precision, int draw);

CheckCase with_inputs(const CheckCase &problem, Sequence given);
/// The definition's gradients at `inputs`, as parts named as in the problem. `chain` is Misread::chain, or null.
PartList gradient_results(const CheckCase &problem, const Sequence &inputs,
                          const std::function<void(Sequence &)> &chain = nullptr);
/// The definition's outputs and state on other inputs.
PartList forward_results(const CheckCase &problem, const Sequence &inputs);

/// The misreading that replaces every number x of an input by f(x). Its chain rule multiplies gradients by slope(x).
Misread elementwise(const CheckCase &problem, Tensor tensor, const std::string &what, std::function<double(double)> f,
                    std::function<double(double)> slope);

/// Position of a number in an array [heads, rows, columns]; rows are steps, or rows of a state.
struct Place {
  long head, row, column;
};
constexpr Place nowhere{-1, -1, -1};
/// A misreading of the named arrays (tensors, or "state"): at each place the kernel reads the number that belongs at
/// source(place) of the same array, or `edge` if source(place) is `nowhere`.
Misread gathered(const CheckCase &problem, const std::vector<std::string> &names, const std::string &what,
                 std::function<Place(Place)> source, double edge = 0);

/// as_bthd() reads an array [B,H,T,width] as though it were [B,T,H,width]. from_bthd() is its inverse.
Numbers as_bthd(const Numbers &values, const Shape &shape, int width);
Numbers from_bthd(const Numbers &values, const Shape &shape, int width);
/// Transposes every head's square matrix.
Numbers transposed(const Numbers &matrices, int size);

/// Copies of the named parts with `change` applied to each. Names of parts that `right` lacks are ignored.
PartList changed(const PartList &right, const std::vector<std::string> &names,
                 const std::function<void(Part &)> &change);
/// Names of the gradients among the parts.
std::vector<std::string> gradient_names(const PartList &right);
/// Ways to multiply gradients by the factor: first one way per gradient, which changes only this gradient; then one
/// that changes all gradients. The text of a way is `before`, then the gradient's name or "every gradient", then
/// `after`.
std::vector<Made> scaled_gradients(const PartList &right, double factor, const std::string &before,
                                   const std::string &after);
inline double *row_of(Part &part, size_t head, size_t row) {
  return &part.values[(head * part.rows + row) * part.columns];
}
/// Sets rows [begin, end) of every head to `value`.
void fill_rows(Part &part, size_t begin, size_t end, double value);

/// Outputs and state of the definition, computed chunk by chunk; `change` alters the state between chunks.
/// backward_in_chunks() does the same for gradients; its `change` alters the gradient of the state. A layer without a
/// state has one chunk.
PartList forward_in_chunks(const CheckCase &problem, int length, const std::function<void(Numbers &state)> &change);
PartList backward_in_chunks(const CheckCase &problem, int length, const std::function<void(Numbers &dstate)> &change);
/// The definition's gradients with `weights` as do and dstate.
PartList gradients_with(const CheckCase &problem, OutputWeights weights);
/// The problem with `before` steps added at the start and `after` at the end. In these steps decays are 1 and all other
/// inputs are 0. For forward passes only.
CheckCase padded(const CheckCase &problem, int before, int after);

/// Outputs o, where o_t is the read of query t from the state after step min(when(t), T - 1), or zero if when(t) < 0.
Numbers read_at(const CheckCase &problem, const std::function<int(int)> &when);

/// Half-open range of steps of one chunk.
struct Steps {
  int begin, end;
};
std::vector<Steps> chunks(int T, int length);
/// The definition's states at the start of every chunk.
std::vector<Numbers> chunk_states(const CheckCase &problem, int length);
/// Outputs o, where every chunk starts from the definition's state at the start of the chunk, altered by `change`.
Numbers outputs_from_states(const CheckCase &problem, int length, const std::function<void(Numbers &)> &change);
/// Outputs and final state of the definition on `steps` alone, which starts from `state`.
Output outputs_of_steps(const CheckCase &problem, Steps steps, const Numbers &state);

} // namespace recollect
