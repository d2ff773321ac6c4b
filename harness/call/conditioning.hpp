// SPDX-License-Identifier: Apache-2.0
// How much two forms of one variant may differ because of rounding.
//
// Example: a form solves a system with the matrix I + A for U. Rounding changes A by dA, of relative size eps, and so
// changes U by up to |(I + A)^{-1}| |dA| |U| (000 Eq 51). For any variant, the sensitivity is measured in float64, as
// the response of the outputs o of the definition to relative perturbations of size delta of the inputs x,
//   kappa = |o(x (1 + delta r)) - o(x)| / (delta |o(x)|),   r random signs.
// The largest kappa over several draws of r counts. A form that is backward stable and accumulates n terms then errs by
// at most about n eps kappa, in units of the largest |o|.
//
// Some layers solve a system whose matrix is made from the inputs, such as a Gram matrix. Rounding changes each element
// of this matrix separately, which no perturbation of the inputs does. The response of the outputs to separate changes
// of the elements is therefore added to kappa (Variant::solved_condition).
#pragma once
#include "harness/call/forward.hpp"
#include "harness/numerics/linalg.hpp"

namespace recollect {

struct Deviation {
  double outputs = 0, state = 0; // max |difference| / max |reference| over the array, 0 where both are empty
  double largest() const { return outputs > state || outputs != outputs ? outputs : state; }
};
Deviation deviation(const Output &measured, const Output &reference);

/// A copy in which every number x becomes x (1 + delta) or x (1 - delta); `draw` selects the random signs. Decays stay
/// within [0,1].
Sequence perturbed(const Sequence &sequence, double delta, int draw);

/// kappa as above, at least 1, plus the variant's solved_condition. Takes draws + 1 recurrent passes in float64.
double input_condition(const Variant &variant, const Sequence &sequence, const Params &params, int draws = 4);

/// The n of the bound above, T + Dk + chunk: sums run over T steps, Dk channels and the steps of a chunk.
double accumulated_terms(const Shape &shape, int chunk);

} // namespace recollect
