// SPDX-License-Identifier: Apache-2.0
// TTT-Linear: a linear map behind a layer norm and a residual, trained by one gradient step per token (Sun et al. 2024,
// arXiv:2407.04620, §2; 003 Vignette 3).
//
//   f(x; S) = P x + norm(S x)                        norm and P as in online_memory.hpp
//   S_t = S_{t-1} - lr beta_t d/dS 1/2 |f(k_t; S) - v_t|^2 at S_{t-1},   o_t = f(q_t; S_t)
//
// State: Dv x Dk, initially N(0,1). Because of norm, a step changes f by lr beta_t whatever the length of the keys.
// Cost per token: 7 Dv Dk flops. The form `minibatch` computes the gradients of b tokens (b is the parameter
// `minibatch`) at the state before these tokens. It then consists of matrix products: 6 Dv Dk + 2 b (Dk + Dv) flops per
// token. For b > 1 this is a different layer.
#include "harness/numerics/random.hpp"
#include "variants/kernels/common/columns.hpp"
#include "variants/kernels/common/recurrent_backward.hpp"
#include "variants/kernels/online/online_memory.hpp"

namespace recollect::variants {
namespace {

template <class Real> struct OneByOne {
  Real lr;
  NormedResidualRead<Real> memory;
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int Dk = h.Dk, Dv = h.Dv;
    Real *S = h.state, *y = h.work;
    const auto apply = [&](const Real *x) {
      team.barrier();
      each(team, Dv, [=](int i) { y[i] = dot(S + i * Dk, x, Dk); });
      team.barrier();
    };
    for (int t = 0; t < h.T; ++t) {
      const Real *k = h.k(t), step = lr * h.beta[t];
      apply(k);
      once(team, [&] { memory.gradient(Dk, Dv, k, h.v(t), y, y); });
      team.barrier();
      each(team, Dv, [=](int i) {
        for (int j = 0; j < Dk; ++j) S[i * Dk + j] -= step * y[i] * k[j];
      });
      apply(h.q(t));
      once(team, [&] { memory.read(Dk, Dv, h.q(t), y, h.o(t)); });
    }
  }
};

/// The form `minibatch`. Scratch of a head: E [b,Dv] (gradients times step sizes), A [b,b] (q_t . k_s), and the
/// transposes kT [Dk,b] of the keys and ST [Dk,Dv] of the state.
template <class Real> struct Batches {
  Real lr;
  int batch;
  NormedResidualRead<Real> memory;
  static size_t work_size(int b, int Dk, int Dv) { return size_t(b) * (Dv + b + Dk) + size_t(Dk) * Dv; }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int Dk = h.Dk, Dv = h.Dv, b = batch;
    const Real rate = lr;
    const NormedResidualRead<Real> m = memory;
    Real *E = h.work, *A = E + size_t(b) * Dv, *kT = A + size_t(b) * b, *ST = kT + size_t(Dk) * b;
    tile::transpose(team, Dv, Dk, h.state, Dk, ST, Dv);
    for (int t0 = 0; t0 < h.T; t0 += b) {
      const int n = h.T - t0 < b ? h.T - t0 : b;
      const Real *q = h.q(t0), *k = h.k(t0), *v = h.v(t0), *beta = h.beta + t0;
      Real *o = h.o(t0);
      tile::transpose(team, n, Dk, k, Dk, kT, n);
      team.barrier();
      tile::gemm(team, n, Dv, Dk, Real(1), tile::rows(k, Dk), tile::rows<Real>(ST, Dv), Real(0), E, Dv);
      tile::gemm(team, n, n, Dk, Real(1), tile::rows(q, Dk), tile::rows<Real>(kT, n), Real(0), A, n);
      tile::gemm(team, n, Dv, Dk, Real(1), tile::rows(q, Dk), tile::rows<Real>(ST, Dv), Real(0), o, Dv);
      team.barrier();
      each(team, n, [=](int t) { // E: gradient times step size; A: 0 for steps after t
        Real *e = E + size_t(t) * Dv;
        m.gradient(Dk, Dv, k + size_t(t) * Dk, v + size_t(t) * Dv, e, e);
        for (int c = 0; c < Dv; ++c) e[c] *= rate * beta[t];
        for (int s = t + 1; s < n; ++s) A[size_t(t) * n + s] = 0;
      });
      team.barrier();
      tile::gemm_lower<Real>(team, n, Dv, Real(-1), A, n, tile::rows<Real>(E, Dv), Real(1), o, Dv);
      tile::gemm(team, Dk, Dv, n, Real(-1), tile::transposed(k, Dk), tile::rows<Real>(E, Dv), Real(1), ST, Dv);
      team.barrier();
      each(team, n, [=](int t) { m.read(Dk, Dv, q + size_t(t) * Dk, o + size_t(t) * Dv, o + size_t(t) * Dv); });
      team.barrier();
    }
    tile::transpose(team, Dk, Dv, ST, Dv, h.state, Dk);
  }
};

/// Let y = S_{t-1} k_t, e the gradient of the loss with respect to y, yq = S_t q_t, and step = lr beta_t. The read's
/// backward pass computes dyq from do_t; dS_t += dyq q_t^T, dq_t += S_t^T dyq. Then de = - step dS_t k_t, d step = - e
/// . dS_t k_t, dk_t = - step dS_t^T e. The loss's backward pass computes dy from de; dS_{t-1} = dS_t + dy k_t^T, dk_t
/// += S_{t-1}^T dy.
template <class Real> struct StepBack {
  int Dk, Dv;
  Real lr;
  NormedResidualRead<Real> memory;
  KOKKOS_FUNCTION size_t scratch() const { return 5 * size_t(Dv); }

  KOKKOS_FUNCTION void advance(const Team &team, const Head<Real> &h, int t, const Real *before, Real *after,
                               Real *y) const {
    const int F = Dk, V = Dv;
    const Real *k = h.k(t), step = lr * h.beta[t];
    each(team, V, [=](int i) { y[i] = dot(before + size_t(i) * F, k, F); });
    team.barrier();
    once(team, [=, *this] { memory.gradient(F, V, k, h.v(t), y, y); });
    team.barrier();
    each_cell(team, V, F, [=](int i, int j) {
      const size_t cell = size_t(i) * F + j;
      after[cell] = before[cell] - step * y[i] * k[j];
    });
  }

  KOKKOS_FUNCTION void back(const Team &team, const Head<Real> &h, int t, const Real *before, const Real *after,
                            Real *dS, const StepGradient<Real> &d, Real *y) const {
    const int F = Dk, V = Dv;
    const Real *k = h.k(t), *q = h.q(t), step = lr * h.beta[t], rate = lr;
    Real *e = y + V, *read = e + V, *d_y = read + V, *along = d_y + V;
    each(team, V, [=](int i) {
      y[i] = dot(before + size_t(i) * F, k, F);
      read[i] = dot(after + size_t(i) * F, q, F);
    });
    team.barrier();
    once(team, [=, *this] {
      for (int j = 0; j < F; ++j) d.q[j] = d.k[j] = 0;
      memory.gradient(F, V, k, h.v(t), y, e);
      memory.read_vjp(F, V, read, d.o, read, d.q);
    });
    team.barrier();
    each(team, V, [=](int i) {
      Real *row = dS + size_t(i) * F;
      for (int j = 0; j < F; ++j) row[j] += read[i] * q[j];
      along[i] = dot(row, k, F);
      d_y[i] = -step * along[i];
    });
    team.barrier();
    down_columns(team, V, F, [=](int i, int j) {
      const size_t cell = size_t(i) * F + j;
      d.q[j] += read[i] * after[cell], d.k[j] -= step * e[i] * dS[cell];
    });
    team.barrier();
    once(team, [=, *this] {
      *d.beta = -rate * dot(e, along, V);
      memory.gradient_vjp(F, V, k, h.v(t), y, d_y, d_y, d.k, d.v);
    });
    team.barrier();
    down_columns(team, V, F, [=](int i, int j) {
      const size_t cell = size_t(i) * F + j;
      dS[cell] += d_y[i] * k[j], d.k[j] += before[cell] * d_y[i];
    });
  }
};

template <class Real> void recurrent(const Call<Real> &call) {
  each_head("ttt_linear::recurrent", call, call.shape.Dv, OneByOne<Real>{Real(call.params.real("lr")), {}});
}
template <class Real> void backward(const BackwardCall<Real> &back) {
  const Call<Real> &call = back.call;
  recurrent_vjp("ttt_linear::backward", back,
                StepBack<Real>{call.shape.Dk, call.shape.Dv, Real(call.params.real("lr")), {}});
}
template <class Real> void minibatch(const Call<Real> &call) {
  const int batch = std::min(call.params.integer("minibatch"), call.shape.T);
  using Kernel = Batches<Real>;
  each_head("ttt_linear::minibatch", call, Kernel::work_size(batch, call.shape.Dk, call.shape.Dv),
            Kernel{Real(call.params.real("lr")), batch, {}});
}

} // namespace

Variant ttt_linear() {
  Variant v;
  v.family = "online nonlinear";
  v.update = "$S_t = S_{t-1} - lr beta_t grad 1/2 |P k_t + norm(S k_t) - v_t|^2$, $o_t = P q_t + norm(S_t q_t)$";
  v.objective = "$1/2 |P k + norm(S k) - v|^2$";
  v.source = "Sun et al. 2024 (arXiv:2407.04620); 003 Vignette 3; 002 outlook";
  v.differs = "the residual is the query itself, padded or cut, where fla adds $W q$; norm without learned scale and "
              "shift, no bias";
  v.cost = 7 * cost::Dv * cost::Dk + 34 * cost::Dv;
  v.params = {
      real_param("lr", 0.5, 0, no_limit, "step size"),
      integer_param("minibatch", 16, 1, 1 << 20, "tokens whose gradients are taken at the same state in `minibatch`"),
      integer_param("seed", 1, 0, 1 << 30, "random seed of the initial state")};
  v.inputs = {{"beta", false, "factor on the step size"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }).backward(backward<float>, backward<double>),
             fast("minibatch", minibatch<float>, minibatch<double>).approximate()};
  v.traits.linear_in_v = false;
  v.initial_state = [](const Shape &s, const Params &p) {
    return Stream(p.integer("seed"), "ttt_linear/state").normals(size_t(s.Dv) * s.Dk);
  };
  v.unsuitable = [](const Shape &s, const Params &) -> std::string {
    return s.Dv < 2 ? "a layer norm over one channel is always 0" : "";
  };
  v.traits.zero_step_keeps = true;
  v.traits.zero_key_keeps = true;
  return v;
}

} // namespace recollect::variants
