// SPDX-License-Identifier: Apache-2.0
// Gradients of a layer by reverse-mode differentiation of its definition: the recurrent form runs on numbers that
// record their operations (taped.hpp).
#pragma once
#include "harness/call/forward.hpp"

namespace recollect {

/// Weights of the layer's outputs in the loss: do [B,H,T,Dv], and dstate [B,H,rows,columns] for the final state. An
/// empty array stands for zeros.
struct OutputWeights {
  std::vector<double> o, state;
};

/// Input error if the weights do not have the sizes of the layer's outputs.
void check_weights(const Variant &variant, const Sequence &sequence, const Params &params,
                   const OutputWeights &weights);

/// Whether gradients can be recorded: only where kernels run on the CPU.
bool takes_gradients();

/// Derivatives of sum(weights.o * o) + sum(weights.state * state) with respect to every input: q, k, v, each of beta,
/// alpha, lambda and w that is given, and a layer's initial state, symmetrised (variant.hpp). If w is not given, the
/// layer uses the key as w, and the gradient of w is added to the gradient of the key. To save memory, a layer with a
/// state is differentiated in segments, from the last to the first. Each segment starts from a saved state, and only
/// its own operations are recorded. A layer without a state records every operation. Selections (such as the largest
/// score) have derivative 0; roundings have slope 1 (taped.hpp). Input error if the weights do not match the outputs,
/// if the operations do not fit --memory, or if kernels do not run on the CPU.
Sequence gradient(const Variant &variant, const Sequence &sequence, const Params &params, const OutputWeights &weights);

/// Converts derivatives with respect to alpha and lambda, at `sequence`, to derivatives with respect to their
/// logarithms.
void in_logarithms(Sequence &gradient, const Sequence &sequence);

} // namespace recollect
