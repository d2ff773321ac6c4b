// SPDX-License-Identifier: Apache-2.0
// Gradients of normal_equations.hpp's layers. With x_t = (H_t + ridge I)^{-1} q_t and y_t = (H_t + ridge I)^{-1} B_t^T do_t,
// dq_t = y_t, and what weighs on the matrices is do_t x_t^T on B_t and -y_t x_t^T on H_t. Those are the gradients of a
// decayed sum, S = [B over H] with the values [v_i, k_i], read at x_t by outputs that weigh [do_t, -y_t]: no solution is
// differentiated. The definition reads the upper triangle of H alone, this gradient is as if all of H were read; of a
// symmetric matrix that is the same (Variant::symmetric). prefix_regression.hpp computes the solutions; B_t^T do_t
// is the read at do_t of the sum of k_i v_i^T.
#pragma once
#include "variants/kernels/regression/normal_equations.hpp"

namespace recollect::variants {

/// Gradients of normal_equations_chunked(back.call). `weight` weights the pairs unless it is empty; its gradient is
/// written to d_weight.
template <class Real>
void normal_equations_vjp(const std::string &label, const BackwardCall<Real> &back, bool decays,
                          const Array<Real> &weight = {}, const Array<Real> &d_weight = {},
                          const Array<Real> &weighed_keys = {});

} // namespace recollect::variants
