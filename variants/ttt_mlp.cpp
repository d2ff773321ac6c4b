// SPDX-License-Identifier: Apache-2.0
// TTT-MLP: a two-layer network behind a layer norm and a residual, trained by one gradient step per token (Sun et al.
// 2024, arXiv:2407.04620, §2; 003 Vignette 3).
//
//   f(x; M) = P x + norm(A^T gelu(B x))              norm and P as in online_memory.hpp; no biases
//   M_t = M_{t-1} - lr beta_t d/dM 1/2 |f(k_t; M) - v_t|^2 at M_{t-1},   o_t = f(q_t; M_t)
//
// State: width x (Dk + Dv), one row per hidden unit, initially N(0,1). Cost per token: width (8 Dk + 10 Dv) flops. The
// form `minibatch` computes the gradients of b tokens (b is the parameter `minibatch`) at the state before these tokens
// (mlp_memory.hpp). For b > 1 this is a different layer.
#include "harness/numerics/random.hpp"
#include "variants/kernels/online/mlp_memory_backward.hpp"

namespace recollect::variants {
namespace {

template <class Real> MlpMemory<Real, Gelu<Real>, NormedResidualRead<Real>> memory(const Call<Real> &call) {
  return {hidden_width(call.shape, call.params), false, Real(call.params.real("lr")), Real(0), {}, {}};
}
template <class Real> void recurrent(const Call<Real> &call) {
  train_one_by_one("ttt_mlp::recurrent", call, memory(call));
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  train_vjp("ttt_mlp::backward", back, memory(back.call));
}
template <class Real> void minibatch(const Call<Real> &call) {
  train_by_batches("ttt_mlp::minibatch", call, memory(call));
}

} // namespace

Variant ttt_mlp() {
  Variant v = mlp_variant();
  v.update = "$M_t = M_{t-1} - lr beta_t grad 1/2 |P k_t + norm(A^T gelu(B k_t)) - v_t|^2$, $o_t = P q_t + norm(A^T "
             "gelu(B q_t))$";
  v.objective = "$1/2 |P k + norm(A^T gelu(B k)) - v|^2$";
  v.source = "Sun et al. 2024 (arXiv:2407.04620); 003 Vignette 3; 002 outlook";
  v.differs = "GELU by the error function, where the published code has the tanh form; norm without learned scale and "
              "shift, no biases";
  const Polynomial width = Polynomial::symbol("width", 4 * cost::Dk);
  v.cost = {(10 * cost::Dv + 8 * cost::Dk) * width, 4 * width};
  v.params.insert(v.params.begin(), real_param("lr", 0.25, 0, no_limit, "step size"));
  v.inputs = {{"beta", false, "factor on the step size"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }).backward(backward<float>, backward<double>),
             fast("minibatch", minibatch<float>, minibatch<double>).approximate()};
  v.layout = "one row per hidden unit: input weights (Dk), then output weights (Dv): M [width,Dk+Dv]";
  v.state_shape = [](const Shape &s, const Params &p) { return StateShape{hidden_width(s, p), s.Dk + s.Dv}; };
  v.initial_state = [](const Shape &s, const Params &p) {
    return Stream(p.integer("seed"), "ttt_mlp/state").normals(size_t(hidden_width(s, p)) * (s.Dk + s.Dv));
  };
  v.unsuitable = [](const Shape &s, const Params &) -> std::string {
    return s.Dv < 2 ? "a layer norm over one channel is always 0" : "";
  };
  v.traits.zero_step_keeps = true;
  v.traits.zero_key_keeps = true;
  return v;
}

} // namespace recollect::variants
