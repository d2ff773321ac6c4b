// SPDX-License-Identifier: Apache-2.0
// How much two forms of one variant may differ because of rounding.
//
// Let a form solve a system with the matrix I + A for U. Rounding changes A by dA, a relative error of about eps, and
// so changes U by up to |(I + A)^{-1}| |dA| |U| (000 Eq 51). For any variant, this sensitivity is measured as the
// response of the outputs o of its definition to relative perturbations of size delta of the inputs x:
//   kappa = |o(x (1 + delta r)) - o(x)| / (delta |o(x)|),   r random signs,
// in float64, the largest over several draws of r. A form that is backward stable over n accumulated terms then errs by
// at most about n eps kappa, in units of the largest |o|.
//
// If a layer solves with a matrix made from its inputs, such as a Gram matrix, rounding changes each element of this
// matrix separately. A change of the inputs cannot do that, so the response to separate changes of the elements is
// added (Variant::solved_condition).
#pragma once
#include "harness/call/forward.hpp"
#include "harness/numerics/linalg.hpp"

namespace recollect {

struct Deviation {
  double outputs = 0, state = 0; // max |difference| / max |reference| over the array, 0 where both are empty
  double largest() const { return outputs > state || outputs != outputs ? outputs : state; }
};
Deviation deviation(const Output &measured, const Output &reference);

/// A copy in which every number is increased or decreased by the fraction `delta`; `draw` selects the random signs.
/// Decays stay within [0,1].
Sequence perturbed(const Sequence &sequence, double delta, int draw);

/// kappa as above, at least 1, plus the variant's solved_condition. Costs `draws` recurrent passes in float64.
double input_condition(const Variant &variant, const Sequence &sequence, const Params &params, int draws = 4);

/// The n of the bound above, T + Dk + chunk: sums run over T steps, Dk channels and the steps of a chunk.
double accumulated_terms(const Shape &shape, int chunk);

} // namespace recollect
