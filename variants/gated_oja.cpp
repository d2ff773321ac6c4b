// SPDX-License-Identifier: Apache-2.0
// The gated Oja rule: each value channel decays by its own factor, and the error is k_t minus what the memory returns
// for the value (fla/ops/gated_oja_rule and tests/ops/test_oja.py of fla-org/flash-linear-attention, which also
// normalises values).
//
//   S'_t = diag(lambda_t) S_{t-1},   u_t = v_t / |v_t|
//   S_t  = S'_t + beta_t u_t (k_t - (S'_t)^T u_t)^T
//   o_t  = S_t q_t
//
// It writes like kda with keys and values exchanged. Value channel i decays by lambda_t[i mod Dk]. State: Dv x Dk. Cost
// per token: recurrent 7 Dv Dk flops; chunked as kda, plus the backward pass of a decayed sum (exchanged_roles.hpp).
#include "variants/kernels/chunked/exchanged_roles.hpp"
#include "variants/kernels/common/unit_rows.hpp"

namespace recollect::variants {
namespace {

template <class Real> void recurrent(const Call<Real> &call) {
  const Array<Real> unit = unit_rows(call, call.v, call.shape.Dv).rows;
  each_head(
      "gated_oja::recurrent", call, 0, KOKKOS_LAMBDA(const Team &team, const Head<Real> &h) {
        for (int t = 0; t < h.T; ++t) {
          const Real *u = &unit((h.index * h.T + t) * h.Dv), *lambda = h.lambda(t);
          each(team, h.Dk, [=](int j) {
            Real *s = h.state + j, read = 0; // column j
            for (int i = 0; i < h.Dv; ++i) s[i * h.Dk] = lambda[i % h.Dk] * s[i * h.Dk];
            for (int i = 0; i < h.Dv; ++i) read += s[i * h.Dk] * u[i];
            const Real error = h.beta[t] * (h.k(t)[j] - read);
            for (int i = 0; i < h.Dv; ++i) s[i * h.Dk] += u[i] * error;
          });
          team.barrier();
          each(team, h.Dv, [=](int i) { h.o(t)[i] = dot(h.state + size_t(i) * h.Dk, h.q(t), h.Dk); });
          team.barrier();
        }
      });
}

template <class Real> void chunked(const Call<Real> &call) {
  exchanged_roles("gated_oja::chunked", call, unit_rows(call, call.v, call.shape.Dv).rows);
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const UnitRows<Real> unit = unit_rows(call, call.v, call.shape.Dv);
  const Array<Real> d_unit = allocate(call, call.v.extent(0));
  exchanged_roles_vjp("gated_oja::backward", back, unit.rows, d_unit);
  unit_rows_vjp(unit, {d_unit, filled(call, call.steps(), Real(0))}, back.d.v);
}

} // namespace

Variant gated_oja() {
  Variant v;
  v.aliases = {"gated_oja_rule", "oja"};
  v.family = "delta rule";
  v.update = "$S'_t = diag(lambda_t) S_{t-1}$, $S_t = S'_t + beta_t u_t (k_t - (S'_t)^T u_t)^T$, $u_t = v_t / |v_t|$";
  v.objective =
      "$|S'^T u - k|^2 / 2$, one gradient step of size $beta_t$ from the decayed state $S' = diag(lambda_t) S$";
  v.source = "fla-org/flash-linear-attention, fla/ops/gated_oja_rule and tests/ops/test_oja.py";
  v.differs = "value channel i decays by factor i mod Dk of $lambda$";
  v.cost = 7 * cost::Dv * cost::Dk;
  v.inputs = {{"beta", true, "step size of the write"}, {"lambda", false, "decay of each value channel"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>)
                 .backward(backward<float>, backward<double>)
                 .work(1.2 * cost::Dv * cost::Dk + 70 * (cost::Dk + cost::Dv) + 1600)};
  v.traits.linear_in_v = false;
  v.traits.zero_step_keeps = true;
  return v;
}

} // namespace recollect::variants
