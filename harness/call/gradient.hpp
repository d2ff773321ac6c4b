// SPDX-License-Identifier: Apache-2.0
// Gradients of a layer by reverse-mode differentiation of its definition: the recurrent form runs on numbers that
// record their operations (taped.hpp).
#pragma once
#include "harness/call/forward.hpp"

namespace recollect {

/// Weights of the layer's outputs in the loss: `o` (do [B,H,T,Dv]) for the outputs, `state` (dstate [B,H,rows,columns])
/// for the final state. An empty `state` stands for zeros.
struct OutputWeights {
  std::vector<double> o, state;
};

/// Input error if the weights do not have the sizes of the layer's outputs.
void check_weights(const Variant &variant, const Sequence &sequence, const Params &params,
                   const OutputWeights &weights);

/// Whether gradient() is available. The tape needs kernels that run on the CPU.
bool takes_gradients();

/// Derivatives of the loss, sum(weights.o * o) + sum(weights.state * state), with respect to every input: q, k, v,
/// those of beta, alpha, lambda and w that are given, and the initial state (symmetrised, variant.hpp). If w is not
/// given, the layer uses the key as w, and the gradient of w is added to the gradient of the key. To save memory, a
/// layer with a state is differentiated in segments, from the last to the first. Each segment starts from a saved
/// state, and the tape holds the operations of one segment only. For a layer without a state it holds all operations.
/// Selections (such as the largest score) have derivative 0, and roundings have slope 1 (taped.hpp). Input error if the
/// weights do not match the outputs, if the tape does not fit --memory, or if kernels do not run on the CPU.
Sequence gradient(const Variant &variant, const Sequence &sequence, const Params &params, const OutputWeights &weights);

/// Converts derivatives with respect to alpha and lambda to derivatives with respect to their logarithms. `sequence`
/// has the values of alpha and lambda.
void in_logarithms(Sequence &gradient, const Sequence &sequence);

} // namespace recollect
