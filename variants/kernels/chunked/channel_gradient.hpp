// SPDX-License-Identifier: Apache-2.0
// Gradients of a few steps of S_t = S_{t-1} diag(decay_t) + v_t k_t^T, o_t = S_t q_t, with one decay per channel,
// computed from inner products. For one channel, S_t stands for the channel's column of the state, and dS_t for the
// same column of its gradient. Only their inner products with do_t, v_i and each other are needed. The loop runs
// forward over the n steps s. It keeps y_t = do_t . S_s for all t after s, and y_end = dS_n . S_s:
//
//   y_t <- decay_s y_t + k_s (do_t . v_s)
//   dq_s = y_s,   d decay_s = <dS_s, S_{s-1}> = sum_{t>=s} D(t,s) q_t y_t + D(n,s) y_end
//   dk_s = dS_s . v_s = sum_{t>=s} D(t,s) q_t (do_t . v_s) + D(n,s) (dS_n . v_s)
//
// In d decay_s, y_t and y_end are the numbers before step s.
//
// The sums are computed by Horner's scheme. Nothing is divided by a decay, so decays of 0 have gradients, too. With a
// bonus u, a step reads before it writes (gated_recurrence.hpp): q_t reads S_{t-1} + u_t k_t v_t^T. The cost is about 4
// n operations per step and channel, so n should be small.
#pragma once
#include "harness/device/tile/tile.hpp"

namespace recollect::variants {

template <class Real> struct ChannelGradient {
  static constexpr int most = on_host ? 32 : 16;                // largest n
  static constexpr int lanes = on_host ? 64 / sizeof(Real) : 1; // channels per thread at a time
  int n, F;                                                     // numbers of steps and channels
  const Real *decay, *q, *k, *bonus; // [n,F]; if bonus is null, a step writes before it reads
  Real scale;                        // factor of the queries
  const Real *pairs;                 // [n,n] do_t . v_i for i <= t
  std::ptrdiff_t ldp;
  const Real *across;      // [F] dS_n . S_0
  Real *dq, *dk;           // [n,F]; on entry do_t . S_0 and dS_n . v_i, one number per channel
  Real *d_decay, *d_bonus; // [n,F]; null: not computed

  RECOLLECT_IN_LINE void operator()(const Team &team) const {
    each(team, (F - 1) / lanes + 1, [=, *this](int bundle) {
      const int j0 = bundle * lanes;
      if (F - j0 < lanes)
        bonus ? columns<1>(j0, F - j0) : columns<0>(j0, F - j0);
      else
        bonus ? columns<1>(j0, all_lanes()) : columns<0>(j0, all_lanes());
    });
  }

private:
  using all_lanes = std::integral_constant<int, lanes>;

  /// up() calls f(t) for t = begin ... n-1, and down() in reverse. On a GPU the loops are unrolled, so that arrays
  /// indexed by t stay in registers.
  template <class F> RECOLLECT_IN_LINE void up(int begin, const F &f) const {
    if constexpr (on_host) {
      for (int t = begin; t < n; ++t) f(t);
    } else {
      RECOLLECT_UNROLL
      for (int t = 0; t < most; ++t)
        if (t >= begin && t < n) f(t);
    }
  }
  template <class F> RECOLLECT_IN_LINE void down(int begin, const F &f) const {
    if constexpr (on_host) {
      for (int t = n - 1; t >= begin; --t) f(t);
    } else {
      RECOLLECT_UNROLL
      for (int t = most - 1; t >= 0; --t)
        if (t >= begin && t < n) f(t);
    }
  }

  /// Computes channels j0 ... j0 + count - 1. If steps read before they write, `early` is 1, else 0: query q_{s +
  /// early} is the first that reads the state after step s.
  template <int early, class Count> RECOLLECT_IN_LINE void columns(int j0, Count count) const {
    Real y[most][lanes], query[most][lanes], factor[most][lanes], end[lanes], sum[lanes], key[lanes], now[lanes];
    const auto read_later = [&](int t) { return t + early < most && t + early < n; };
    for (int c = 0; c < count; ++c) end[c] = across[j0 + c];
    up(0, [&](int t) {
      const size_t at = size_t(t) * F + j0;
      for (int c = 0; c < count; ++c)
        y[t][c] = dq[at + c], query[t][c] = scale * q[at + c], factor[t][c] = decay[at + c];
    });
    for (int s = 0; s < n; ++s) {
      const size_t own = size_t(s) * F + j0;
      for (int c = 0; c < count; ++c) key[c] = k[own + c], now[c] = decay[own + c];
      if (d_decay) {
        for (int c = 0; c < count; ++c) sum[c] = end[c];
        down(s, [&](int t) {
          if (read_later(t))
            for (int c = 0; c < count; ++c) sum[c] += query[t + early][c] * y[t + early][c];
          if (t > s)
            for (int c = 0; c < count; ++c) sum[c] *= factor[t][c];
        });
        for (int c = 0; c < count; ++c) d_decay[own + c] = sum[c];
      }
      for (int c = 0; c < count; ++c) end[c] = now[c] * end[c] + key[c] * dk[own + c];
      up(s, [&](int t) {
        const Real pair = pairs[t * ldp + s];
        if (t >= s + early)
          for (int c = 0; c < count; ++c) y[t][c] = now[c] * y[t][c] + key[c] * pair;
        if (t == s)
          for (int c = 0; c < count; ++c)
            dq[own + c] = scale * (early ? y[t][c] + pair * bonus[own + c] * key[c] : y[t][c]);
      });
      for (int c = 0; c < count; ++c) sum[c] = dk[own + c];
      down(s, [&](int t) {
        if (read_later(t)) {
          const Real pair = pairs[(t + early) * ldp + s];
          for (int c = 0; c < count; ++c) sum[c] += pair * query[t + early][c];
        }
        if (t > s)
          for (int c = 0; c < count; ++c) sum[c] *= factor[t][c];
      });
      const Real pair = early ? scale * pairs[s * ldp + s] : Real(0); // the step reads its own write
      for (int c = 0; c < count; ++c) dk[own + c] = early ? sum[c] + pair * bonus[own + c] * q[own + c] : sum[c];
      if (early && d_bonus)
        for (int c = 0; c < count; ++c) d_bonus[own + c] = pair * key[c] * q[own + c];
    }
  }
};

} // namespace recollect::variants
