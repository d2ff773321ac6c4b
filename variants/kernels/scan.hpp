// SPDX-License-Identifier: Apache-2.0
// Chunked scan of element-wise recurrences, where every (row, column) of the state has a decay of its own and no matrix
// product can carry the chunk: s_t = decay_t s_{t-1} + write_t, o_t = sum over columns of read_t s_t.
//
// The pair (decay, write) composes associatively (Blelloch 1990; Mamba, Gu and Dao 2023), so a chunk is first run
// from zero, together with the product of its decays; the starts follow from these one after the other; then all chunks
// run again from their starts. Rows times `group` chunks are the parallel axis. Decays are multiplied, never their
// logarithms added.
#pragma once
#include "harness/device/device.hpp"

namespace recollect::variants {

/// Rule supplies decay(head, t, i, j), write(head, t, i, j) and read(head, t, i, j) for row i, column j of the state.
template <class Real, class Rule> struct ScanKernel {
  static constexpr int group = 16; // chunks in flight
  int columns;
  Rule rule;

  static size_t work_size(int Dv, int columns) { return size_t(2) * group * Dv * columns; }

  KOKKOS_FUNCTION void operator()(const Team &team, const Head<Real> &h) const {
    const int F = columns, C = h.chunk;
    const Rule step = rule;
    Real *start = h.work, *product = start + size_t(group) * h.Dv * F; // [group,Dv,F] each
    for (int t0 = 0; t0 < h.T; t0 += group * C) {
      const int left = (h.T - t0 + C - 1) / C, chunks = left < group ? left : group;
      each(team, chunks * h.Dv, [=](int unit) { // each chunk from zero
        const int i = unit % h.Dv, begin = t0 + unit / h.Dv * C, end = begin + C < h.T ? begin + C : h.T;
        for (int j = 0; j < F; ++j) {
          Real s = 0, decay = 1;
          for (int t = begin; t < end; ++t) {
            const Real d = step.decay(h, t, i, j);
            s = d * s + step.write(h, t, i, j), decay *= d;
          }
          start[size_t(unit) * F + j] = s, product[size_t(unit) * F + j] = decay;
        }
      });
      team.barrier();
      each(team, h.Dv * F, [=](int element) { // its end becomes the next one's start
        Real carry = h.state[element];
        for (int c = 0; c < chunks; ++c) {
          const size_t at = size_t(c) * h.Dv * F + element;
          const Real next = product[at] * carry + start[at];
          start[at] = carry, carry = next;
        }
        h.state[element] = carry;
      });
      team.barrier();
      each(team, chunks * h.Dv, [=](int unit) { // each chunk from its start
        const int i = unit % h.Dv, begin = t0 + unit / h.Dv * C, end = begin + C < h.T ? begin + C : h.T;
        Real *s = start + size_t(unit) * F;
        for (int t = begin; t < end; ++t) {
          Real read = 0;
          for (int j = 0; j < F; ++j) {
            s[j] = step.decay(h, t, i, j) * s[j] + step.write(h, t, i, j);
            read += step.read(h, t, i, j) * s[j];
          }
          h.o(t)[i] = read;
        }
      });
      team.barrier();
    }
  }
};

template <class Real, class Rule>
void chunked_scan(const std::string &label, const Call<Real> &call, const Rule &rule) {
  using Kernel = ScanKernel<Real, Rule>;
  each_head(label, call, Kernel::work_size(call.shape.Dv, call.state_shape.columns),
            Kernel{call.state_shape.columns, rule});
}

} // namespace recollect::variants
