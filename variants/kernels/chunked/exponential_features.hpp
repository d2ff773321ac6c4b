// SPDX-License-Identifier: Apache-2.0
// Kernelised attention (feature_map.hpp) with exponential features, phi(x) = exp(l(x)). These overflow long before the
// outputs do, so the state is stored relative to the largest feature so far of each channel:
//
//   peak_t = max(peak_{t-1}, l(k_t))                               channel by channel
//   S_t = S_{t-1} diag(e^{peak_{t-1} - peak_t}) + v_t y_t^T,   y_t = e^{l(k_t) - peak_t}   (z_t: the same with v_t = 1)
//   o_t = S_t x_t / (z_t . x_t),   x_t = e^{l(q_t) + peak_t - c_t},   c_t the largest element of l(q_t) + peak_t
//
// Every exponent is at most 0, and the divisor is at least 1, because the term of the channel that attains c_t is at
// least 1. Hence nothing overflows, and terms that underflow are negligible. The sums of Katharopoulos et al. are S_t
// and z_t times diag(e^{peak_t}). State: Dv + 2 rows of F columns, first S, then z, then peak.
#pragma once
#include "variants/kernels/attention/attention.hpp"
#include "variants/kernels/chunked/feature_map.hpp"

namespace recollect::variants {

constexpr double no_peak = -1e30; // running maximum of a channel before its first key

/// Scratch per head: decay, y, x [F], reads [Dv+1].
template <class Real> struct ExponentialRecurrent {
  Features<Real> logs;
  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = logs.width, Dv = h.Dv;
    Real *peak = h.state + size_t(Dv + 1) * F, *decay = h.work, *y = decay + F, *x = y + F, *read = x + F;
    for (int t = 0; t < h.T; ++t) {
      const Real *lq = logs.q.data() + (h.index * h.T + t) * F, *lk = logs.k.data() + (h.index * h.T + t) * F;
      each(team, F, [=](int j) {
        const Real now = math::fmax(peak[j], lk[j]);
        decay[j] = math::exp(peak[j] - now), y[j] = math::exp(lk[j] - now), x[j] = lq[j] + now;
        peak[j] = now;
      });
      team.barrier();
      const Real c = largest(team, F, x);
      team.barrier();
      each(team, F, [=](int j) { x[j] = math::exp(x[j] - c); });
      team.barrier();
      each(team, Dv + 1, [=](int i) {
        const Real v = i < Dv ? h.v(t)[i] : Real(1);
        Real *s = h.state + size_t(i) * F;
        for (int j = 0; j < F; ++j) s[j] = decay[j] * s[j] + v * y[j];
        read[i] = dot(s, x, F);
      });
      team.barrier();
      each(team, Dv, [=](int i) { h.o(t)[i] = weighted_mean(read[i], read[Dv]); });
      team.barrier();
    }
  }
};

template <class Real>
void exponential_recurrent(const std::string &label, const Call<Real> &call, const Features<Real> &logs) {
  each_head(label, call, 3 * size_t(logs.width) + call.shape.Dv + 1, ExponentialRecurrent<Real>{logs});
}

/// Runs the layer in chunks. Overwrites the logs of the keys.
template <class Real>
void exponential_chunked(const std::string &label, const Call<Real> &call, const Features<Real> &logs);
/// Gradients of exponential_chunked() with respect to the logs; writes back.d.v and back.d.state.
template <class Real>
Features<Real> exponential_gradients(const std::string &label, const BackwardCall<Real> &back,
                                     const Features<Real> &logs);

/// Gradients of exponential_chunked() with respect to q and k. `logs` are the logs of their features; pull(row, D, d
/// logs(row), d row) is the backward pass of the logs of one row.
template <class Real, class Pull>
void exponential_backward(const std::string &label, const BackwardCall<Real> &back, const Features<Real> &logs,
                          const Pull &pull) {
  pull_features(label, back, exponential_gradients(label, back, logs), pull);
}

/// feature_variant whose state also stores the running maxima, after S and z.
inline Variant exponential_variant(std::function<int(const Shape &, const Params &)> width) {
  Variant v = feature_variant(width);
  v.layout = "S [Dv,F], z [1,F], peak [1,F], F features: S and z in units of $e^peak$";
  v.state_shape = [width](const Shape &s, const Params &p) { return StateShape{s.Dv + 2, width(s, p)}; };
  v.initial_state = [width](const Shape &s, const Params &p) {
    std::vector<double> state(size_t(s.Dv + 1) * width(s, p), 0.0);
    state.insert(state.end(), width(s, p), no_peak);
    return state;
  };
  return v;
}

} // namespace recollect::variants
