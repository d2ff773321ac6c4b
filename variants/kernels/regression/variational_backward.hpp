// SPDX-License-Identifier: Apache-2.0
// Gradients of variational.hpp's rule. S follows a delta rule with erase key x_t and write direction a_t;
// delta_rule_backward.hpp computes dx_t, da_t and dp_t of this part. Let p_t = phi(q_t), f_t = phi(k_t), c_t =
// sum_{i<=t} f_i, b_t = A_t x_t, a_t = b_t / |b_t| (normalised form), n_t = max(p_t . c_t, 1e-4) and o_t = S_t p_t /
// n_t. Then
//
//   db = (da - (a . da) a) / |b|,   dn = - (dp . p) / n,   dp += dn c,   dc_i = sum_{t>=i} dn_t p_t
//   df = (dx - (x . dx) x) / |f| + dc,   dw from du in the same way, through u = u_norm w / |w|
//
// Between refreshes A_t is the inverse of H_t = H_0 + sum_{i<=t} u_i u_i^T, so that the gradients of A_t follow without
// the adjoint of the recursion. A block has n steps and starts from A_0: A_t = A_0 - sum_{i<=t} z_i z_i^T / d_i. Let dA
// be the gradient of A_n, y_t = A_t db_t, and (I + L) hu = u with the block's L (regression.hpp), which means hu_i =
// H_0 z_i. Then
//
//   H_0 A_t v = v - sum_{i<=t} (v . z_i / d_i) hu_i =: M_t v,   hb_t = M_t x_t,   hy_t = M_t db_t
//   b = A_0 hb,  y = A_0 hy
//   dx_t += y_t
//   du_t = - sum_{s>=t} [(b_s . u_t) y_s + (y_s . u_t) b_s] - A_n (dA + dA^T) A_n u_t
//   dA_0 = M_n dA M_n^T + sum_s hy_s hb_s^T
//
// where dA is symmetric, because A is (Variant::symmetric). A is saved at the starts of chunks and recomputed at the
// starts of their blocks.
#pragma once
#include "variants/kernels/regression/variational.hpp"

namespace recollect::variants {

/// Gradients of variational_chunked(back.call).
template <class Real>
void variational_backward(const std::string &label, const BackwardCall<Real> &back, bool normalised);

} // namespace recollect::variants
