// SPDX-License-Identifier: Apache-2.0
// Converts a user's arrays to a layer's inputs, and the layer's results back. Handles grouped heads, packed texts, and
// the scales, norms and gates of a convention, with the chain rule through all of these.
//
// Arrays have the layer's names, whatever they are called in a file (convention.hpp), and the layer's order: q
// [B,Hq,T,Dk], k [B,Hk,T,Dk], v [B,Hv,T,Dv], beta, alpha [B,h,T], lambda, w [B,h,T,Dk], state [B,H,rows,columns], do
// [B,H,T,Dv]; dfinal_state has the shape of the state. H is the largest number of heads, and each array's number
// divides it: head i of H uses head i / (H / h). With cu_seqlens [N+1], B is 1 and steps [cu_i, cu_{i+1}) are text i.
// Texts may be empty, and steps may follow the last text. States are then [N,H,rows,columns]. A_log, A, gamma [h] and
// dt_bias [h] or [h,Dk] are parameters of gates; gamma stands for an alpha that is the same at every step. Kernels of
// Mamba also take a skip term D [h] or [h,Dv] and an output gate z [B,H,T,Dv]: their output is (o + D v) silu(z).
#pragma once
#include "harness/call/gradient.hpp"
#include "harness/files/tensors.hpp"

namespace recollect {

/// Steps [begin, end).
struct Text {
  int begin, end;
  bool empty() const { return begin == end; }
};

struct LayerInputs {
  Sequence all; // all steps of all texts; states [B or N,H,rows,columns]
  OutputWeights weights;
  Params params; // includes the scale, if the layer has that parameter
  bool packed = false;
  std::vector<Text> texts;  // one text of all steps, if nothing is packed
  std::vector<double> skip; // D [H,Dv]; empty: none
  std::vector<double> gate; // silu(z) [B,H,T,Dv]; empty: none. Already included in the weights of o
};

/// Converts to the layer's inputs. Input error if an array has an unsuitable shape. With `gradient`, also reads the
/// output weights.
LayerInputs to_layer(const UsersArrays &user, const Variant &variant, const Params &params,
                     const Convention &convention, bool gradient);
/// One text with its initial state. The text must not be empty.
Sequence sequence_of(const LayerInputs &inputs, size_t text);
/// The same without a copy where nothing is packed; else `cut` holds it.
const Sequence &sequence_in(const LayerInputs &inputs, size_t text, Sequence &cut);
OutputWeights weights_of(const LayerInputs &inputs, size_t text);
const OutputWeights &weights_in(const LayerInputs &inputs, size_t text, OutputWeights &cut);

/// Results of one text. The final state of an empty text is its initial state, and the gradient of its initial state is
/// that of its final one.
struct TextResults {
  Output output;
  Sequence gradient; // empty if not asked for; of gates, in logarithms if Convention::log_gates()
};
TextResults results_of_empty(const LayerInputs &inputs, const Variant &variant, size_t text);

/// o, final_state, and the gradients of the user's arrays, in the order in which these were given: dq ..., dA_log,
/// dstate. Outputs and gradients at steps outside every text are 0. With `errors`, the layer's results are small errors
/// of results, and terms that do not depend on them are left out.
UsersArrays to_user(const UsersArrays &user, const LayerInputs &inputs, const Convention &convention,
                    const std::vector<TextResults> &results, bool errors = false);

/// Shape options of a sample: how many heads share an array, its packed texts, and the arrays that it has in addition
/// to the layer's inputs.
struct Sharing {
  int q_heads = 0, k_heads = 0, v_heads = 0; // 0: as many as the result has
  std::vector<int> cu_seqlens;               // empty: none
  bool skip = false, gate = false;           // has D; has z
};
/// Input error if the results' shapes do not follow from these inputs.
void check_results(const UsersArrays &results, const UsersArrays &user, const LayerInputs &inputs,
                   const Variant &variant, const Convention &convention);

/// Represents these inputs by arrays in this convention, as far as it can: raw gates are at most 30 in size. States are
/// [B or N,H,rows,columns]. Parameters of gates are drawn at random.
UsersArrays in_convention(const Sequence &inputs, const OutputWeights &weights, const StateShape &state,
                          const Convention &convention, const Sharing &sharing, std::uint64_t seed);

/// Whether the user's arrays equal the layer's, except that gates are logarithms.
bool same_arrays(const UsersArrays &user, const LayerInputs &inputs, const Convention &convention);

/// The arrays whose values, not only their layout and order, a convention changes before the layer sees them.
std::vector<std::string> converted(const Convention &convention);
/// Whether the array is a parameter of a gate or of the skip term. Kernels keep these in float32 whatever type they run
/// in.
bool is_parameter(const std::string &name);

} // namespace recollect
