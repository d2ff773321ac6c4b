// SPDX-License-Identifier: Apache-2.0
// x_t = (H_t + ridge I)^{-1} q_t at every one of n steps, H_t = alpha_t H_{t-1} + k_t k_t^T: one factorisation per
// step.
#pragma once
#include <cstddef>

namespace recollect::tile::host {

/// Reals of scratch for F channels.
template <class Real> size_t prefix_work(int F);
/// k, q and x are [n,F] with rows ldk, ldq, ldx apart; without alpha, alpha is 1. Reads the lower triangle of H [F,F]
/// and advances it to the last step.
template <class Real>
void solve_prefixes(int n, int F, Real ridge, const Real *alpha, const Real *k, std::ptrdiff_t ldk, const Real *q,
                    std::ptrdiff_t ldq, Real *H, Real *x, std::ptrdiff_t ldx, Real *work);

} // namespace recollect::tile::host
