// SPDX-License-Identifier: Apache-2.0
// Gradients of scan.hpp's layers. Like the state S, its gradient is computed element by element; D(t,s) is the product
// of the decays of steps s + 1 ... t, and steps of a chunk are 1 ... C:
//
//   dS_0 = D(C,0) dS_C + sum_t D(t,0) do_t read_t
#pragma once
#include "variants/kernels/common/segments_backward.hpp"
#include "variants/kernels/scan/scan.hpp"

namespace recollect::variants {

/// The forward pass, which saves the states at the chunks' starts.
template <class Number, class Rule> struct ScanSaving : ScanAlgebra<Number, Rule> {
  using Base = ScanAlgebra<Number, Rule>;
  ChunkStates<Number> starts;
  RECOLLECT_IN_LINE void chunk_output(const Team &team, const Chunk &c, const typename Base::Summary &chunk,
                                      const Number *before, Number *after, const typename Base::Reading &x) const {
    Base::copy(team, this->state_size(), before, this->own(starts.of(c)));
    if (after) Base::chunk_output(team, c, chunk, before, after, x); // no other phase computes `after`
  }
  static constexpr bool keeps_start = true;
  const ChunkStates<Number> &saved_states() const { return starts; }
  bool reads_nothing() const { return true; }
};

template <class Rule> struct ScanPass {
  Rule rule;
  int columns;
  template <class Real> void carry(const Head<Real> &h, const Chunk &c, const Real *d_o, int i, Real *dS) const {
    for (int t = c.first + c.n - 1; t >= c.first; --t) {
      const auto row = rule.at(h, t, i);
      const Real given = d_o[size_t(t) * h.Dv + i];
      for (int j = 0; j < columns; ++j) dS[j] = row.decay(j) * (dS[j] + given * row.read(j));
    }
  }
  template <class Real, class Summary>
  RECOLLECT_IN_LINE void operator()(const Team &team, const Head<Real> &h, const Chunk &c, const Real *d_o,
                                    const Summary &out) const {
    const Rule of = rule;
    const int F = columns;
    each_row(team, h.Dv, [=](int i, int first, int side) {
      Real *const end = out.end + size_t(i) * F, *const decay = out.decay + size_t(i) * F;
      for (int j = first; j < F; j += side) end[j] = 0, decay[j] = 1;
      for (int t = c.first + c.n - 1; t >= c.first; --t) {
        const auto row = of.at(h, t, i);
        const Real given = d_o[size_t(t) * h.Dv + i];
        for (int j = first; j < F; j += side) { // each element stays with one thread
          const Real d = row.decay(j);
          end[j] = d * (end[j] + given * row.read(j)), decay[j] *= d;
        }
      }
    });
  }
};

template <class Real, class Rule, class Step>
void scan_vjp(const std::string &label, const BackwardCall<Real> &back, const Rule &rule, const Step &step) {
  Call<Real> call = back.call;
  call.chunk = std::min(call.chunk, longest_segment);
  const ScanState<Real> state{HeadArrays<Real>(call), call.state_shape.columns};
  const ChunkStates<Real> starts(call, state);
  run_chunks(label + "::chunk_states", call, ScanSaving<Real, Rule>{{state, rule}, starts});
  segments_vjp(label, call, back, state, ScanPass<Rule>{rule, state.columns}, step, starts);
}

} // namespace recollect::variants
