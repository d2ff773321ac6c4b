// SPDX-License-Identifier: Apache-2.0
// Titans' long-term memory: a two-layer network trained with momentum and weight decay (Behrouz et al. 2024,
// arXiv:2501.00663, Eq 11-15).
//
//   M(x) = A^T silu(B x)
//   Z_t = eta_t Z_{t-1} - lr beta_t d/dM 1/2 |M(k_t) - v_t|^2 at M_{t-1}
//   M_t = alpha_t M_{t-1} + Z_t,   o_t = M_t(q_t)
//
// alpha_t is the fraction of M that is kept (1 - alpha_t in the paper). eta_t = eta lambda_t[0]; the input lambda
// carries it, because the inputs with one number per step, alpha and beta, are already used. State: 2 width x (Dk +
// Dv), the rows of M, then the rows of Z. Initially B is N(0,1), and A and Z are 0: an empty memory reads 0. Cost per
// token: width (10 Dk + 12 Dv) flops. The form `minibatch` computes the gradients of b tokens (b is the parameter
// `minibatch`) at the state before these tokens (mlp_memory.hpp). For b > 1 this is a different layer.
#include "harness/numerics/random.hpp"
#include "variants/kernels/online/mlp_memory_backward.hpp"

namespace recollect::variants {
namespace {

template <class Real> MlpMemory<Real, Silu<Real>, PlainRead<Real>> memory(const Call<Real> &call) {
  const int width = hidden_width(call.shape, call.params);
  const double eta = call.params.real("eta"), lr = call.params.real_or("lr", 0.5 * (1 - eta) / width);
  return {width, true, Real(lr), Real(eta), {}, {}};
}
template <class Real> void recurrent(const Call<Real> &call) {
  train_one_by_one("titans::recurrent", call, memory(call));
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  train_vjp("titans::backward", back, memory(back.call));
}
template <class Real> void minibatch(const Call<Real> &call) {
  train_by_batches("titans::minibatch", call, memory(call));
}

/// M's rows [b_j, a_j] with b_j ~ N(0,1) and a_j = 0, then as many rows of zeros.
std::vector<double> empty_memory(const Shape &s, const Params &p) {
  const int width = hidden_width(s, p), row = s.Dk + s.Dv;
  const std::vector<double> inputs = Stream(p.integer("seed"), "titans/inputs").normals(size_t(width) * s.Dk);
  std::vector<double> state(size_t(2) * width * row, 0.0);
  for (int j = 0; j < width; ++j)
    for (int c = 0; c < s.Dk; ++c) state[size_t(j) * row + c] = inputs[size_t(j) * s.Dk + c];
  return state;
}

} // namespace

Variant titans() {
  Variant v = mlp_variant();
  v.update = "$Z_t = eta_t Z_{t-1} - lr beta_t grad 1/2 |M(k_t) - v_t|^2$, $M_t = alpha_t M_{t-1} + Z_t$, $eta_t = eta "
             "lambda_t[0]$, $o_t = M_t(q_t)$, $M(x) = A^T silu(B x)$";
  v.objective = "$1/2 |M(k) - v|^2 + (1 - alpha)/2 |M|^2$, by momentum";
  v.source = "Behrouz et al. 2024 (arXiv:2501.00663); 003 Fig 1; 002 outlook";
  v.differs = "no projections, convolutions or persistent tokens";
  const Polynomial width = Polynomial::symbol("width", 4 * cost::Dk);
  v.cost = {(12 * cost::Dv + 10 * cost::Dk) * width, 3 * width};
  v.params.insert(v.params.begin(),
                  {automatic_param("lr", "0.5 (1 - eta) / width", 0, no_limit, "step size"),
                   tuned(real_param("eta", 0.9, 0, 1, "momentum: factor on the last change"), {0, 0.5})});
  v.inputs = {{"beta", false, "factor on the step size"},
              {"alpha", false, "decay of the memory"},
              {"lambda", false, "its first channel is a factor on $eta$ at every step; the others are not read"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }).backward(backward<float>, backward<double>),
             fast("minibatch", minibatch<float>, minibatch<double>).approximate()};
  v.layout = "one row per hidden unit: input weights (Dk), then output weights (Dv): M [width,Dk+Dv], Z [width,Dk+Dv]";
  v.state_shape = [](const Shape &s, const Params &p) { return StateShape{2 * hidden_width(s, p), s.Dk + s.Dv}; };
  v.initial_state = empty_memory;
  return v;
}

} // namespace recollect::variants
