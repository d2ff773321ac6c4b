// SPDX-License-Identifier: Apache-2.0
// Gradients of a few steps of S_t = S_{t-1} diag(decay_t) + v_t k_t^T, o_t = S_t q_t, whose channels decay each on its
// own, from the inner products of what goes through them. In channel j, S_t is row j of the state, dS_t that of its
// gradient, and all that is needed of either are their products with the do_t, the v_i and each other. Going forward,
//
//   y_t = do_t . S_s   for all t after s, and y_end = dS_n . S_s:   y_t <- decay_s y_t + k_s (do_t . v_s)
//   dq_s = y_s,   d decay_s = <dS_s, S_{s-1}> = sum_{t>=s} D(t,s) q_t y_t + D(n,s) y_end, y before step s
//   dk_s = dS_s . v_s = sum_{t>=s} D(t,s) q_t (do_t . v_s) + D(n,s) (dS_n . v_s)
//
// with the sums by Horner's scheme: nothing is divided by a decay, so that decays of 0 have gradients too. With a bonus u
// steps read before they write (decayed_sum.hpp): q_t meets S_{t-1} + u_t k_t v_t^T. About 4 n operations a step and
// channel: for blocks of steps, not for chunks of any length.
#pragma once
#include "harness/device/tile.hpp"

namespace recollect::variants {

template <class Real> struct ChannelGradient {
  static constexpr int most = on_host ? 32 : 16;                // steps
  static constexpr int lanes = on_host ? 64 / sizeof(Real) : 1; // channels that one thread carries side by side
  int n, F;
  const Real *decay, *q, *k, *bonus; // [n,F]; bonus null: writes before it reads
  Real scale;                        // of q
  const Real *pairs;                 // [n,n] do_t . v_i for i <= t
  std::ptrdiff_t ldp;
  const Real *across;      // [F] dS_n . S_0
  Real *dq, *dk;           // [n,F] on entry do_t . S_0 and dS_n . v_i
  Real *d_decay, *d_bonus; // [n,F], null: not wanted

  KOKKOS_FUNCTION void operator()(const Team &team) const {
    each(team, (F - 1) / lanes + 1, [=, *this](int bundle) {
      const int j0 = bundle * lanes;
      if (F - j0 >= lanes)
        columns(j0, std::integral_constant<int, lanes>());
      else
        columns(j0, F - j0);
    });
  }

private:
  template <class Count> KOKKOS_FUNCTION void columns(int j0, Count count) const {
    const int early = bonus ? 1 : 0; // what is read after step s begins with q_{s + early}
    Real y[most][lanes], end[lanes], sum[lanes];
    for (int c = 0; c < count; ++c) end[c] = across[j0 + c];
    for (int t = 0; t < n; ++t)
      for (int c = 0; c < count; ++c) y[t][c] = dq[size_t(t) * F + j0 + c];
    for (int s = 0; s < n; ++s) {
      const size_t own = size_t(s) * F + j0;
      if (d_decay) {
        for (int c = 0; c < count; ++c) sum[c] = end[c];
        for (int t = n - 1; t >= s; --t) {
          if (t + early < n) {
            const size_t at = size_t(t + early) * F + j0;
            for (int c = 0; c < count; ++c) sum[c] += scale * q[at + c] * y[t + early][c];
          }
          if (t > s)
            for (int c = 0; c < count; ++c) sum[c] *= decay[size_t(t) * F + j0 + c];
        }
        for (int c = 0; c < count; ++c) d_decay[own + c] = sum[c];
      }
      if (early) { // before step s
        const Real pair = pairs[s * ldp + s];
        for (int c = 0; c < count; ++c) {
          const Real u = bonus[own + c], key = k[own + c];
          dq[own + c] = scale * (y[s][c] + pair * u * key);
          if (d_bonus) d_bonus[own + c] = scale * pair * key * q[own + c];
        }
      }
      for (int c = 0; c < count; ++c) end[c] = decay[own + c] * end[c] + k[own + c] * dk[own + c];
      for (int t = s + early; t < n; ++t) {
        const Real pair = pairs[t * ldp + s];
        for (int c = 0; c < count; ++c) y[t][c] = decay[own + c] * y[t][c] + k[own + c] * pair;
      }
      if (!early)
        for (int c = 0; c < count; ++c) dq[own + c] = scale * y[s][c];
      for (int c = 0; c < count; ++c) sum[c] = dk[own + c];
      for (int t = n - 1; t >= s; --t) {
        if (t + early < n) {
          const size_t at = size_t(t + early) * F + j0;
          const Real pair = scale * pairs[(t + early) * ldp + s];
          for (int c = 0; c < count; ++c) sum[c] += pair * q[at + c];
        }
        if (t > s)
          for (int c = 0; c < count; ++c) sum[c] *= decay[size_t(t) * F + j0 + c];
      }
      const Real pair = early ? scale * pairs[s * ldp + s] : Real(0);
      for (int c = 0; c < count; ++c) dk[own + c] = early ? sum[c] + pair * bonus[own + c] * q[own + c] : sum[c];
    }
  }
};

} // namespace recollect::variants
