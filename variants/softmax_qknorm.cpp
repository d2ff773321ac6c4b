// SPDX-License-Identifier: Apache-2.0
// Softmax attention over unit queries and keys: the locally constant regressor with bandwidth 2 / scale (003 Eq 50-51).
//
//   o_t = sum_{i<=t} p(t,i) v_i,   p(t,i) ~ exp(scale x_t . y_i),   scale = 1/sqrt(Dk)
//   x_t = q_t / |q_t|,   y_i = k_i / |k_i|
//
// A zero vector stays zero. No finite state. Cost of token t: 2 t (Dk + Dv) flops and t exponentials.
#include "variants/kernels/attention/backward.hpp"
#include "variants/kernels/attention/similarity.hpp"
#include "variants/kernels/common/unit_rows.hpp"
#include <cmath>

namespace recollect::variants {
namespace {

template <class Real> Call<Real> on_the_sphere(Call<Real> call) {
  call.q = unit_rows(call, call.q, call.shape.Dk).rows;
  call.k = unit_rows(call, call.k, call.shape.Dk).rows;
  return call;
}
template <class Real> FixedKernel<Real, Kind::softmax> kernel(const Call<Real> &call) {
  return {Real(call.params.real_or("scale", 1 / std::sqrt(double(call.shape.Dk)))), Real(1)};
}
template <class Real> void recurrent(const Call<Real> &call) {
  attend_one_by_one("softmax_qknorm::recurrent", on_the_sphere(call), kernel(call));
}
template <class Real> void parallel(const Call<Real> &call) {
  attend("softmax_qknorm::parallel", on_the_sphere(call), kernel(call));
}

template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  const UnitRows<Real> q = unit_rows(call, call.q, call.shape.Dk), k = unit_rows(call, call.k, call.shape.Dk);
  const Array<Real> no_length = filled(call, call.steps(), Real(0));
  BackwardCall<Real> unit = back;
  unit.call.q = q.rows, unit.call.k = k.rows;
  unit.d.q = allocate(call, call.q.extent(0)), unit.d.k = allocate(call, call.k.extent(0));
  attend_vjp("softmax_qknorm::backward", unit, kernel(call));
  unit_rows_vjp(q, {unit.d.q, no_length}, back.d.q);
  unit_rows_vjp(k, {unit.d.k, no_length}, back.d.k);
}

} // namespace

Variant softmax_qknorm() {
  Variant v = attention_variant();
  v.cost = {2 * cost::t * (cost::Dk + cost::Dv) + 6 * cost::Dk, cost::t};
  v.update = "$o_t = sum_{i<=t} softmax_i(scale q_t . k_i / (|q_t| |k_i|)) v_i$";
  v.objective = "$sum_{i<=t} exp(-scale |k_i - q_t|^2 / 2) |M - v_i|^2$ over a constant $M$, on the unit sphere";
  v.source = "003 Eq 50-51; Henry et al. 2020 (arXiv:2010.04245)";
  v.params = {tuned(
      automatic_param("scale", "1/sqrt(Dk)", -no_limit, no_limit, "factor on the cosine; the bandwidth is $2 / scale$"),
      {1, 4, 16, 64})};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("parallel", parallel<float>, parallel<double>).backward(backward<float>, backward<double>)};
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
