// SPDX-License-Identifier: Apache-2.0
// Decays of the n steps of a chunk: none, one number per step, or one number per step and channel. D(t,i) is the
// product of the decays of steps i+1 ... t. Instead of a step, t or i may be the start of a chunk or block (the moment
// before its first step) or its end (the moment after its last step): D(t, start of the chunk) includes the first
// step's decay. All decays are computed as such products, never as quotients or as exponentials of differences of
// summed logarithms. Hence nothing overflows, and a pair of steps whose decay D(t,i) is 1 keeps full precision, however
// small the decays before step i are.
//
// A block has `sub` steps. With one number per step, D(t,i) of steps in two blocks is D(t, start of t's block) times
// D(start of t's block, i). With one number per channel, each pair of steps within a block is weighted separately. All
// other pairs come from matrix products, one for each block: the block's queries, decayed since the block's start,
// times all earlier keys, decayed up to the block's start (GLA, Yang et al. 2023, secondary chunking).
#pragma once
#include "harness/device/tile/tile.hpp"

namespace recollect::variants {

/// Rows x_m, m < count, for example queries. Row m reads the state after the first tau(m) steps of the chunk.
struct Reads {
  int count, first, stride;
  KOKKOS_FUNCTION int tau(int m) const { return first + stride * m; }
  /// The first row that reads after more than `t` steps.
  KOKKOS_FUNCTION int after(int t) const {
    const int m = t < first ? 0 : (t - first) / stride + 1;
    return m < count ? m : count;
  }
  KOKKOS_FUNCTION tile::Staircase staircase() const { return {first, stride}; }
};

template <class Real> struct Decays {
  static constexpr int sub = on_host ? 8 : 16;
  static constexpr int lanes = on_host ? 64 / sizeof(Real) : 1; // channels per thread at a time

  int n = 0, F = 0, width = 0; // n: steps; F: channels; width: 0 without decay, 1: one number per step, F: per channel
  std::ptrdiff_t ld = 0;       // pitch of `rows`
  const Real *decay = nullptr; // [n,width]
  Real *product = nullptr;     // [blocks,width] product of the decays of a block's steps
  // [blocks + 1,width] D(start of a block, start of the chunk); the last row has the product of all steps.
  Real *first = nullptr;
  Real *last = nullptr;   // [blocks,width] D(end of the chunk, end of a block)
  Real *inside = nullptr; // [n] one number per step: D(t, start of its block)
  Real *since = nullptr;  // [n] one number per step: D(t, start of the chunk)
  Real *ahead = nullptr;  // [n] one number per step: D(end of the chunk, t)
  Real *same = nullptr;   // [n,sub] one number per step: D(t, i) for i in the same block
  Real *until = nullptr;  // [blocks,n] one number per step: D(start of a block, i) for i before it
  Real *rows = nullptr;   // [n,F] if channels decay: key p_i times D(start of a block, i)
  // [F] If channels decay, on a CPU: each channel's product so far, because a CPU goes through memory row by row.
  Real *running = nullptr;

  KOKKOS_FUNCTION void place(Stack<Real> &stack, int most, int channels, int decay_width) {
    const int blocks = (most - 1) / sub + 1;
    F = channels, width = decay_width, ld = tile::pitch<Real>(F);
    if (width == 0) return;
    product = stack.take(size_t(blocks) * width);
    first = stack.take(size_t(blocks + 1) * width);
    last = stack.take(size_t(blocks) * width);
    if (width > 1) {
      rows = stack.take(most * ld);
      if constexpr (on_host) running = stack.take(F);
    } else {
      inside = stack.take(most), since = stack.take(most), ahead = stack.take(most);
      same = stack.take(size_t(most) * sub);
      until = stack.take(size_t(blocks) * most);
    }
  }

  KOKKOS_FUNCTION int blocks() const { return (n - 1) / sub + 1; }
  KOKKOS_FUNCTION int end_of(int block) const { return (block + 1) * sub < n ? (block + 1) * sub : n; }
  /// Product of all steps' decays in channel j.
  KOKKOS_FUNCTION Real total(int j) const {
    return width == 0 ? Real(1) : first[size_t(blocks()) * width + (width > 1 ? j : 0)];
  }

  /// Fills the tables for `steps` steps. Contains barriers, which do not wait for asynchronous copies.
  RECOLLECT_IN_LINE void prepare(const Team &team, int steps, const Real *factors) {
    n = steps, decay = factors;
    if (width == 0) return;
    const Decays d = *this;
    const int blocks = this->blocks(), width = this->width;
    if (width == 1) {
      each(team, n, [=](int t) {
        const int begin = t / sub * sub;
        Real factors[sub], running = 1; // all loads are issued before the first use, so that they overlap
        RECOLLECT_UNROLL
        for (int r = 0; r < sub; ++r) factors[r] = begin + r <= t ? d.decay[begin + r] : Real(1);
        RECOLLECT_UNROLL
        for (int r = sub - 1; r >= 0; --r) {
          if (begin + r <= t) d.same[size_t(t) * sub + r] = running;
          running *= factors[r];
        }
        d.inside[t] = running;
        if (t + 1 == d.end_of(t / sub)) d.product[t / sub] = running;
      });
    } else if constexpr (on_host) {
      for (int b = 0; b < blocks; ++b) {
        Real *const product = this->product + size_t(b) * width;
        for (int j = 0; j < width; ++j) product[j] = decay[size_t(b) * sub * width + j];
        for (int t = b * sub + 1; t < end_of(b); ++t) forget(product, t);
      }
    } else {
      each_column(team, [=](int b, int j) {
        Real running = 1;
        RECOLLECT_UNROLL
        for (int i = 0; i < sub; ++i)
          if (const int t = b * sub + i; t < d.end_of(b)) running *= d.decay[size_t(t) * d.width + j];
        d.product[size_t(b) * d.width + j] = running;
      });
    }
    team.meet();
    each(team, width, [=](int j) {
      Real running = 1;
      for (int b = 0; b < blocks; ++b)
        d.first[size_t(b) * width + j] = running, running *= d.product[size_t(b) * width + j];
      d.first[size_t(blocks) * width + j] = running;
      running = 1;
      for (int b = blocks - 1; b >= 0; --b)
        d.last[size_t(b) * width + j] = running, running *= d.product[size_t(b) * width + j];
    });
    if (width == 1)
      each(team, n, [=](int i) {
        const int own = i / sub;
        Real running = d.same[(d.end_of(own) - 1) * size_t(sub) + i % sub];
        for (int b = own + 1; b < blocks; ++b) d.until[size_t(b) * d.n + i] = running, running *= d.product[b];
        Real before = 1;
        for (int b = 0; b < own; ++b) before *= d.product[b];
        d.since[i] = before * d.inside[i], d.ahead[i] = running;
      });
    team.meet();
  }

  /// out_m = factor_m x_m times the decays of the first tau(m) steps: the row that is multiplied by the state at the
  /// chunk's start. Rows have width F; rows of x are `ldx` apart, rows of out `ldo`. With `within_block`, out_m
  /// includes only the decays since the start of the block that contains step tau(m) - 1. A null `factor` is 1.
  RECOLLECT_IN_LINE void from_start(const Team &team, const Reads &reads, const Real *x, std::ptrdiff_t ldx, Real *out,
                                    std::ptrdiff_t ldo, bool within_block = false, const Real *factor = nullptr) const {
    const Decays d = *this;
    if (width <= 1) {
      scale_rows(team, reads.count, x, ldx, out, ldo, [=](int m) {
        const int t = reads.tau(m);
        return (factor ? factor[m] : Real(1)) * (t == 0 || d.width == 0 ? Real(1) : d.since[t - 1]);
      });
      return;
    }
    if constexpr (on_host) {
      for (int b = 0; b < blocks(); ++b) {
        start(within_block ? nullptr : first + size_t(b) * F);
        for (int m = first_row(reads, b), t = b * sub; m < reads.after(end_of(b)); ++m) {
          for (; t < reads.tau(m); ++t) forget(running, t);
          decayed(factor ? factor[m] : Real(1), x + m * ldx, out + m * ldo);
        }
      }
    } else {
      each_column(team, [=](int b, int j) { // all loads come before the first store
        const int begin = d.first_row(reads, b), end = reads.after(d.end_of(b));
        Real decays[sub + 1], rows[sub + 1], running = within_block ? Real(1) : d.first[size_t(b) * d.F + j];
        RECOLLECT_UNROLL
        for (int r = 0; r <= sub; ++r) { // if channels decay, exactly one row reads after each step
          const int m = begin + r, tau = reads.tau(m);
          decays[r] = m < end && tau > b * sub ? d.decay[size_t(tau - 1) * d.F + j] : Real(1);
          rows[r] = m < end ? x[m * ldx + j] * (factor ? factor[m] : Real(1)) : Real(0);
        }
        RECOLLECT_UNROLL
        for (int r = 0; r <= sub; ++r) {
          running *= decays[r];
          if (begin + r < end) out[(begin + r) * ldo + j] = rows[r] * running;
        }
      });
    }
  }

  /// out_i = factor_i p_i D(n - 1, i): the key of the write at step i, as it remains at the chunk's end. A null
  /// `factor` is 1.
  RECOLLECT_IN_LINE void to_end(const Team &team, const Real *p, std::ptrdiff_t ldp, const Real *factor, Real *out,
                                std::ptrdiff_t ldo) const {
    const Decays d = *this;
    if (width <= 1) {
      scale_rows(team, n, p, ldp, out, ldo,
                 [=](int i) { return (factor ? factor[i] : Real(1)) * (d.width ? d.ahead[i] : Real(1)); });
      return;
    }
    if constexpr (on_host) {
      for (int b = blocks() - 1; b >= 0; --b) {
        start(last + size_t(b) * F);
        for (int i = end_of(b) - 1; i >= b * sub; --i) {
          decayed(factor ? factor[i] : Real(1), p + i * ldp, out + i * ldo);
          forget(running, i);
        }
      }
    } else {
      each_column(team, [=](int b, int j) {
        const int begin = b * sub, end = d.end_of(b);
        Real decays[sub], rows[sub], running = d.last[size_t(b) * d.F + j];
        RECOLLECT_UNROLL
        for (int r = 0; r < sub; ++r) { // no branch: all loads are issued before the first use
          const int i = begin + r;
          decays[r] = i < end ? d.decay[size_t(i) * d.F + j] : Real(1);
          rows[r] = i < end ? p[i * ldp + j] * (factor ? factor[i] : Real(1)) : Real(0);
        }
        RECOLLECT_UNROLL
        for (int r = sub - 1; r >= 0; --r)
          if (begin + r < end) {
            out[(begin + r) * ldo + j] = rows[r] * running;
            running *= decays[r];
          }
      });
    }
  }

  /// W(m,i) = row_factor_m factor_i x_m . (D(tau(m) - 1, i) p_i) for i < tau(m), else 0. If channels decay, `within`
  /// must hold the result of from_start() for x with `within_block`. Contains barriers and ends with one.
  template <class AnyTeam>
  RECOLLECT_IN_LINE void weights(const AnyTeam &team, const Reads &reads, const Real *x, std::ptrdiff_t ldx,
                                 const Real *within, std::ptrdiff_t ldin, const Real *p, std::ptrdiff_t ldp,
                                 const Real *row_factor, const Real *factor, Real *W, std::ptrdiff_t ldw) const {
    if (width > 1) {
      pairs_within_blocks(team, reads, x, ldx, p, ldp, W, ldw);
      pairs_of_two_blocks(team, reads, within, ldin, p, ldp, W, ldw);
    } else {
      tile::Product<Real> product{tile::rows(x, ldx), tile::transposed(p, ldp), F};
      product.wanted = reads.staircase();
#if __CUDA_ARCH__ >= 800
      if constexpr (std::is_same<Real, float>::value)
        if (tile::cuda::in_line(team, reads.count, n, product, tile::Product<Real>{},
                                Weighed{*this, reads, row_factor, factor, W, ldw})) {
          team.barrier();
          return;
        }
#endif
      tile::gemm(team, reads.count, n, Real(1), product, {}, Real(0), W, ldw);
    }
    team.barrier();
    apply_decay(team, reads, row_factor, factor, W, ldw);
    team.barrier();
  }

  /// For i < tau(m), multiplies W(m,i) by row_factor_m factor_i and, if there is one decay per step, by D(tau(m) - 1,
  /// i). Sets all other elements to 0. Contains no barrier.
  RECOLLECT_IN_LINE void apply_decay(const Team &team, const Reads &reads, const Real *row_factor, const Real *factor,
                                     Real *W, std::ptrdiff_t ldw) const {
    const Decays d = *this;
    each_row(team, reads.count, [=](int m, int begin, int step) {
      Real *row = W + m * ldw;
      const RowWeights of(d, reads, row_factor, factor, m);
      int i = begin; // each thread keeps its elements, so that no barrier is needed
      for (; i < of.block; i += step) row[i] = of.earlier(row[i], i);
      for (; i < of.tau; i += step) row[i] = of.within(row[i], i);
      for (; i < d.n; i += step) row[i] = 0;
    });
  }

private:
  /// Factors of the elements W(m,i) of row m. The last step that row m reads is tau - 1, and `block` is the first step
  /// of the block of step tau - 1. Steps i < block use earlier(), steps block <= i < tau use within().
  struct RowWeights {
    int block, tau;
    bool decays;
    const Real *until, *same, *factor, *row_factor;
    Real inside, own;

    KOKKOS_FUNCTION RowWeights(const Decays &d, const Reads &reads, const Real *row_factor, const Real *factor, int m)
        : tau(reads.tau(m) < d.n ? reads.tau(m) : d.n), factor(factor), row_factor(row_factor) {
      decays = d.width == 1 && tau > 0;
      const int index = decays ? (tau - 1) / sub : 0;
      block = index * sub;
      own = row_factor ? row_factor[m] : Real(1), inside = decays ? d.inside[tau - 1] : Real(1);
      until = decays ? d.until + size_t(index) * d.n : nullptr; // without decays there are no tables
      same = decays ? d.same + (tau - 1) * std::ptrdiff_t(sub) : nullptr;
    }
    KOKKOS_FUNCTION Real earlier(Real x, int i) const { return by_factors(x * (inside * until[i]), i); }
    KOKKOS_FUNCTION Real within(Real x, int i) const { return by_factors(decays ? x * same[i - block] : x, i); }

  private:
    KOKKOS_FUNCTION Real by_factors(Real x, int i) const {
      if (factor) x *= factor[i];
      return row_factor ? x * own : x;
    }
  };
#if __CUDA_ARCH__ >= 800
  /// Applies RowWeights to the results of a product on tensor cores (tile/cuda.hpp).
  struct Weighed {
    const Decays &d;
    const Reads &reads;
    const Real *row_factor, *factor;
    Real *W;
    std::ptrdiff_t ldw;
    static constexpr bool everywhere = true;
    __device__ void element(int m, int i, Real x) const {
      const RowWeights of(d, reads, row_factor, factor, m);
      W[m * ldw + i] = i < of.block ? of.earlier(x, i) : i < of.tau ? of.within(x, i) : Real(0);
    }
    template <int N>
    __device__ void row(int m, int i, const Real (&x)[N][2]) const { // branches only where all rows agree
      const RowWeights of(d, reads, row_factor, factor, m);
      using Pair = tile::cuda::Pair<Real>;
      const Pair table{d.n % 2 == 0}, result{Pair::aligned(W, ldw)};
      RECOLLECT_UNROLL
      for (int c = 0; c < N; ++c) {
        const int at = i + 8 * c;
        Real first = x[c][0], second = x[c][1];
        if (of.decays && at < of.tau) { // a pair never lies in two blocks; elements from tau on become 0 below
          const bool earlier = at < of.block;
          const auto left = table.load(earlier ? of.until + at : of.same + (at - of.block));
          const Real inside = earlier ? of.inside : Real(1);
          first *= inside * left.first, second *= inside * left.second;
        }
        if (factor && at < of.tau) first *= factor[at], second *= factor[at + 1];
        first = at < of.tau ? first * of.own : Real(0), second = at + 1 < of.tau ? second * of.own : Real(0);
        result.store(first, second, W + m * ldw + at);
      }
    }
  };
#endif

  /// out_i = own(i) x_i for rows of width F; out may be the same array as x.
  template <class Own>
  RECOLLECT_IN_LINE void scale_rows(const Team &team, int rows, const Real *x, std::ptrdiff_t ldx, Real *out,
                                    std::ptrdiff_t ldo, const Own &own) const {
    if constexpr (on_host) {
      for (int i = 0; i < rows; ++i) {
        const Real factor = own(i);
        for (int j = 0; j < F; ++j) out[i * ldo + j] = factor * x[i * ldx + j];
      }
    } else {
      constexpr int side = 32, together = 4; // together: rows that a thread loads before it stores the first
      const int apart = team.size / side;
      for (int i0 = team.rank / side; i0 < rows; i0 += together * apart)
        for (int j = team.rank % side; j < F; j += side) {
          Real scaled[together];
          RECOLLECT_UNROLL
          for (int r = 0; r < together; ++r) {
            const int i = i0 + r * apart;
            scaled[r] = i < rows ? own(i) * x[i * ldx + j] : Real(0);
          }
          RECOLLECT_UNROLL
          for (int r = 0; r < together; ++r)
            if (const int i = i0 + r * apart; i < rows) out[i * ldo + j] = scaled[r];
        }
    }
  }

  /// The first row that reads the state after a step of block b. For b = 0 this includes rows that read before any
  /// step.
  KOKKOS_FUNCTION int first_row(const Reads &reads, int b) const { return b ? reads.after(b * sub) : 0; }

  /// Calls body(block, channel) for all pairs.
  template <class Body> KOKKOS_FUNCTION void each_column(const Team &team, const Body &body) const {
    const int all = width;
    each(team, blocks() * all, [=](int unit) { body(unit / all, unit % all); });
  }

  // Running products on a CPU, one for each of the F channels.
  void start(const Real *from) const { // null: all products start at 1
    for (int j = 0; j < F; ++j) running[j] = from ? from[j] : Real(1);
  }
  void forget(Real *row, int t) const {
    const Real *const factors = decay + size_t(t) * F;
    for (int j = 0; j < F; ++j) row[j] *= factors[j];
  }
  void decayed(Real own, const Real *x, Real *out) const {
    for (int j = 0; j < F; ++j) out[j] = own * x[j] * running[j];
  }

  /// Computes W(m,i) where steps i and tau(m) - 1 are in the same block. Key i is multiplied by the decays between one
  /// row and the next.
  RECOLLECT_IN_LINE void pairs_within_blocks(const Team &team, const Reads &reads, const Real *x, std::ptrdiff_t ldx,
                                             const Real *p, std::ptrdiff_t ldp, Real *W, std::ptrdiff_t ldw) const {
    const Decays d = *this;
    if constexpr (on_host) {
      for (int i = 0; i < n; ++i) {
        const int begin = reads.after(i), end = reads.after(end_of(i / sub));
        Real sums[sub][lanes] = {};                  // one sum for each row that reads key i, and for each channel
        const auto meet = [&](int j0, auto counts) { // counts(c): whether channel c exists
          Real key[lanes];
          for (int c = 0; c < lanes; ++c) key[c] = counts(c) ? p[i * ldp + j0 + c] : Real(0);
          for (int m = begin, t = i + 1; m < end; ++m) {
            for (; t < reads.tau(m); ++t)
              for (int c = 0; c < lanes; ++c) key[c] *= counts(c) ? decay[size_t(t) * F + j0 + c] : Real(0);
            for (int c = 0; c < lanes; ++c) sums[m - begin][c] += key[c] * (counts(c) ? x[m * ldx + j0 + c] : Real(0));
          }
        };
        int j0 = 0;
        for (; j0 + lanes <= F; j0 += lanes) meet(j0, [](int) { return true; });
        if (j0 < F) meet(j0, [left = F - j0](int c) { return c < left; });
        for (int m = begin; m < end; ++m) {
          Real *sum = sums[m - begin];
          for (int half = lanes / 2; half > 0; half /= 2)
            for (int c = 0; c < half; ++c) sum[c] += sum[c + half];
          W[m * ldw + i] = sum[0];
        }
      }
    } else {
      each_row(team, blocks(),
               [=](int b, int lane, int) { pairs_of_block(d, reads, b, lane, x, ldx, p, ldp, W, ldw); });
    }
  }
  /// Computes one block of pairs_within_blocks() by a row of threads. Each thread keeps some channels of all the
  /// block's keys in registers, and decays these keys from one row to the next. The sums over channels are reduced for
  /// `side` pairs together.
  RECOLLECT_IN_LINE static void pairs_of_block(const Decays &d, const Reads &reads, int b, int lane, const Real *x,
                                               std::ptrdiff_t ldx, const Real *p, std::ptrdiff_t ldp, Real *W,
                                               std::ptrdiff_t ldw) {
    constexpr int side = 32, pairs = sub * (sub + 1) / 2, own = sizeof(Real) == 4 ? 2 : 1; // channels per thread
    const int begin = b * sub, end = d.end_of(b), row = reads.after(begin), rows = reads.after(end) - row;
    for (int j0 = lane; j0 - lane < d.F; j0 += own * side) {
      Real keys[sub][own], sums[side];
      const auto keep = [&](int group) { // each thread stores the sum of one of `side` pairs: row r, key i of the block
        const Real sum = sums_across_row(sums);
        const int at = group * side + lane, r = int(sqrtf(2 * at + .25f) - .5f), i = at - r * (r + 1) / 2;
        if (at >= pairs || r >= rows) return;
        Real &weight = W[(row + r) * ldw + begin + i];
        weight = j0 == lane ? sum : weight + sum;
      };
      RECOLLECT_UNROLL
      for (int r = 0; r < sub; ++r) { // if channels decay, exactly one row reads after each step
        Real x_r[own], decay_r[own];
        RECOLLECT_UNROLL
        for (int c = 0; c < own; ++c) {
          const int j = j0 + c * side, t = begin + r;
          const bool is = j < d.F, takes = is && t < end;
          x_r[c] = is && r < rows ? x[(row + r) * ldx + j] : Real(0);
          decay_r[c] = takes ? d.decay[size_t(t) * d.F + j] : Real(1);
          keys[r][c] = takes ? p[t * ldp + j] : Real(0);
        }
        RECOLLECT_UNROLL
        for (int i = 0; i <= r; ++i) {
          Real sum = 0;
          RECOLLECT_UNROLL
          for (int c = 0; c < own; ++c) {
            if (i < r) keys[i][c] *= decay_r[c];
            sum += keys[i][c] * x_r[c];
          }
          const int at = r * (r + 1) / 2 + i;
          sums[at % side] = sum;
          if (at % side == side - 1) keep(at / side);
        }
      }
      RECOLLECT_UNROLL
      for (int s = pairs % side; s < side; ++s) sums[s] = 0;
      keep(pairs / side);
    }
  }

  /// Computes W(m,i) where step i is in an earlier block than step tau(m) - 1.
  template <class AnyTeam>
  RECOLLECT_IN_LINE void pairs_of_two_blocks(const AnyTeam &team, const Reads &reads, const Real *within,
                                             std::ptrdiff_t ldin, const Real *p, std::ptrdiff_t ldp, Real *W,
                                             std::ptrdiff_t ldw) const {
    const Decays d = *this;
    for (int b = 1; b < blocks(); ++b) {
      const int begin = b * sub, lo = reads.after(begin), hi = reads.after(end_of(b)), before = begin - sub;
      each_cell(team, before, F, [=](int i, int j) { d.rows[i * d.ld + j] *= d.product[size_t(b - 1) * d.F + j]; });
      if constexpr (on_host) {
        start(nullptr);
        for (int i = begin - 1; i >= before; --i) {
          decayed(Real(1), p + i * ldp, rows + i * ld);
          forget(running, i);
        }
      } else {
        each(team, F, [=](int j) {
          Real decays[sub], rows[sub], running = 1;
          RECOLLECT_UNROLL
          for (int r = 0; r < sub; ++r)
            decays[r] = d.decay[size_t(before + r) * d.F + j], rows[r] = p[(before + r) * ldp + j];
          RECOLLECT_UNROLL
          for (int r = sub - 1; r >= 0; --r) {
            d.rows[(before + r) * d.ld + j] = rows[r] * running;
            running *= decays[r];
          }
        });
      }
      team.barrier();
      tile::gemm(team, hi - lo, begin, F, Real(1), tile::rows(within + lo * ldin, ldin),
                 tile::transposed<Real>(rows, ld), Real(0), W + lo * ldw, ldw);
      team.barrier();
    }
  }
};

} // namespace recollect::variants
