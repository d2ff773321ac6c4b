// SPDX-License-Identifier: Apache-2.0
// Compiled once here for all layers with exponential features.
#include "variants/kernels/chunked/exponential_features.hpp"

namespace recollect::variants {

/// Computes the decays, y, and l(q_t) + peak_t (in x) for some channels of a head. Updates the state's running maxima
/// ("peaks") unless `keep` is true.
template <class Real> struct PeakScan {
  static constexpr int lanes = on_host ? 64 / sizeof(Real) : 1; // channels per thread at a time
  int T, F, rows;
  bool keep;
  Features<Real> logs;
  Array<Real> state, decay, y, x;

  KOKKOS_FUNCTION int bundles() const { return (F - 1) / lanes + 1; }
  KOKKOS_FUNCTION void operator()(size_t unit) const {
    const int first = int(unit % bundles()) * lanes;
    if (F - first >= lanes)
      scan(unit / bundles(), first, std::integral_constant<int, lanes>());
    else
      scan(unit / bundles(), first, F - first);
  }

private:
  template <class Channels> KOKKOS_FUNCTION void scan(size_t head, int first, Channels channels) const {
    const size_t at_end = (head * rows + rows - 1) * F + first;
    Real peak[lanes], left[lanes], key[lanes]; // local arrays for one step, so that no store can alias a later load
    for (int j = 0; j < channels; ++j) peak[j] = state(at_end + j);
    for (size_t at = head * T * F + first, t = 0; t < size_t(T); ++t, at += F) {
      for (int j = 0; j < channels; ++j) {
        const Real log = logs.k(at + j), now = log > peak[j] ? log : peak[j];
        left[j] = peak[j] - now, key[j] = log - now, peak[j] = now;
      }
      for (int j = 0; j < channels; ++j) left[j] = math::exp(left[j]), key[j] = math::exp(key[j]);
      for (int j = 0; j < channels; ++j) x(at + j) = logs.q(at + j) + peak[j];
      for (int j = 0; j < channels; ++j) decay(at + j) = left[j];
      for (int j = 0; j < channels; ++j) y(at + j) = key[j];
    }
    if (!keep)
      for (int j = 0; j < channels; ++j) state(at_end + j) = peak[j];
  }
};
/// Computes x of one step from l(q_t) + peak_t, in place.
template <class Real> struct LargestToOne {
  int F;
  Array<Real> x;
  KOKKOS_FUNCTION void operator()(size_t step) const {
    Real *row = x.data() + step * F, c = row[0];
    for (int j = 1; j < F; ++j) c = math::fmax(c, row[j]);
    for (int j = 0; j < F; ++j) row[j] = math::exp(row[j] - c);
  }
};

/// The layer's sum as a gated recurrence; decays, y and x are computed first for all steps. Unless `keep` is true, y
/// overwrites the logs of the keys, and the state's running maxima are updated.
template <class Real>
GatedRecurrence<Real> exponential_sum(const std::string &label, const Call<Real> &call, const Features<Real> &logs,
                                      bool keep) {
  const int F = logs.width;
  const Array<Real> decay = allocate(call, logs.k.extent(0)), x = allocate(call, logs.q.extent(0)),
                    y = keep ? allocate(call, logs.k.extent(0)) : logs.k;
  const PeakScan<Real> peaks{call.shape.T, F, call.state_shape.rows, keep, logs, call.state, decay, y, x};
  parallel_loop(label + "::peaks", call.shape.heads() * peaks.bundles(), peaks);
  parallel_loop(label + "::queries", call.steps(), LargestToOne<Real>{F, x});
  return {F, x, y, {}, decay, Real(1), {}, true};
}
template <class Real>
void exponential_chunked(const std::string &label, const Call<Real> &call, const Features<Real> &logs) {
  gated_recurrence(label, call, exponential_sum(label, call, logs, false));
}

/// Turns the gradients of x, y and the decays of one channel of a head into gradients of the logs, in place. A running
/// maximum passes its gradient to whichever argument was larger; c_t cancels and has no gradient.
template <class Real> struct PeakScanBack {
  int T, F, rows;
  Features<Real> logs, d;           // d: gradients of x and y on entry
  Array<Real> state, d_state;       // at the sequence's start
  Array<Real> decay, x, y, d_decay; // d_decay is overwritten, and so is logs.k
  KOKKOS_FUNCTION void operator()(size_t unit) const {
    const size_t head = unit / F, j = unit % F, own = (head * rows + rows - 1) * F + j, first = head * T * F + j;
    Real before = state(own), slope = d_state(own);
    for (int t = 0; t < T; ++t) { // whether the key is the new maximum
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

template <class Real>
Features<Real> exponential_gradients(const std::string &label, const BackwardCall<Real> &back,
                                     const Features<Real> &logs) {
  const Call<Real> &call = back.call;
  const GatedRecurrence<Real> sum = exponential_sum(label, call, logs, true);
  const Features<Real> d{logs.width, allocate(call, logs.q.extent(0)), allocate(call, logs.k.extent(0))};
  GatedRecurrenceGradient<Real> gradient{d.q, d.k};
  gradient.lambda = allocate(call, sum.lambda.extent(0));
  gated_recurrence_vjp(label, back, sum, gradient);
  parallel_loop(label + "::peaks", call.shape.heads() * logs.width,
                PeakScanBack<Real>{call.shape.T, logs.width, call.state_shape.rows, logs, d, call.state, back.d.state,
                                   sum.lambda, sum.q, sum.k, gradient.lambda});
  return d;
}

template void exponential_chunked(const std::string &, const Call<float> &, const Features<float> &);
template void exponential_chunked(const std::string &, const Call<double> &, const Features<double> &);
template Features<float> exponential_gradients(const std::string &, const BackwardCall<float> &,
                                               const Features<float> &);
template Features<double> exponential_gradients(const std::string &, const BackwardCall<double> &,
                                                const Features<double> &);

} // namespace recollect::variants
