// SPDX-License-Identifier: Apache-2.0
// A user's arrays as the inputs of a layer, and what the layer computes as arrays of the user: grouped heads, packed
// texts, scales, norms and gates of a convention, and the chain rule through them.
//
// Arrays are named as the layer names them, whatever their file does (convention.hpp), and lie in the layer's order:
// q [B,Hq,T,Dk], k [B,Hk,T,Dk], v [B,Hv,T,Dv], beta, alpha [B,h,T], lambda, w [B,h,T,Dk], state [B,H,rows,columns], do
// [B,H,T,Dv], dfinal_state as the state. H is the largest number of heads, and each of the others divides it: head i of H
// uses head i / (H / h). With cu_seqlens [N+1] B is 1 and steps [cu_i, cu_{i+1}) are a text of its own; there may be
// empty ones, and steps after the last; states are [N,H,rows,columns]. A_log, A, gamma [h] and dt_bias [h] or [h,Dk] are
// parameters of gates; gamma stands for an alpha that is the same at every step. Kernels of Mamba also take D [h] or [h,Dv],
// a skip term, and z [B,H,T,Dv], an output gate: o is (o + D v) silu(z).
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
  Sequence all; // every step, of every text; states [B or N,H,rows,columns]
  OutputWeights weights;
  Params params; // with the scale, where the layer has one of its own
  bool packed = false;
  std::vector<Text> texts;  // one of all steps, where nothing is packed
  std::vector<double> skip; // D [H,Dv]; empty: none
  std::vector<double> gate; // silu(z) [B,H,T,Dv]; empty: none. Weights of o are already multiplied by it
};

/// The layer's inputs. Input error where an array has an unsuitable shape. Weights are read where `gradient`.
LayerInputs to_layer(const UsersArrays &user, const Variant &variant, const Params &params,
                     const Convention &convention, bool gradient);
/// One text, which is not empty, with its initial state.
Sequence sequence_of(const LayerInputs &inputs, size_t text);
OutputWeights weights_of(const LayerInputs &inputs, size_t text);

/// What one text gives. Of an empty text: its initial state, and the gradient of its final one.
struct TextResults {
  Output output;
  Sequence gradient; // empty where none is asked for; of gates, in their logarithms where Convention::log_gates()
};
TextResults results_of_empty(const LayerInputs &inputs, const Variant &variant, size_t text);

/// o, final_state, and the gradients in each of the user's arrays, in the order of the arrays that were given: dq ...,
/// dA_log, dstate. Gradients at steps of no text are 0, as outputs are. Of small errors of the layer's results it gives
/// those of the user's where `errors`: terms that do not depend on the layer's results are left out.
UsersArrays to_user(const UsersArrays &user, const LayerInputs &inputs, const Convention &convention,
                    const std::vector<TextResults> &results, bool errors = false);

/// How many heads a sample's arrays share, its packed texts, and what it has beside the layer's inputs.
struct Sharing {
  int q_heads = 0, k_heads = 0, v_heads = 0; // 0: as many as the result has
  std::vector<int> cu_seqlens;               // empty: none
  bool skip = false, gate = false;           // with D, with z
};
/// Input error where results have other shapes than these inputs give.
void check_results(const UsersArrays &results, const UsersArrays &user, const LayerInputs &inputs,
                   const Variant &variant, const Convention &convention);

/// Arrays in this convention that mean these inputs, as far as it can say them: raw gates are at most 30 in size. The
/// states are [B or N,H,rows,columns]. Parameters of gates are drawn.
UsersArrays in_convention(const Sequence &inputs, const OutputWeights &weights, const StateShape &state,
                          const Convention &convention, const Sharing &sharing, std::uint64_t seed);

/// Whether the user's arrays are the layer's but for gates in logarithms.
bool same_arrays(const UsersArrays &user, const LayerInputs &inputs, const Convention &convention);

/// Arrays of the user that a convention changes before the layer sees them, other than in place and order.
std::vector<std::string> converted(const Convention &convention);
/// Whether the array is a parameter, of a gate or a skip term, which kernels hold in float32 whatever their type.
bool is_parameter(const std::string &name);

} // namespace recollect
