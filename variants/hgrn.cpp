// SPDX-License-Identifier: Apache-2.0
// HGRN (Qin et al. 2023, arXiv:2311.04823), the gated element-wise recurrence, without its fixed phases: one
// number of state a value channel. In its names: v is the input c, q the output gate g.
//
//   h_t = f_t * h_{t-1} + (1 - f_t) * v_t,   f_t = lower + (1 - lower) lambda_t sigmoid(-k_t)
//   o_t = q_t * h_t
//
// All products are element-wise; value channel i takes its gates from key channel i mod Dk (the paper has Dk = Dv). k
// is the pre-activation of the write; k far below 0 leaves f = lambda. State: Dv x 1. Cost a token: 4 Dv + 16 Dk flops.
#include "variants/kernels/forget_gate.hpp"
#include "variants/kernels/rows.hpp"
#include "variants/kernels/scan.hpp"

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
  ForgetGates<Real> f;
  KOKKOS_FUNCTION size_t at(const Head<Real> &h, int t, int i) const { return (h.index * h.T + t) * h.Dk + i % h.Dk; }
  KOKKOS_FUNCTION Real decay(const Head<Real> &h, int t, int i, int) const { return f.keep(at(h, t, i)); }
  KOKKOS_FUNCTION Real write(const Head<Real> &h, int t, int i, int) const { return f.write(at(h, t, i)) * h.v(t)[i]; }
  KOKKOS_FUNCTION Real read(const Head<Real> &h, int t, int i, int) const { return h.q(t)[i % h.Dk]; }
};

template <class Real> void chunked(const Call<Real> &call) {
  chunked_scan("hgrn::chunked", call, Rule<Real>{forget_gates(call)});
}

} // namespace

Variant hgrn() {
  Variant v;
  v.family = "gated";
  v.update = "h_t = f_t * h_{t-1} + (1 - f_t) * v_t, o_t = q_t * h_t, element-wise";
  v.source = "Qin et al. 2023 (arXiv:2311.04823), without phases; 003 Eq 16";
  v.cost = {4 * cost::Dv + 16 * cost::Dk, 3 * cost::Dk};
  v.params = forget_gate_params();
  v.inputs = forget_gate_inputs();
  v.forms = {definition([](const auto &call) { recurrent(call); }), {"chunked", chunked<float>, chunked<double>}};
  v.layout = "S [Dv,1]";
  v.state_shape = [](const Shape &s, const Params &) { return StateShape{s.Dv, 1}; };
  return v;
}

} // namespace recollect::variants
