// SPDX-License-Identifier: Apache-2.0
// Gradients of normal_equations.hpp's layers. With x_t = (H_t + ridge I)^{-1} q_t and y_t = (H_t + ridge I)^{-1} B_t^T
// do_t, dq_t is y_t. The gradients of the matrices are do_t x_t^T for B_t and -y_t x_t^T for H_t. These are also the
// gradients of a decayed sum S = [B over H] with values [v_i, k_i], queries x_t and output gradients [do_t, -y_t]. So
// the solver need not be differentiated. The definition reads only the upper triangle of H, but this gradient is with
// respect to all elements of H; for a symmetric H both gradients have the same effect (Variant::symmetric).
// prefix_regression.hpp computes the solutions; B_t^T do_t is the output of the sum of k_i v_i^T for the query do_t.
#pragma once
#include "variants/kernels/regression/normal_equations.hpp"

namespace recollect::variants {

/// Gradients of normal_equations_chunked(back.call). If `weight` is not empty, it weights the pairs, its gradient is
/// written to d_weight, and weighed_keys must be the keys times sqrt(weight).
template <class Real>
void normal_equations_vjp(const std::string &label, const BackwardCall<Real> &back, bool decays,
                          const Array<Real> &weight = {}, const Array<Real> &d_weight = {},
                          const Array<Real> &weighed_keys = {});

} // namespace recollect::variants
