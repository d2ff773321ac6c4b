// SPDX-License-Identifier: Apache-2.0
// Converts a user's arrays to a layer's inputs, and the layer's results back to the user's convention. The conversion
// covers grouped heads, packed texts, scales, norms and gates. Gradients are converted by the chain rule.
//
// In this file, arrays have the layer's names and the layer's order of axes; convention.hpp maps a user's names and
// axes to them. h is the number of heads of an array, which may differ between arrays:
//   q, k [B,h,T,Dk], v [B,h,T,Dv], beta, alpha [B,h,T], lambda, w [B,h,T,Dk], state [B,H,rows,columns], do [B,H,T,Dv];
//   dfinal_state has the shape of the state.
// H is the largest h, and every h divides it. Head i of H uses head i / (H / h), or i % h if the convention interleaves
// heads. With cu_seqlens [N+1], B is 1, steps [cu_i, cu_{i+1}) are text i, and states are [N,H,rows,columns]. Texts may
// be empty, and steps may follow the last text. A_log, A, gamma [h] and dt_bias [h] or [h,Dk] are parameters of gates;
// gamma is an alpha that is the same at every step. Kernels of Mamba also take a skip term D [h] or [h,Dv] and an
// output gate z [B,H,T,Dv]: their output is (o + D v) silu(z).
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
  Sequence all;      // all steps of all texts; q and k [B,key_heads,T,Dk], states [B or N,H,rows,columns]
  int key_heads = 0; // number of heads of q and k; head i of H uses head i / (H / key_heads). 0: H heads
  OutputWeights weights;
  Params params; // includes the scale if the layer has a parameter `scale`
  bool packed = false;
  std::vector<Text> texts;  // if not packed: one text that contains all steps
  std::vector<double> skip; // D [H,Dv]; empty: none
  std::vector<double> gate; // silu(z) [B,H,T,Dv]; empty: none. weights.o is already multiplied by this gate

  /// The shape [B,heads,T] of a tensor in `all`.
  Shape shape_of(Tensor tensor) const {
    Shape shape = all.shape;
    if (key_heads && (tensor == Tensor::q || tensor == Tensor::k)) shape.H = key_heads;
    return shape;
  }
  bool grouped() const { return key_heads && key_heads != all.shape.H; }
};

/// Converts a user's arrays to a layer's inputs and, with `gradient`, also the output weights (do, dfinal_state). Input
/// error if an array has an unsuitable shape.
LayerInputs to_layer(const UsersArrays &user, const Variant &variant, const Params &params,
                     const Convention &convention, bool gradient);

/// Results of one text. Gradients of q and k may have key_heads or H heads. An empty text ends in its initial state, so
/// the gradients of its initial and final state are equal.
struct TextResults {
  Output output;
  Sequence gradient; // empty if not asked for; if Convention::log_gates(), with respect to the logarithms of decays
};

/// Converts results of the layer to the user's convention: o, final_state, and the gradients of the user's arrays (dq
/// ..., dA_log, dstate). Outputs and gradients at steps outside every text are 0. With `errors`, `results` holds
/// rounding errors of o and of gradients; terms that do not depend on these, such as D v, are then left out.
UsersArrays to_user(const UsersArrays &user, const LayerInputs &inputs, const Convention &convention,
                    const std::vector<TextResults> &results, bool errors = false);

/// Input error if the shapes of `results` do not match these inputs.
void check_results(const UsersArrays &results, const UsersArrays &user, const LayerInputs &inputs,
                   const Variant &variant, const Convention &convention);

/// Whether the user's arrays equal the layer's arrays, except that the user's decays may be logarithms.
bool same_arrays(const UsersArrays &user, const LayerInputs &inputs, const Convention &convention);

/// Names of the arrays whose values a convention changes before the layer uses them. A change of layout alone does not
/// count.
std::vector<std::string> converted(const Convention &convention);
/// Whether the array is a parameter of a gate or of the skip term. Kernels store these in float32, even if their other
/// arrays are 16-bit.
bool is_parameter(const std::string &name);

} // namespace recollect
