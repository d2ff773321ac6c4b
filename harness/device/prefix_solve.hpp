// SPDX-License-Identifier: Apache-2.0
// Computes x_t = (H_t + ridge I)^{-1} q_t at each of n steps, where H_t = alpha_t H_{t-1} + k_t k_t^T. Every step has a
// factorisation of its own.
#pragma once
#include <cstddef>

namespace recollect::tile::host {

/// Number of reals of scratch (`work`) for F channels.
template <class Real> size_t prefix_work(int F);
/// k, q and x are [n,F]; ldk, ldq and ldx are the distances of their rows. If alpha is null, every alpha_t is 1. On
/// entry the lower triangle of H [F,F] is that of H_t before the first step, on return that of the last step.
template <class Real>
void solve_prefixes(int n, int F, Real ridge, const Real *alpha, const Real *k, std::ptrdiff_t ldk, const Real *q,
                    std::ptrdiff_t ldq, Real *H, Real *x, std::ptrdiff_t ldx, Real *work);

} // namespace recollect::tile::host
