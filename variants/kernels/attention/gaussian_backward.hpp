// SPDX-License-Identifier: Apache-2.0
// Gradients of the exact Gaussian kernel. With dz_ti = 2 p_ti dp_ti / bandwidth, the inner product and the two squared
// lengths contribute:
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
