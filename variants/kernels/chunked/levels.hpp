// SPDX-License-Identifier: Apache-2.0
// Log-linear attention (Guo et al. 2025, arXiv:2506.04761; fla's fla/ops/log_linear_attn/naive.py): the past is divided
// as in a Fenwick tree, and each level of the tree has its own state and its own weight when it is read.
//
// Steps are counted from 0. At step t, level 0 holds step t only. Level l >= 1 is empty if bit l - 1 of t is 0.
// Otherwise level l holds the 2^(l-1) steps before m, the last multiple of 2^(l-1) with m <= t. When bits 0 ... b - 1
// of t turn from 1 to 0, the states of levels 0 ... b are merged into level b + 1.
//
// The chunked form runs each level l >= 1 as a layer whose state is reset every 2^l steps. In the first 2^(l-1) of
// these steps the state is written, in the other 2^(l-1) it is read. This takes O(T log T) time and linear memory.
#pragma once
#include "variants/kernels/common/elementwise.hpp"
#include "variants/kernels/common/rows.hpp"

namespace recollect::variants {

/// Number of levels besides level 0: the bits of T - 1.
inline int levels_of(int T) {
  int levels = 0;
  while ((T - 1) >> levels) ++levels;
  return levels;
}

/// What happens to a level at step t: it is read if is_full(), written if writes(), and its state is reset if begins().
struct Level {
  int level;
  KOKKOS_FUNCTION bool is_full(int t) const { return level == 0 || (t >> (level - 1)) % 2 == 1; }
  KOKKOS_FUNCTION bool writes(int t) const { return level == 0 || !is_full(t); }
  KOKKOS_FUNCTION bool begins(int t) const { return t % (1 << level) == 0; }
};

/// The weight of a level at a step: w_t[level mod Dk], or 1 if w is not given.
template <class Real> struct LevelWeights {
  bool given;
  int Dk;
  Array<Real> w; // [B,H,T,Dk]
  explicit LevelWeights(const Call<Real> &call) : given(call.has("w")), Dk(call.shape.Dk), w(call.w) {}
  KOKKOS_FUNCTION Real operator()(size_t step, int level) const { return given ? w(step * Dk + level % Dk) : Real(1); }
};

/// Advances row i of the states of all levels by step t, and returns what is read. The row has the levels one after
/// another (0, 1, 2 ...), Dk numbers each.
template <class Real, class Move> struct LevelRows {
  Move move;
  LevelWeights<Real> weight;
  KOKKOS_FUNCTION Real operator()(const Head<Real> &h, int t, int i, Real *s) const {
    const size_t step = h.index * h.T + t;
    if (t > 0) {
      int top = 1;
      while (!Level{top}.is_full(t)) ++top;
      for (int j = 0; j < top * h.Dk; ++j) s[top * h.Dk + j % h.Dk] += s[j], s[j] = 0;
    }
    const Real write = h.beta[t] * h.v(t)[i];
    for (int j = 0; j < h.Dk; ++j) s[j] = write * h.k(t)[j];
    Real read = weight(step, 0) * dot(s, h.q(t), h.Dk);
    for (int l = 1; t >> (l - 1); ++l)
      if (Level{l}.is_full(t)) {
        move(h, t, s + l * h.Dk);
        read += weight(step, l) * dot(s + l * h.Dk, h.q(t), h.Dk);
      }
    return read;
  }
};

/// The definition. Level 0 is the write beta_t v_t k_t^T of step t. The layer supplies move(head, t, s), which advances
/// a row of another level by step t. `Move` is a class, because CUDA builds crash when a lambda without captures is
/// part of another functor.
template <class Real, class Move> void recurrent_levels(const std::string &label, Call<Real> call, const Move &move) {
  call.state_shape = {call.shape.Dv, (levels_of(call.shape.T) + 1) * call.shape.Dk};
  call.state = filled(call, call.shape.heads() * call.state_shape.size(), Real(0));
  recurrent_rows(label, call, LevelRows<Real, Move>{move, LevelWeights<Real>(call)});
}

/// Returns the call that runs one level as a layer. Queries are multiplied by the level's weight at steps that read the
/// level. Strengths are nonzero only at steps that write the level. The gate is 0 where the level's state is reset.
template <class Real> Call<Real> call_of(const Call<Real> &call, int level) {
  Call<Real> one = call;
  one.q = allocate(call, call.q.extent(0)), one.o = allocate(call, call.o.extent(0));
  one.alpha = allocate(call, call.steps()), one.beta = allocate(call, call.steps());
  one.state_shape = {call.shape.Dv, call.shape.Dk};
  one.state = filled(call, call.shape.heads() * one.state_shape.size(), Real(0));
  one.stateless = true;
  const Level is{level};
  const LevelWeights<Real> weight(call);
  const Array<Real> q = call.q, alpha = call.alpha, beta = call.beta, its_q = one.q, its_alpha = one.alpha,
                    its_beta = one.beta;
  const int T = call.shape.T, D = call.shape.Dk;
  parallel_loop(
      "level", call.steps(), KOKKOS_LAMBDA(const size_t step) {
        const int t = int(step % T);
        const Real read = is.is_full(t) ? weight(step, level) : Real(0);
        for (size_t j = step * D; j < (step + 1) * D; ++j) its_q(j) = read * q(j);
        its_alpha(step) = is.begins(t) ? Real(0) : alpha(step);
        its_beta(step) = is.writes(t) ? beta(step) : Real(0);
      });
  return one;
}

/// Runs run(call) for every level and sums the outputs.
template <class Real, class Run> void by_levels(const Call<Real> &call, const Run &run) {
  fill(call.o, Real(0));
  for (int level = 0; level <= levels_of(call.shape.T); ++level) {
    const size_t mark = call.arena->mark();
    const Call<Real> one = call_of(call, level);
    run(one);
    add(one.o, call.o);
    call.arena->release(mark);
  }
}

/// Adds a level's gradients to the gradients of the inputs, which all levels share.
template <class Real> struct LevelGradient {
  int level, T, D;
  LevelWeights<Real> weight;
  Array<Real> q, its_q, its_alpha, its_beta, d_q, d_alpha, d_beta, d_w; // its_...: gradients of this level
  KOKKOS_FUNCTION void operator()(size_t step) const {
    const Level is{level};
    const int t = int(step % T);
    if (is.is_full(t)) {
      const Real read = weight(step, level);
      Real along = 0;
      for (size_t j = step * D; j < (step + 1) * D; ++j) d_q(j) += read * its_q(j), along += q(j) * its_q(j);
      if (weight.given) d_w(step * D + level % D) += along;
    }
    if (!is.begins(t)) d_alpha(step) += its_alpha(step);
    if (is.writes(t)) d_beta(step) += its_beta(step);
  }
};

/// Calls vjp(backward_call) for every level with back.d.o, and sums the gradients.
template <class Real, class Run> void by_levels_vjp(const BackwardCall<Real> &back, const Run &vjp) {
  const Call<Real> &call = back.call;
  const Array<Real> sums[] = {back.d.q, back.d.k, back.d.v, back.d.alpha, back.d.beta, back.d.w};
  for (const Array<Real> &d : sums) fill(d, Real(0)); // nvcc rejects a braced list of arrays here
  for (int level = 0; level <= levels_of(call.shape.T); ++level) {
    const size_t mark = call.arena->mark();
    BackwardCall<Real> one{call_of(call, level), back.d};
    for (Array<Real> *d : {&one.d.q, &one.d.k, &one.d.v, &one.d.alpha, &one.d.beta}) *d = allocate(call, d->extent(0));
    one.d.state = filled(call, one.call.state.extent(0), Real(0));
    vjp(one);
    parallel_loop("level::gradients", call.steps(),
                  LevelGradient<Real>{level, call.shape.T, call.shape.Dk, LevelWeights<Real>(call), call.q, one.d.q,
                                      one.d.alpha, one.d.beta, back.d.q, back.d.alpha, back.d.beta, back.d.w});
    add(one.d.k, back.d.k), add(one.d.v, back.d.v);
    call.arena->release(mark);
  }
}

/// Descriptor fields that both log-linear layers share.
inline Variant levels_variant() {
  Variant v;
  v.family = "gated";
  v.differs = "levels $l$ and $l + Dk$ share their weight";
  v.layout = "";
  v.state_shape = [](const Shape &, const Params &) { return StateShape{}; };
  v.inputs = {{"beta", false, "strength of the write"},
              {"alpha", true, "decay of every level's state"},
              {"w", false, "weights of the levels: channel l mod Dk is that of level l", "1"}};
  return v;
}

} // namespace recollect::variants
