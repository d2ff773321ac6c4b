// SPDX-License-Identifier: Apache-2.0
// Gradients of attention to chosen blocks (blocks.hpp), with the choice of blocks held fixed: p and dz are those of
// block_gradient.hpp, for the pairs of a query and a key that it reads. One kernel finds a query's blocks, computes its
// softmax denominator (if weights are normalised) and dq. Another kernel computes dk and dv of a block of keys, in a
// loop over the queries that chose this block.
#pragma once
#include "variants/kernels/attention/backward.hpp"
#include "variants/kernels/attention/blocks.hpp"

namespace recollect::variants {

template <class Number, class Kernel> struct ChosenPairs {
  using Real = Number;
  Choice<Real> choice;
  Kernel kernel;
  Rows<Real> q, k, v, d_o;
  QueryFacts<Real> facts;

  struct Pair {
    Real p, dz;
  };
  KOKKOS_FUNCTION Pair weigh(size_t head, int t, int i, Real z, Real dp) const {
    const Real l = kernel(head, t, i, z), slope = kernel.slope(head, t, i, z, l);
    if (!kernel.normalised()) return {l, slope * dp};
    const size_t step = head * q.count + t;
    const Real p = math::exp(l - facts.normaliser(step));
    return {p, slope * p * (dp - facts.read(step))};
  }
};

/// Finds the blocks of one query of a head, and computes the query's softmax statistics and dq.
template <class Real, class Kernel> struct ChoosingQuery {
  ChosenPairs<Real, Kernel> pairs;
  Rows<Real> dq;

  KOKKOS_FUNCTION void operator()(size_t step) const {
    const int t = int(step % dq.count), Dk = dq.width, Dv = pairs.v.width;
    const size_t head = step / dq.count;
    const Real *q = pairs.q.at(head, t), *d_o = pairs.d_o.at(head, t);
    pairs.choice.find(step);
    if (pairs.kernel.normalised()) {
      Real peak = 0, mass = 0, along = 0;
      pairs.choice.each_read(step, [&](int i) {
        const Real l = pairs.kernel(head, t, i, dot(q, pairs.k.at(head, i), Dk)),
                   now = mass == 0 || l > peak ? l : peak, keep = mass == 0 ? Real(0) : math::exp(peak - now),
                   add = math::exp(l - now);
        mass = mass * keep + add, along = along * keep + add * dot(d_o, pairs.v.at(head, i), Dv);
        peak = now;
      });
      pairs.facts.normaliser(step) = peak + math::log(mass), pairs.facts.read(step) = along / mass;
    }
    Real *out = dq.at(head, t);
    for (int j = 0; j < Dk; ++j) out[j] = 0;
    pairs.choice.each_read(step, [&](int i) {
      const Real *k = pairs.k.at(head, i);
      const Real dz = pairs.weigh(head, t, i, dot(q, k, Dk), dot(d_o, pairs.v.at(head, i), Dv)).dz;
      for (int j = 0; j < Dk; ++j) out[j] += dz * k[j];
    });
  }
};

/// Computes dk and dv. Each work unit of the launch takes one block of keys; the threads that share a row take one key.
template <class Number, class Kernel> struct ChosenKeys {
  using Real = Number;
  ChosenPairs<Real, Kernel> pairs;
  Rows<Real> dk, dv;

  KOKKOS_FUNCTION void operator()(const Team &team, size_t unit, Real *) const {
    const Choice<Real> &choice = pairs.choice;
    const int e = int(unit % choice.blocks.count), T = dk.count, Dk = dk.width, Dv = dv.width;
    const size_t head = unit / choice.blocks.count;
    const int begin = e * choice.blocks.block, first = choice.causal ? begin : 0;
    each_row(team, choice.end(e, T - 1) - begin, [=, *this](int r, int lane, int lanes) {
      for (int j = lane; j < Dk; j += lanes) dk.at(head, begin + r)[j] = 0;
      for (int c = lane; c < Dv; c += lanes) dv.at(head, begin + r)[c] = 0;
    });
    for (int t = first; t < T; ++t) {
      if (!choice.reads(head * T + t, e)) continue;
      const Real *q = pairs.q.at(head, t), *d_o = pairs.d_o.at(head, t);
      each_row(team, choice.end(e, t) - begin,
               [=, *this](int r, int lane, int lanes) { // the same threads always take the same row
                 const int i = begin + r;
                 const Real z = row_dot<Real>(q, pairs.k.at(head, i), Dk, lane, lanes),
                            dp = row_dot<Real>(d_o, pairs.v.at(head, i), Dv, lane, lanes);
                 const auto pair = pairs.weigh(head, t, i, z, dp);
                 Real *to_k = dk.at(head, i), *to_v = dv.at(head, i);
                 for (int j = lane; j < Dk; j += lanes) to_k[j] += pair.dz * q[j];
                 for (int c = lane; c < Dv; c += lanes) to_v[c] += pair.p * d_o[c];
               });
    }
  }
};

template <class Real, class Kernel>
void chosen_vjp(const std::string &label, const BackwardCall<Real> &back, const Choice<Real> &choice,
                const Kernel &kernel) {
  const Call<Real> &call = back.call;
  const Shape &s = call.shape;
  const size_t kept = kernel.normalised() ? call.steps() : 0;
  const ChosenPairs<Real, Kernel> pairs{choice,
                                        kernel,
                                        rows_of(call.q, s, s.Dk),
                                        rows_of(call.k, s, s.Dk),
                                        rows_of(call.v, s, s.Dv),
                                        rows_of(back.d.o, s, s.Dv),
                                        {allocate(call, kept), allocate(call, kept)}};
  parallel_loop(label + "::queries", call.steps(), ChoosingQuery<Real, Kernel>{pairs, rows_of(back.d.q, s, s.Dk)});
  run<Real>({label + "::keys", s.heads() * choice.blocks.count, 128, call.math}, *call.arena, 0,
            ChosenKeys<Real, Kernel>{pairs, rows_of(back.d.k, s, s.Dk), rows_of(back.d.v, s, s.Dv)});
}

} // namespace recollect::variants
