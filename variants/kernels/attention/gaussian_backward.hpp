// SPDX-License-Identifier: Apache-2.0
// Gradients of the exact Gaussian kernel. With dz_ti = 2 p_ti dp_ti / bandwidth they have terms from inner products
// and from both lengths:
//
//   dq_t = sum_i dz_ti k_i - (sum_i dz_ti) q_t,   dk_i = sum_t dz_ti q_t - (sum_t dz_ti) k_i
//
// Two extra channels, [1, 0] in queries and [0, 1] in keys, do not change the products and accumulate the two sums.
#pragma once
#include "variants/kernels/attention/gaussian.hpp"

namespace recollect::variants {

/// Gradients of gaussian_parallel(back.call).
template <class Real> void gaussian_vjp(const std::string &label, const BackwardCall<Real> &back);

} // namespace recollect::variants
