// SPDX-License-Identifier: Apache-2.0
// Mamba's selective state-space model (Gu and Dao 2023, arXiv:2312.00752, §3.2, Algorithm 2). Each value channel i has
// a separate step size, which sets how fast it forgets and how strongly it writes. In the paper's names, v is x, k is B
// and q is C.
//
//   S_t[i,j] = exp(-Delta_t[i] a_j) S_{t-1}[i,j] + Delta_t[i] v_t[i] k_t[j],   a_j = j + 1 (S4D-real)
//   o_t[i] = sum_j S_t[i,j] q_t[j]
//   Delta_t[i] = beta_t softplus(bias_i + w_t[i mod Dk])
//
// w is the data-dependent part before the softplus. Without w, the biases set Delta: its logarithm is equally spaced
// over the channels, from log dt_min to log dt_max (the paper draws Delta at random). If beta_t = 0, step t has no
// effect on the state. The skip connection D x is left to the caller. State: Dv x Dk. Cost per token: 6 Dv Dk flops and
// Dv Dk exponentials; chunked twice that on a GPU, where chunks run in parallel.
#include "harness/device/each_index.hpp"
#include "variants/kernels/common/arrays.hpp"
#include "variants/kernels/common/columns.hpp"
#include "variants/kernels/common/rows.hpp"
#include "variants/kernels/scan/scan_backward.hpp"
#include <cmath>

namespace recollect::variants {
namespace {

template <class Real> struct StepSizes {
  Array<Real> bias, delta; // bias [Dv], delta [B,H,T,Dv]
  bool selective;          // whether w is given
  KOKKOS_FUNCTION Real before_softplus(const Head<Real> &h, int t, int i) const {
    return bias(i) + (selective ? h.w(t)[i % h.Dk] : Real(0));
  }
  KOKKOS_FUNCTION Real softplus(const Head<Real> &h, int t, int i) const {
    const Real x = before_softplus(h, t, i);
    return math::fmax(x, Real(0)) + math::log1p(math::exp(-math::fabs(x)));
  }
};

template <class Real> StepSizes<Real> step_sizes(const Call<Real> &call) {
  const double low = call.params.real("dt_min"), high = call.params.real("dt_max");
  const int Dv = call.shape.Dv;
  std::vector<double> biases;
  for (int i = 0; i < Dv; ++i) {
    const double step = low * std::pow(high / low, Dv > 1 ? double(i) / (Dv - 1) : 0);
    biases.push_back(step + std::log1p(-std::exp(-step))); // the inverse of softplus
  }
  const StepSizes<Real> sizes{constants<Real>("bias", biases), allocate(call, call.v.extent(0)), call.has("w")};
  const HeadArrays<Real> arrays(call);
  each_row(
      "mamba::step_sizes", int(call.steps()), Dv, KOKKOS_LAMBDA(int step, int first, int side) {
        const Head<Real> h = arrays.head(size_t(step) / arrays.T);
        const int t = step % arrays.T;
        for (int i = first; i < h.Dv; i += side)
          sizes.delta(size_t(step) * h.Dv + i) = h.beta[t] * sizes.softplus(h, t, i);
      });
  return sizes;
}

template <class Real> void recurrent(const Call<Real> &call) {
  const Array<Real> Delta = step_sizes(call).delta;
  recurrent_rows(
      "mamba::recurrent", call, KOKKOS_LAMBDA(const Head<Real> &h, int t, int i, Real *s)->Real {
        const Real delta = Delta((h.index * h.T + t) * h.Dv + i), write = delta * h.v(t)[i];
        for (int j = 0; j < h.Dk; ++j) s[j] = math::exp(-delta * (j + 1)) * s[j] + write * h.k(t)[j];
        return dot(s, h.q(t), h.Dk);
      });
}

template <class Real> struct Rule {
  struct Row {
    Real delta, writes;
    const Real *k, *q;
    KOKKOS_FUNCTION Real decay(int j) const { return math::exp(-delta * (j + 1)); }
    KOKKOS_FUNCTION Real write(int j) const { return writes * k[j]; }
    KOKKOS_FUNCTION Real read(int j) const { return q[j]; }
  };
  Array<Real> Delta;
  KOKKOS_FUNCTION Row at(const Head<Real> &h, int t, int i) const {
    const Real delta = Delta((h.index * h.T + t) * h.Dv + i);
    return {delta, delta * h.v(t)[i], h.k(t), h.q(t)};
  }
};

template <class Real> void chunked(const Call<Real> &call) {
  chunked_scan("mamba::chunked", call, Rule<Real>{step_sizes(call).delta});
}

/// Let A = exp(-Delta_i a_j). First dS_t += do_t q_t^T. Then, for each value channel i: dv_i = Delta_i (dS_t k_t)_i, d
/// Delta_i = v_i (dS_t k_t)_i - sum_j a_j A S_{t-1} dS_t, dS_{t-1} = A dS_t. Over all channels: dq_t = S_t^T do_t, dk_t
/// = dS_t^T (Delta v_t).
template <class Real> struct StepBack {
  int Dk, Dv;
  StepSizes<Real> sizes;
  KOKKOS_FUNCTION size_t scratch() const { return 3 * size_t(Dv); }

  KOKKOS_FUNCTION void advance(const Team &team, const Head<Real> &h, int t, const Real *before, Real *after,
                               Real *) const {
    const Real *delta = sizes.delta.data() + (h.index * h.T + t) * Dv;
    each_cell(team, Dv, Dk, [=, *this](int i, int j) {
      const size_t cell = size_t(i) * Dk + j;
      after[cell] = math::exp(-delta[i] * (j + 1)) * before[cell] + delta[i] * h.v(t)[i] * h.k(t)[j];
    });
  }

  KOKKOS_FUNCTION void back(const Team &team, const Head<Real> &h, int t, const Real *before, const Real *after,
                            Real *dS, const StepGradient<Real> &d, Real *written) const {
    const Real *q = h.q(t), *k = h.k(t), *v = h.v(t), *delta = sizes.delta.data() + (h.index * h.T + t) * Dv;
    Real *d_write = written + Dv, *d_delta = d_write + Dv;
    const int F = Dk, V = Dv;
    const StepSizes<Real> sizes = this->sizes;
    each(team, V, [=](int i) {
      Real *row = dS + size_t(i) * F;
      for (int j = 0; j < F; ++j) row[j] += d.o[i] * q[j];
      d_write[i] = dot(row, k, F), written[i] = delta[i] * v[i];
    });
    team.barrier();
    column_sums(team, V, F, Kokkos::Array<Real *, 2>{d.q, d.k}, [=](int i, int j) {
      const size_t cell = size_t(i) * F + j;
      return Kokkos::Array<Real, 2>{d.o[i] * after[cell], written[i] * dS[cell]};
    });
    team.barrier();
    each(team, V, [=](int i) {
      Real *row = dS + size_t(i) * F, faded = 0;
      const Real *old = before + size_t(i) * F;
      for (int j = 0; j < F; ++j) {
        row[j] *= math::exp(-delta[i] * (j + 1));
        faded += (j + 1) * old[j] * row[j];
      }
      d.v[i] = delta[i] * d_write[i];
      d_delta[i] = v[i] * d_write[i] - faded;
    });
    team.barrier();
    each(team, F, [=](int j) {
      d.w[j] = 0;
      if (sizes.selective)
        for (int i = j; i < V; i += F) d.w[j] += d_delta[i] * h.beta[t] * math::sigmoid(sizes.before_softplus(h, t, i));
    });
    once(team, [=] {
      Real sum = 0;
      for (int i = 0; i < V; ++i) sum += d_delta[i] * sizes.softplus(h, t, i);
      *d.beta = sum;
    });
  }
};
template <class Real> void backward(const BackwardCall<Real> &back) {
  const StepSizes<Real> sizes = step_sizes(back.call);
  scan_vjp("mamba::backward", back, Rule<Real>{sizes.delta},
           StepBack<Real>{back.call.shape.Dk, back.call.shape.Dv, sizes});
}

} // namespace

Variant mamba() {
  Variant v;
  v.family = "gated";
  v.update = "$A_t[i] = diag(exp(-Delta_t[i] a))$ for value channel $i$, $b_t = Delta_t * v_t$, $phi = identity$";
  v.source = "Gu and Dao 2023 (arXiv:2312.00752) §3.2, Algorithm 2; 003 Eq 4";
  v.differs = "value channel i takes the data-dependent part of $Delta$ from w[i mod Dk], so for $Dv > Dk$ channels "
              "share it; each has a "
              "bias of its own";
  v.cost = {6 * cost::Dv * cost::Dk, cost::Dv * cost::Dk};
  v.params = {real_param("dt_min", 0.001, 1e-6, 10, "step size of the first value channel"),
              real_param("dt_max", 0.1, 1e-6, 10, "step size of the last value channel")};
  v.inputs = {{"beta", false, "factor on all step sizes; 0 skips the step", "", Input::not_negative},
              {"w", false, "the step sizes' data-dependent part before the softplus", "0"}};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("chunked", chunked<float>, chunked<double>).backward(backward<float>, backward<double>)};
  v.traits.zero_step_keeps = true;
  return v;
}

} // namespace recollect::variants
