// SPDX-License-Identifier: Apache-2.0
// Kernelised attention (feature_map.hpp) by features that are exponentials, phi(x) = exp(l(x)). They leave a type's range
// long before the outputs do, so the state is kept in units of the largest feature that each channel has seen:
//
//   peak_t = max(peak_{t-1}, l(k_t))                               channel by channel
//   S_t = S_{t-1} diag(e^{peak_{t-1} - peak_t}) + v_t y_t^T,   y_t = e^{l(k_t) - peak_t},   z_t alike with the value 1
//   o_t = S_t x_t / (z_t . x_t),   x_t = e^{l(q_t) + peak_t - c_t},   c_t the largest element of l(q_t) + peak_t
//
// Every exponent is at most 0, and the term with c_t is at least 1 in the divisor: nothing overflows, and what underflows
// weighs nothing. The sums of Katharopoulos et al. are S_t and z_t times diag(e^{peak_t}). State: Dv + 2 rows of F
// columns, S over z over peak.
#pragma once
#include "variants/kernels/attention.hpp"
#include "variants/kernels/feature_map.hpp"

namespace recollect::variants {

constexpr double no_peak = -1e30; // of a channel that has seen no key

/// Work of a head: decay, y, x [F], reads [Dv+1].
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

/// Decays, y and, but for c_t, x of one channel of a head; the state's peak becomes the last one unless it is kept.
template <class Real> struct PeakScan {
  int T, F, rows;
  bool keep;
  Features<Real> logs;
  Array<Real> state, decay, y, x;
  KOKKOS_FUNCTION void operator()(size_t unit) const {
    const size_t head = unit / F, j = unit % F, at_end = (head * rows + rows - 1) * F + j;
    Real peak = state(at_end);
    for (size_t at = head * T * F + j; at < (head + 1) * T * F; at += F) {
      const Real log = logs.k(at), now = math::fmax(peak, log);
      decay(at) = math::exp(peak - now), y(at) = math::exp(log - now), x(at) = logs.q(at) + now;
      peak = now;
    }
    if (!keep) state(at_end) = peak;
  }
};
/// x of one step.
template <class Real> struct LargestToOne {
  int F;
  Array<Real> x;
  KOKKOS_FUNCTION void operator()(size_t step) const {
    Real *row = x.data() + step * F, c = row[0];
    for (int j = 1; j < F; ++j) c = math::fmax(c, row[j]);
    for (int j = 0; j < F; ++j) row[j] = math::exp(row[j] - c);
  }
};

/// The same sum with decays, y and x of all steps taken first. Writes y over the logs of the keys unless it keeps them and
/// the state's peaks.
template <class Real>
DecayedSum<Real> exponential_sum(const std::string &label, const Call<Real> &call, const Features<Real> &logs,
                                 bool keep) {
  const int F = logs.width;
  const Array<Real> decay = allocate(call, logs.k.extent(0)), x = allocate(call, logs.q.extent(0)),
                    y = keep ? allocate(call, logs.k.extent(0)) : logs.k;
  Kokkos::parallel_for(label + "::peaks", Kokkos::RangePolicy<Execution>(0, call.shape.heads() * F),
                       PeakScan<Real>{call.shape.T, F, call.state_shape.rows, keep, logs, call.state, decay, y, x});
  Kokkos::parallel_for(label + "::queries", Kokkos::RangePolicy<Execution>(0, call.steps()), LargestToOne<Real>{F, x});
  return {F, x, y, {}, decay, Real(1), {}, true};
}
template <class Real>
void exponential_chunked(const std::string &label, const Call<Real> &call, const Features<Real> &logs) {
  decayed_sum(label, call, exponential_sum(label, call, logs, false));
}

/// From the gradients of x, y and the decays of one channel of a head, in place, to those of the logs. A peak passes its
/// own to what it was the larger of; c_t divides out, and has none.
template <class Real> struct PeakScanBack {
  int T, F, rows;
  Features<Real> logs, d;           // d: of x and y on entry
  Array<Real> state, d_state;       // of the start
  Array<Real> decay, x, y, d_decay; // d_decay takes the peaks
  KOKKOS_FUNCTION void operator()(size_t unit) const {
    const size_t head = unit / F, j = unit % F, own = (head * rows + rows - 1) * F + j, first = head * T * F + j;
    Real before = state(own), slope = d_state(own);
    for (int t = 0; t < T; ++t) { // whether the key's is the peak
      const size_t at = first + size_t(t) * F;
      const bool larger = logs.k(at) > before;
      if (larger) before = logs.k(at);
      const Real falls = d_decay(at) * decay(at), writes = d.k(at) * y(at), reads = d.q(at) * x(at);
      logs.k(at) = larger ? Real(1) : Real(0);
      d.q(at) = reads, d.k(at) = writes, d_decay(at) = falls;
    }
    for (int t = T - 1; t >= 0; --t) {
      const size_t at = first + size_t(t) * F;
      slope += d.q(at) - d.k(at) - d_decay(at);
      const bool larger = logs.k(at) > 0;
      if (larger) d.k(at) += slope, slope = 0;
      slope += d_decay(at);
    }
    d_state(own) = slope;
  }
};

/// Gradients of exponential_chunked(): those of the logs, and back.d.v and back.d.state.
template <class Real>
Features<Real> exponential_gradients(const std::string &label, const Pullback<Real> &back, const Features<Real> &logs) {
  const Call<Real> &call = back.call;
  const DecayedSum<Real> sum = exponential_sum(label, call, logs, true);
  const Features<Real> d{logs.width, allocate(call, logs.q.extent(0)), allocate(call, logs.k.extent(0))};
  DecayedSumGradient<Real> gradient{d.q, d.k};
  gradient.lambda = allocate(call, sum.lambda.extent(0));
  decayed_sum_vjp(label, back, sum, gradient);
  Kokkos::parallel_for(label + "::peaks", Kokkos::RangePolicy<Execution>(0, call.shape.heads() * logs.width),
                       PeakScanBack<Real>{call.shape.T, logs.width, call.state_shape.rows, logs, d, call.state,
                                          back.d.state, sum.lambda, sum.q, sum.k, gradient.lambda});
  return d;
}

/// Gradients of exponential_chunked(features logs): pull(row, D, d logs(row), d row) is theirs.
template <class Real, class Pull>
void exponential_backward(const std::string &label, const Pullback<Real> &back, const Features<Real> &logs,
                          const Pull &pull) {
  pull_features(label, back, exponential_gradients(label, back, logs), pull);
}

/// feature_variant with the peaks below the state.
inline Variant exponential_variant(std::function<int(const Shape &, const Params &)> width) {
  Variant v = feature_variant(width);
  v.layout = "S [Dv,F], z [1,F], peak [1,F], F features: S and z in units of e^peak";
  v.state_shape = [width](const Shape &s, const Params &p) { return StateShape{s.Dv + 2, width(s, p)}; };
  v.initial_state = [width](const Shape &s, const Params &p) {
    std::vector<double> state(size_t(s.Dv + 1) * width(s, p), 0.0);
    state.insert(state.end(), width(s, p), no_peak);
    return state;
  };
  return v;
}

} // namespace recollect::variants
