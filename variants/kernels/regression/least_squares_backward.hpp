// SPDX-License-Identifier: Apache-2.0
// Gradients of least_squares.hpp's recursion, computed for blocks of n steps. Within a block, steps are 1 ... n, D_t is
// the product of the alphas of steps 1 ... t (D_0 = 1), and Q_t = D_t P_t:
//
//   z_t = Q_{t-1} k_t,  d_t = D_t + k_t . z_t,  g_t = z_t / d_t,  Q_t = Q_{t-1} - z_t z_t^T / d_t
//   e_t = v_t - S_{t-1} k_t,  S_t = S_{t-1} + e_t g_t^T,  o_t = S_t q_t,  L_ti = k_t . g_i
//
// Rows of dO, dE and G are do_t, de_t and g_t. The gradients from dO, dS_n and dQ_n = dP_n / D_n are
//
//   (I + L)^T dE = G dS_n^T + A^T dO                            A_ti = q_t . g_i, i <= t;  dv_t = de_t
//   dg_t = dS_n^T e_t + sum_{s>=t} (do_s . e_t) q_s - sum_{s>t} (de_s . e_t) k_s
//   dz_t = (dg_t - (dQ_n + dQ_n^T) z_t) / d_t - sum_{s>t} (L_st dz_s + N_st k_s) + dd_t k_t,   N_st = dz_s . g_t
//   dd_t = (z_t . dQ_n z_t - dg_t . z_t) / d_t^2 + sum_{s>t} L_st N_st,   dD_t = dd_t
//   dq_t = S_0^T do_t + sum_{i<=t} (do_t . e_i) g_i
//   dk_t = Q_0 dz_t - sum_{i<t} N_ti z_i + dd_t z_t - S_0^T de_t - sum_{i<t} (de_t . e_i) g_i
//   dS_0 = dS_n + sum_t do_t q_t^T - de_t k_t^T,   dQ_0 = dQ_n + sum_t dz_t k_t^T
//
// Q is symmetric, so only dQ + dQ^T is passed from block to block (Variant::symmetric). The antisymmetric part of dQ
// has no effect. If it were passed on, it would grow by 1 / alpha per step, until rounding left no correct digits in dQ
// + dQ^T.
#pragma once
#include "variants/kernels/regression/least_squares.hpp"

namespace recollect::variants {

/// Gradients of least_squares_chunked(back.call): writes the arrays q, k, v, state and, if `forgets`, alpha of back.d.
template <class Real> void least_squares_vjp(const std::string &label, const BackwardCall<Real> &back, bool forgets);

} // namespace recollect::variants
