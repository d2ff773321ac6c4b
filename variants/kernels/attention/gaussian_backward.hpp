// SPDX-License-Identifier: Apache-2.0
// Gradients of the exact Gaussian kernel. Let p_ti be the kernel's value, dp_ti = do_t . v_i and dz_ti = 2 p_ti dp_ti /
// bandwidth. The terms q_t . k_i, |q_t|^2 and |k_i|^2 of the exponent contribute:
//
//   dq_t = sum_i dz_ti k_i - (sum_i dz_ti) q_t,   dk_i = sum_t dz_ti q_t - (sum_t dz_ti) k_i
//
// Queries get two extra channels [1, 0], and keys get [0, 1]. These channels do not change q_t . k_i, and their
// gradients are the two sums of dz.
#pragma once
#include "variants/kernels/attention/gaussian.hpp"

namespace recollect::variants {

/// Gradients of gaussian_parallel(back.call).
template <class Real> void gaussian_vjp(const std::string &label, const BackwardCall<Real> &back);

} // namespace recollect::variants
