// SPDX-License-Identifier: Apache-2.0
// Gradients of a layer, through its definition: the recurrent form runs on numbers that remember how they came about
// (taped.hpp), and is gone through backwards.
#pragma once
#include "harness/call/forward.hpp"

namespace recollect {

/// What the layer's outputs weigh: do [B,H,T,Dv], and dstate [B,H,rows,columns], the final state's; empty: zeros.
struct OutputWeights {
  std::vector<double> o, state;
};

/// Input error where they do not match the layer's outputs.
void check_weights(const Variant &variant, const Sequence &sequence, const Params &params,
                   const OutputWeights &weights);

/// Whether there are any: only where kernels run on the host.
bool takes_gradients();

/// Derivatives of sum(weights.o * o) + sum(weights.state * state) in every input: q, k, v, those of beta, alpha, lambda
/// and w that the sequence gives (a w that is not given is the key, and counts there), and the initial state, of a layer
/// that has one, symmetrised (variant.hpp). A layer with a state goes through the sequence in segments, last to first,
/// from the states at their starts, so that memory grows with the states and one segment's operations; one without keeps
/// every operation. Selections (the largest score, a rounding) count as they fell: they have no slope.
/// Input error where the weights do not match the outputs, where the operations do not fit --memory, or where kernels do
/// not run on the host.
Sequence gradient(const Variant &variant, const Sequence &sequence, const Params &params, const OutputWeights &weights);

/// Derivatives in alpha and lambda, at `sequence`, as those in their logarithms.
void in_logarithms(Sequence &gradient, const Sequence &sequence);

} // namespace recollect
