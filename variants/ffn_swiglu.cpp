// SPDX-License-Identifier: Apache-2.0
// The SwiGLU network as an associative memory with a gate per key (000 Eq 28-29, where W_U of Eq 28 is W_K).
//
//   o_t = W_V^T ((W_G q_t) * silu(W_K q_t)) = sum_i v_i (w_i . q_t) silu(k_i . q_t)   over all T rows i
//
// The rows of w are the rows of W_G. Not causal: k, v and w are weights, not context. There is no other state. Cost per
// token: 2 T (2 Dk + Dv) flops, T exponentials.
#include "variants/kernels/attention/persistent.hpp"
#include "variants/kernels/common/elementwise.hpp"

namespace recollect::variants {
namespace {

template <class Real> struct Swiglu {
  static constexpr bool costly = true; // see attention_cuda.hpp
  int T, width;
  Array<Real> q, w;
  KOKKOS_FUNCTION static constexpr bool normalised() { return false; }
  KOKKOS_FUNCTION Real operator()(size_t head, int t, int i, Real z) const { return other(head, t, i) * math::silu(z); }
  KOKKOS_FUNCTION Real slope(size_t head, int t, int i, Real z, Real) const {
    return other(head, t, i) * silu_slope(z);
  }
  KOKKOS_FUNCTION Real other(size_t head, int t, int i) const {
    return dot(w.data() + (head * T + i) * width, q.data() + (head * T + t) * width, width);
  }
};
/// The same kernel as a function of z = w_i . q_t; `keys` computes k_i . q_t.
template <class Real> struct Gate {
  static constexpr bool costly = true;
  Swiglu<Real> keys;
  KOKKOS_FUNCTION static constexpr bool normalised() { return false; }
  KOKKOS_FUNCTION Real operator()(size_t head, int t, int i, Real z) const {
    return z * math::silu(keys.other(head, t, i));
  }
  KOKKOS_FUNCTION Real slope(size_t head, int t, int i, Real, Real) const { return math::silu(keys.other(head, t, i)); }
};
template <class Real> Swiglu<Real> kernel(const Call<Real> &call) {
  return {call.shape.T, call.shape.Dk, call.q, call.w};
}
template <class Real> void recurrent(const Call<Real> &call) {
  attend_one_by_one("ffn_swiglu::recurrent", call, kernel(call), CausalMask::everything);
}
template <class Real> void parallel(const Call<Real> &call) {
  attend("ffn_swiglu::parallel", call, kernel(call), CausalMask::everything);
}

template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  attend_vjp("ffn_swiglu::backward", back, kernel(call), CausalMask::everything);
  BackwardCall<Real> gate = back;
  gate.call.k = call.w, gate.d.k = back.d.w;
  // gate.d.v is scratch, because back.d.v is already complete.
  gate.d.q = allocate(call, call.q.extent(0)), gate.d.v = allocate(call, call.v.extent(0));
  attend_vjp("ffn_swiglu::gate", gate, Gate<Real>{{call.shape.T, call.shape.Dk, call.q, call.k}},
             CausalMask::everything);
  add(gate.d.q, back.d.q);
}

} // namespace

Variant ffn_swiglu() {
  Variant v = persistent_variant();
  v.update = "$o_t = sum_i (w_i . q_t) silu(k_i . q_t) v_i$ over all rows";
  v.source = "000 Eq 28-29; Shazeer 2020 (arXiv:2002.05202)";
  v.cost = {2 * cost::T * (2 * cost::Dk + cost::Dv), cost::T};
  v.inputs = {{"w", true, "rows of the gate $W_G$"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("parallel", parallel<float>, parallel<double>).backward(backward<float>, backward<double>)};
  return v;
}

} // namespace recollect::variants
