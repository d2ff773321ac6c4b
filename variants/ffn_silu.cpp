// SPDX-License-Identifier: Apache-2.0
// The two-layer SiLU network as an associative memory (000 Table 1, Eq 14 with another activation).
//
//   o_t = W_V^T silu(W_K q_t) = sum_i v_i silu(k_i . q_t)   over all T rows i,   silu(z) = z / (1 + exp(-z))
//
// Not causal: k and v are weights, not context. There is no other state. Cost per token: 2 T (Dk + Dv) flops, T
// exponentials.
#include "variants/kernels/attention/persistent.hpp"

namespace recollect::variants {
namespace {

template <class Real> struct Silu {
  KOKKOS_FUNCTION static constexpr bool normalised() { return false; }
  KOKKOS_FUNCTION Real operator()(size_t, int, int, Real z) const { return math::silu(z); }
  KOKKOS_FUNCTION Real slope(size_t, int, int, Real z, Real) const { return silu_slope(z); }
};
template <class Real> void recurrent(const Call<Real> &call) {
  attend_one_by_one("ffn_silu::recurrent", call, Silu<Real>{}, CausalMask::everything);
}
template <class Real> void parallel(const Call<Real> &call) {
  attend("ffn_silu::parallel", call, Silu<Real>{}, CausalMask::everything);
}

template <class Real> void backward(const BackwardCall<Real> &back) {
  attend_vjp("ffn_silu::backward", back, Silu<Real>{}, CausalMask::everything);
}

} // namespace

Variant ffn_silu() {
  Variant v = persistent_variant();
  v.cost = {2 * cost::T * (cost::Dk + cost::Dv), cost::T};
  v.update = "$o_t = sum_i silu(k_i . q_t) v_i$ over all rows";
  v.source = "000 Table 1, Eq 14";
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("parallel", parallel<float>, parallel<double>).backward(backward<float>, backward<double>)};
  return v;
}

} // namespace recollect::variants
