// SPDX-License-Identifier: Apache-2.0
// HGRN (Qin et al. 2023, arXiv:2311.04823, Eq 2-6), the gated element-wise recurrence, without its fixed phases: one
// number of state a value channel. In its names: v is the input c, q the output gate g.
//
//   h_t = f_t * h_{t-1} + (1 - f_t) * v_t,   f_t = lower + (1 - lower) lambda_t sigmoid(-k_t)
//   o_t = q_t * h_t
//
// All products are element-wise; value channel i takes its gates from key channel i mod Dk (the paper has Dk = Dv). k
// is the pre-activation of the write; k far below 0 leaves f = lambda. State: Dv x 1. Cost a token: 4 Dv flops.
#include "forget_gate.hpp"
#include "rows.hpp"
#include "scan.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const ForgetGate<Real> gate(call);
  recurrent_rows(
      "hgrn::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const int j = i % h.Dk;
        *s = gate.keep(h, t, j) * *s + gate.write(h, t, j) * h.v(t)[i];
        return h.q(t)[j] * *s;
      });
}

template <class Real> struct Rule {
  ForgetGate<Real> gate;
  KOKKOS_FUNCTION Real decay(const Head<Real> &h, int t, int i, int) const { return gate.keep(h, t, i % h.Dk); }
  KOKKOS_FUNCTION Real write(const Head<Real> &h, int t, int i, int) const {
    return gate.write(h, t, i % h.Dk) * h.v(t)[i];
  }
  KOKKOS_FUNCTION Real read(const Head<Real> &h, int t, int i, int) const { return h.q(t)[i % h.Dk]; }
};

template <class Real> void chunked(const Call<Real> &call) {
  chunked_scan("hgrn::chunked", call, Rule<Real>{ForgetGate<Real>(call)});
}

} // namespace

Variant hgrn() {
  Variant v;
  v.family = "gated";
  v.update = "h_t = f_t * h_{t-1} + (1 - f_t) * v_t, o_t = q_t * h_t, element-wise";
  v.source = "Qin et al. 2023 (arXiv:2311.04823) Eq 2-6, without phases; 003 Eq 16";
  v.cost = "4 Dv flops";
  v.params = forget_gate_params();
  v.inputs = forget_gate_inputs();
  v.forms = {{"recurrent", recurrent<float>, recurrent<double>}, {"chunked", chunked<float>, chunked<double>}};
  v.state_shape = [](const Shape &s, const Params &) { return StateShape{s.Dv, 1}; };
  return v;
}

} // namespace recollect::variants
