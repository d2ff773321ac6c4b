// SPDX-License-Identifier: Apache-2.0
// Algorithm 1 of 004 on any type of number, so that its operations can be counted by running it.
#pragma once
#include "theory/support/counted_layers.hpp"
#include "theory/variational/associations.hpp"

namespace recollect::theory {
inline const ParamSpec head_width = integer_param("d", 16, 4, 48, "head width");

/// Algorithm 1 without feature map and normaliser, line by line.
template <class N> struct Algorithm1 {
  Grid<N> A, S;
  Algorithm1(int d, double lambda0) : A(grid<N>(d, d)), S(grid<N>(d, d)) {
    for (int i = 0; i < d; ++i) A[i][i] = N(1 / lambda0);
  }
  static Row<N> over(Row<N> x, double length) {
    for (N &y : x) y = y / N(length);
    return x;
  }
  static double length(const Row<N> &x) { return std::sqrt(inner(x, x).value); }

  static Row<N> penalty(const Grid<N> &Wu, const Row<N> &k) { // line 10
    const Row<N> u = times(Wu, k);
    return over(u, length(u) * std::sqrt(double(u.size())));
  }
  void update(const Row<N> &u) { // lines 12-14
    const Row<N> z = times(A, u);
    const N delta = N(1) + inner(u, z);
    add_outer(A, over(z, -delta.value), z);
  }
  void write(const Row<N> &k, const Row<N> &v) { // lines 19-22
    const Row<N> alpha = times(A, k);
    add_outer(S, difference(v, times(S, k)), over(alpha, length(alpha)));
  }
};

/// T tokens of width d with unit keys, and the matrix W_u of Algorithm 1.
struct TokenRun {
  Sequence s;
  Dense Wu;
  TokenRun(int T, int d, Seed seed) : Wu(normal_matrix(d, d, seed, "algorithm 1/W_u")) {
    s = random_sequence({1, 1, T, d, d}, seed);
    s.w.clear();
    for (int t = 0; t < T; ++t) append_row(s.w, times(Wu, row(s.k, t, d))); // the layer scales w to length 1/sqrt d
  }
};

struct Cost {
  double products = 0;
  Vector reads;
};
/// If `learned`, u = W_u k is computed, and counted as well; else u is given.
inline Cost vla_cost(const TokenRun &run, bool learned) {
  const int d = run.s.shape.Dk;
  const Tokens<Counted> x(run.s);
  const Grid<Counted> Wu = grid_of<Counted>(run.Wu.data, d, d);
  Algorithm1<Counted> memory(d, 0.1);
  Cost cost;
  for (size_t t = 0; t < x.k.size(); ++t) {
    Row<Counted> u = Algorithm1<Counted>::penalty(Wu, x.k[t]), read;
    cost.products += count([&] {
      if (learned) u = Algorithm1<Counted>::penalty(Wu, x.k[t]);
      memory.update(u);
      memory.write(x.k[t], x.v[t]);
      read = times(memory.S, x.q[t]);
    });
    for (const Counted &y : read) cost.reads.push_back(y.value);
  }
  return cost;
}
inline double linear_cost(const TokenRun &run) {
  return count([x = Tokens<Counted>(run.s)] { linear_reads(x); });
}
inline double delta_cost(const TokenRun &run) {
  return count([x = Tokens<Counted>(run.s)] { delta_reads(x); });
}
} // namespace recollect::theory
