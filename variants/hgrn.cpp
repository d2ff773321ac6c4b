// SPDX-License-Identifier: Apache-2.0
// HGRN (Qin et al. 2023, arXiv:2311.04823), the gated element-wise recurrence, without its fixed phases. The state has
// one number per value channel. In the paper's names, v is the input c, and q the output gate g.
//
//   h_t = f_t * h_{t-1} + (1 - f_t) * v_t,   f_t = lower + (1 - lower) lambda_t sigmoid(-k_t)
//   o_t = q_t * h_t
//
// All products are element-wise; value channel i takes its gates from key channel i mod Dk (the paper has Dk = Dv). The
// key k is the pre-activation of the write; for k far below 0, f = lower + (1 - lower) lambda. The parameter `lower` is
// the lower bound of f. State: Dv x 1. Cost per token: 4 Dv + 16 Dk flops.
#include "variants/kernels/common/forget_gate.hpp"
#include "variants/kernels/common/rows.hpp"
#include "variants/kernels/scan/scan.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const ForgetGates<Real> f = forget_gates(call);
  recurrent_rows(
      "hgrn::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const int j = i % h.Dk;
        const size_t at = (h.index * h.T + t) * h.Dk + j;
        *s = f.keep(at) * *s + f.write(at) * h.v(t)[i];
        return h.q(t)[j] * *s;
      });
}

template <class Real> struct Rule {
  struct Row { // step t of value channel i
    const ForgetGates<Real> &f;
    const Head<Real> &h;
    int t, i;
    KOKKOS_FUNCTION size_t gate() const { return (h.index * h.T + t) * h.Dk + i % h.Dk; }
    KOKKOS_FUNCTION Real decay(int) const { return f.keep(gate()); }
    KOKKOS_FUNCTION Real write(int) const { return f.write(gate()) * h.v(t)[i]; }
    KOKKOS_FUNCTION Real read(int) const { return h.q(t)[i % h.Dk]; }
  };
  ForgetGates<Real> f;
  KOKKOS_FUNCTION Row at(const Head<Real> &h, int t, int i) const { return {f, h, t, i}; }
};

template <class Real> void chunked(const Call<Real> &call) {
  chunked_scan("hgrn::chunked", call, Rule<Real>{forget_gates(call)});
}

/// All value channels of one head that share key channel j. A forward pass saves the states; a backward pass follows.
template <class Real> struct ChannelsBack {
  HeadArrays<Real> arrays;
  ForgetGates<Real> f, d;
  Array<Real> held, d_o, d_q, d_v, d_state; // held: the states [B,H,T,Dv]
  KOKKOS_FUNCTION void operator()(size_t unit) const {
    const int D = arrays.Dk, V = arrays.Dv, T = arrays.T, j = int(unit % D);
    const Head<Real> h = arrays.head(unit / D);
    const size_t first = h.index * T;
    for (int t = 0; t < T; ++t) {
      const size_t at = (first + t) * D + j;
      d.keep(at) = d.write(at) = d_q(at) = 0;
    }
    for (int i = j; i < V; i += D) {
      Real s = h.state[i], slope = d_state(h.index * V + i);
      for (int t = 0; t < T; ++t) {
        const size_t at = (first + t) * D + j;
        s = f.keep(at) * s + f.write(at) * h.v(t)[i];
        held((first + t) * V + i) = s;
      }
      for (int t = T - 1; t >= 0; --t) {
        const size_t at = (first + t) * D + j, own = (first + t) * V + i;
        d_q(at) += d_o(own) * held(own);
        slope += d_o(own) * h.q(t)[j];
        d.keep(at) += slope * (t > 0 ? held(own - V) : h.state[i]);
        d.write(at) += slope * h.v(t)[i];
        d_v(own) = slope * f.write(at);
        slope *= f.keep(at);
      }
      d_state(h.index * V + i) = slope;
    }
  }
};
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const size_t n = call.k.extent(0);
  const ForgetGates<Real> d{allocate(call, n), allocate(call, n)};
  parallel_loop("hgrn::backward", call.shape.heads() * call.shape.Dk,
                ChannelsBack<Real>{HeadArrays<Real>(call), forget_gates(call), d, allocate(call, call.v.extent(0)),
                                   back.d.o, back.d.q, back.d.v, back.d.state});
  forget_gates_vjp(back, d);
}

} // namespace

Variant hgrn() {
  Variant v;
  v.family = "gated";
  v.update = "$h_t = f_t * h_{t-1} + (1 - f_t) * v_t$, $o_t = q_t * h_t$, element-wise";
  v.source = "Qin et al. 2023 (arXiv:2311.04823), without phases; 003 Eq 16";
  v.cost = {4 * cost::Dv + 16 * cost::Dk, 3 * cost::Dk};
  v.params = forget_gate_params();
  v.inputs = forget_gate_inputs();
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>).backward(backward<float>, backward<double>)};
  v.layout = "S [Dv,1]";
  v.state_shape = [](const Shape &s, const Params &) { return StateShape{s.Dv, 1}; };
  return v;
}

} // namespace recollect::variants
