// SPDX-License-Identifier: Apache-2.0
// Gradients of a chunk's decays, one number per step. A read after step t weights the write at step i by D(t,i). So
// each pair (t,i) contributes to the gradient of the decay of every step s with i < s <= t. Its contribution is the
// weight without the factor of step s:
//
//   d decay_s = sum_{t>=s} sum_{i<s} D(t,s) D(s-1,i) G(t,i)
//
// G(t,i) is the weight of the pair times the gradient of this weight, both without decays. All writes before the chunk
// count as one write, and all reads after the chunk as one read. Nothing is divided by a decay, so decays of 0 have
// gradients, too. The cost is about 2 C multiplications and additions per step, where C is the length of the chunk.
#pragma once
#include "harness/device/tile/tile.hpp"

namespace recollect::variants {

/// Writes the gradients of the n decays to d. G is [n+1,n+1], with rows `ldg` apart. Row t is the read after step t,
/// row n the read after the chunk. Column 0 stands for all writes before the chunk, column i+1 is the write at
/// step i. Reads only G(t,i) with i < t, and row n; overwrites all of G. Contains barriers, but none at the start.
template <class Real>
KOKKOS_FUNCTION void gate_gradient(const Team &team, int n, const Real *decay, Real *G, std::ptrdiff_t ldg, Real *d) {
  constexpr int lanes = on_host ? 64 / sizeof(Real) : 1; // columns per thread at a time
  each(team, (n - 1) / lanes + 1, [=](int bundle) {      // G(s,i) becomes sum_{t>=s} D(t,s) G(t,i)
    const int begin = bundle * lanes, count = n - begin < lanes ? n - begin : lanes;
    Real sum[lanes];
    for (int c = 0; c < count; ++c) sum[c] = G[n * ldg + begin + c];
    for (int s = n - 1; s >= begin; --s) {
      const int wanted = s + 1 - begin < count ? s + 1 - begin : count; // further columns are never read
      Real *const row = G + s * ldg + begin;
      for (int c = 0; c < wanted; ++c) {
        sum[c] += row[c];
        row[c] = sum[c];
        sum[c] *= decay[s];
      }
    }
  });
  team.barrier();
  each(team, n, [=](int s) {
    Real sum = 0, product = 1; // D(s-1,i)
    for (int column = s; column >= 0; --column) {
      sum += product * G[s * ldg + column];
      if (column > 0) product *= decay[column - 1];
    }
    d[s] = sum;
  });
  team.barrier();
}

} // namespace recollect::variants
