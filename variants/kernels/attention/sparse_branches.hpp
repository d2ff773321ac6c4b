// SPDX-License-Identifier: Apache-2.0
// The three branches of native sparse attention. Each branch is softmax attention of every query to a few rows of keys
// and values, times a gate. The layer's output is the sum of the branches. A branch has a `Set`, which says which rows
// its queries read (a step is an index into [heads,T]):
//   each(step, f)     calls f(row) for every row that the query at this step of a head reads
//   reads(step, row)  whether the query at this step reads the row, for a step among readers(row)
//   readers(row)      a range of steps that contains all queries that read the row
// Kernels are functors, because nvcc lost captured pointers of lambdas in headers that several files include.
#pragma once
#include "variants/kernels/attention/blocks.hpp"
#include "variants/kernels/attention/online_softmax.hpp"
#include <cmath>

namespace recollect::variants {

/// The set of the means of all complete blocks.
struct MeansOfBlocks {
  int T, block;
  KOKKOS_FUNCTION int complete(size_t step) const { return (int(step % T) + 1) / block; }
  template <class F> KOKKOS_FUNCTION void each(size_t step, const F &f) const {
    for (int row = 0; row < complete(step); ++row) f(row);
  }
  KOKKOS_FUNCTION bool reads(size_t, int) const { return true; }
  KOKKOS_FUNCTION Range readers(int row) const { return {(row + 1) * block - 1, T}; }
};

/// The set of the last `window` tokens.
struct LastTokens {
  int T, window;
  template <class F> KOKKOS_FUNCTION void each(size_t step, const F &f) const {
    const int t = int(step % T);
    for (int row = t < window ? 0 : t - window + 1; row <= t; ++row) f(row);
  }
  KOKKOS_FUNCTION bool reads(size_t, int) const { return true; }
  KOKKOS_FUNCTION Range readers(int row) const { return {row, T - row < window ? T : row + window}; }
};

/// The set of up to `topk` blocks: the first block, the query's own block up to the query, the block before it, and
/// further earlier blocks, whose mean keys have the largest inner products with the query. If two products are equal,
/// the earlier block wins.
template <class Real> struct SelectedBlocks {
  Blocks<Real> keys; // mean keys of the blocks
  int topk;
  Array<int> best; // [heads,T,topk] indices of blocks, -1 where there are fewer

  /// The definition.
  KOKKOS_FUNCTION bool selects(size_t head, int t, int e, const Real *q) const {
    const int here = t / keys.block;
    return e == 0 || e == here || e == here - 1 || keys.among_best(head, e, q, here - 1, topk - 3, 1);
  }
  KOKKOS_FUNCTION void find(size_t step, const Real *q, Real *scores) const {
    const int here = int(step % keys.T) / keys.block;
    int *const chosen = best.data() + step * topk;
    int found = keys.find_best(step / keys.T, q, here - 1, topk - 3, chosen, scores, 1);
    chosen[found++] = 0;
    if (here > 0) chosen[found++] = here;
    if (here > 1) chosen[found++] = here - 1;
    while (found < topk) chosen[found++] = -1;
  }
  template <class F> KOKKOS_FUNCTION void each(size_t step, const F &f) const {
    const int *const chosen = best.data() + step * topk, end = int(step % keys.T) + 1;
    for (int b = 0; b < topk && chosen[b] >= 0; ++b)
      for (int row = chosen[b] * keys.block; row < end && row < (chosen[b] + 1) * keys.block; ++row) f(row);
  }
  KOKKOS_FUNCTION bool reads(size_t step, int row) const {
    for (size_t b = step * topk; b < (step + 1) * topk; ++b)
      if (best(b) == row / keys.block) return true;
    return false;
  }
  KOKKOS_FUNCTION Range readers(int row) const { return {row, keys.T}; }
};
template <class Real> struct FindBlocks {
  SelectedBlocks<Real> set;
  Array<Real> q, scores;
  KOKKOS_FUNCTION void operator()(size_t step) const {
    set.find(step, q.data() + step * set.keys.width, scores.data() + step * set.topk);
  }
};

/// One branch. Called for a step, it writes the query's output before the gate, and the log of the softmax denominator.
template <class Real, class Set> struct Branch {
  Set set;
  Real scale;
  Rows<Real> q, k, v, o;
  Array<Real> normaliser, gate;
  int gates; // distance between the gates of consecutive steps

  KOKKOS_FUNCTION Real logit(size_t step, int row) const {
    return scale * dot(q.at(0, int(step)), k.at(step / q.count, row), q.width);
  }
  KOKKOS_FUNCTION void operator()(size_t step) const {
    Real *const out = o.at(0, int(step)), peak = 0, mass = 0;
    for (int c = 0; c < o.width; ++c) out[c] = 0;
    set.each(step, [&](int row) {
      const Real z = logit(step, row), now = mass == 0 || z > peak ? z : peak,
                 keep = mass == 0 ? Real(0) : math::exp(peak - now), add = math::exp(z - now);
      const Real *const value = v.at(step / q.count, row);
      for (int c = 0; c < o.width; ++c) out[c] = out[c] * keep + add * value[c];
      mass = mass * keep + add, peak = now;
    });
    for (int c = 0; mass > 0 && c < o.width; ++c) out[c] /= mass;
    normaliser(step) = mass > 0 ? peak + math::log(mass) : Real(0);
  }
};

/// The definition: softmax attention of query t to the rows 0 ... n-1 of the branch that `sees` accepts. Adds the
/// result times the gate to o_t. Scratch per head: [n]. Barriers inside.
template <class Real, class Set, class Sees>
KOKKOS_FUNCTION void add_read(const Team &team, const Head<Real> &h, int t, const Branch<Real, Set> &branch, int n,
                              const Sees &sees) {
  if (n == 0) return;
  Real *const p = h.work;
  const size_t step = h.index * h.T + t;
  each(team, n, [&](int i) { p[i] = sees(i) ? branch.logit(step, i) : -Real(HUGE_VAL); });
  team.barrier();
  soften(team, n, p);
  team.barrier();
  each(team, h.Dv, [&](int c) {
    Real sum = 0;
    for (int i = 0; i < n; ++i) sum += p[i] * branch.v.at(h.index, i)[c];
    h.o(t)[c] += branch.gate(step * branch.gates) * sum;
  });
  team.barrier();
}

/// For the query at one step: writes the gate's gradient, and adds the branch's contribution to dq.
template <class Real, class Set> struct BranchQueries {
  Branch<Real, Set> branch;
  Rows<Real> d_o, dq;
  Array<Real> d_gate;
  KOKKOS_FUNCTION void operator()(size_t step) const {
    const Real *const grad = d_o.at(0, int(step)), read = dot(grad, branch.o.at(0, int(step)), d_o.width),
                      gate = branch.gate(step * branch.gates);
    d_gate(step * branch.gates) = read;
    branch.set.each(step, [&](int row) {
      const size_t head = step / dq.count;
      const Real p = math::exp(branch.logit(step, row) - branch.normaliser(step)),
                 dz = branch.scale * gate * p * (dot(grad, branch.v.at(head, row), d_o.width) - read);
      const Real *const key = branch.k.at(head, row);
      Real *const out = dq.at(0, int(step));
      for (int j = 0; j < dq.width; ++j) out[j] += dz * key[j];
    });
  }
};
/// Computes dk and dv of one row.
template <class Real, class Set> struct BranchKeys {
  Branch<Real, Set> branch;
  Rows<Real> d_o, dk, dv;
  KOKKOS_FUNCTION void operator()(size_t at) const {
    const size_t head = at / dk.count;
    const int row = int(at % dk.count), T = d_o.count;
    Real *const to_k = dk.at(head, row), *const to_v = dv.at(head, row);
    for (int j = 0; j < dk.width; ++j) to_k[j] = 0;
    for (int c = 0; c < dv.width; ++c) to_v[c] = 0;
    const Range readers = branch.set.readers(row);
    for (int t = readers.begin; t < readers.end; ++t) {
      const size_t step = head * T + t;
      if (!branch.set.reads(step, row)) continue;
      const Real *const grad = d_o.at(head, t), *const query = branch.q.at(head, t);
      const Real p = branch.gate(step * branch.gates) * math::exp(branch.logit(step, row) - branch.normaliser(step)),
                 dz = branch.scale * p *
                      (dot(grad, branch.v.at(head, row), dv.width) - dot(grad, branch.o.at(head, t), dv.width));
      for (int j = 0; j < dk.width; ++j) to_k[j] += dz * query[j];
      for (int c = 0; c < dv.width; ++c) to_v[c] += p * grad[c];
    }
  }
};

/// The layer's three branches for one call.
template <class Real> struct SparseBranches {
  Branch<Real, MeansOfBlocks> compressed;
  Branch<Real, SelectedBlocks<Real>> selected;
  Branch<Real, LastTokens> sliding;
  template <class F> void each(const F &f) const { f(compressed), f(selected), f(sliding); }
};
inline Shape with_width(Shape shape, int width) {
  shape.Dk = width;
  return shape;
}
template <class Real> SparseBranches<Real> sparse_branches(const Call<Real> &call, Real scale) {
  const Shape &s = call.shape;
  const Params &p = call.params;
  const int block = p.integer("block");
  const Blocks<Real> keys = blocks_of(call.k, s, block), values = blocks_of(call.v, with_width(s, s.Dv), block);
  const int topk = std::min(p.integer("topk"), std::max(keys.count, 3));
  const SelectedBlocks<Real> chosen{keys, topk, call.arena->template take<int>(call.steps() * topk)};
  const auto branch = [&](auto set, const Rows<Real> &k, const Rows<Real> &v, const Array<Real> &gate, int gates) {
    return Branch<Real, decltype(set)>{set,
                                       scale,
                                       rows_of(call.q, s, s.Dk),
                                       k,
                                       v,
                                       rows_of(allocate(call, call.steps() * s.Dv), s, s.Dv),
                                       allocate(call, call.steps()),
                                       gate,
                                       gates};
  };
  const Rows<Real> k = rows_of(call.k, s, s.Dk), v = rows_of(call.v, s, s.Dv);
  return {branch(MeansOfBlocks{s.T, block}, {keys.means, keys.count, s.Dk}, {values.means, keys.count, s.Dv},
                 call.alpha, 1),
          branch(chosen, k, v, call.beta, 1), branch(LastTokens{s.T, p.integer("window")}, k, v, call.lambda, s.Dk)};
}

/// Chooses the blocks of the selected branch, then computes the outputs of all branches.
template <class Real>
void read_branches(const std::string &label, const Call<Real> &call, const SparseBranches<Real> &branches) {
  const Array<Real> scores = allocate(call, call.steps() * branches.selected.set.topk);
  parallel_loop(label + "::choice", call.steps(), FindBlocks<Real>{branches.selected.set, call.q, scores});
  branches.each([&](const auto &branch) { parallel_loop(label + "::branch", call.steps(), branch); });
}

template <class Real> struct SumOfBranches {
  SparseBranches<Real> branches;
  Array<Real> o;
  KOKKOS_FUNCTION void operator()(size_t at) const {
    const size_t step = at / size_t(branches.sliding.o.width);
    const auto term = [=](const auto &b) { return b.gate(step * size_t(b.gates)) * b.o.data(at); };
    o(at) = term(branches.compressed) + term(branches.selected) + term(branches.sliding);
  }
};

/// Adds to a row's gradient the contributions of the selected branch and of the compressed branch, which reads the mean
/// of the row's block.
template <class Real> struct AddBlocks {
  MeansOfBlocks set;
  Rows<Real> means, selected, out;
  KOKKOS_FUNCTION void operator()(size_t at) const {
    const size_t row = at / size_t(out.width), head = row / size_t(out.count);
    const int e = int(row % out.count) / set.block, c = int(at % out.width);
    const bool complete = (e + 1) * set.block <= set.T;
    out.data(at) += selected.data(at) + (complete ? means.at(head, e)[c] / Real(set.block) : Real(0));
  }
};

template <class Real> void branches_vjp(const std::string &label, const BackwardCall<Real> &back, Real scale) {
  const Call<Real> &call = back.call;
  const Shape &s = call.shape;
  const SparseBranches<Real> branches = sparse_branches(call, scale);
  read_branches(label, call, branches);
  fill(back.d.q, Real(0)), fill(back.d.lambda, Real(0));
  const Rows<Real> d_o = rows_of(back.d.o, s, s.Dv), dq = rows_of(back.d.q, s, s.Dk), dk = rows_of(back.d.k, s, s.Dk),
                   dv = rows_of(back.d.v, s, s.Dv);
  const auto gradients = [&](const auto &branch, const Array<Real> &d_gate, const Rows<Real> &to_k,
                             const Rows<Real> &to_v) {
    using Set = std::decay_t<decltype(branch.set)>;
    parallel_loop(label + "::queries", call.steps(), BranchQueries<Real, Set>{branch, d_o, dq, d_gate});
    parallel_loop(label + "::keys", s.heads() * size_t(to_k.count), BranchKeys<Real, Set>{branch, d_o, to_k, to_v});
  };
  const auto scratch = [&](const Rows<Real> &like) {
    return Rows<Real>{allocate(call, s.heads() * like.count * like.width), like.count, like.width};
  };
  const Rows<Real> mean_k = scratch(branches.compressed.k), mean_v = scratch(branches.compressed.v),
                   block_k = scratch(dk), block_v = scratch(dv);
  gradients(branches.compressed, back.d.alpha, mean_k, mean_v);
  gradients(branches.selected, back.d.beta, block_k, block_v);
  gradients(branches.sliding, back.d.lambda, dk, dv);
  parallel_loop(label + "::sum", dk.data.extent(0), AddBlocks<Real>{branches.compressed.set, mean_k, block_k, dk});
  parallel_loop(label + "::sum", dv.data.extent(0), AddBlocks<Real>{branches.compressed.set, mean_v, block_v, dv});
}

} // namespace recollect::variants
