// SPDX-License-Identifier: Apache-2.0
// Layers as templates on the number type. With a counting number (counted.hpp) they give their cost. Their reads are
// compared with the reads of the registry's layers, to show that both compute the same.
#pragma once
#include "harness/core/types.hpp"
#include "theory/support/counted.hpp"
#include <vector>

namespace recollect::theory {
template <class N> using Row = std::vector<N>;
template <class N> using Grid = std::vector<Row<N>>;
template <class N> Grid<N> grid(int rows, int columns) { return Grid<N>(rows, Row<N>(columns)); }
/// The first head of an array [B,H,T,width].
template <class N> Grid<N> grid_of(const std::vector<double> &array, int rows, int columns) {
  Grid<N> g = grid<N>(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) g[i][j] = N(array[size_t(i) * columns + j]);
  return g;
}
template <class N> std::vector<double> values_of(const Grid<N> &g) {
  std::vector<double> all;
  for (const auto &row : g)
    for (const N &x : row) all.push_back(x.value);
  return all;
}

template <class N> N inner(const Row<N> &a, const Row<N> &b) {
  N sum(0);
  for (size_t i = 0; i < a.size(); ++i) sum = sum + a[i] * b[i];
  return sum;
}
template <class N> Row<N> times(const Grid<N> &M, const Row<N> &x) {
  Row<N> y;
  for (const auto &row : M) y.push_back(inner(row, x));
  return y;
}
/// row += factor * other.
template <class N> void add(Row<N> &row, const N &factor, const Row<N> &other) {
  for (size_t c = 0; c < row.size(); ++c) row[c] = row[c] + factor * other[c];
}
/// M += v k^T.
template <class N> void add_outer(Grid<N> &M, const Row<N> &v, const Row<N> &k) {
  for (size_t i = 0; i < v.size(); ++i) add(M[i], v[i], k);
}
template <class N> Row<N> difference(const Row<N> &a, const Row<N> &b) {
  Row<N> c;
  for (size_t i = 0; i < a.size(); ++i) c.push_back(a[i] - b[i]);
  return c;
}

/// Queries, keys and values of one head.
template <class N> struct Tokens {
  Grid<N> q, k, v;
  explicit Tokens(const Sequence &s)
      : q(grid_of<N>(s.q, s.shape.T, s.shape.Dk)), k(grid_of<N>(s.k, s.shape.T, s.shape.Dk)),
        v(grid_of<N>(s.v, s.shape.T, s.shape.Dv)) {}
};

/// S_t = S_{t-1} + v_t k_t^T, o_t = S_t q_t.
template <class N> Grid<N> linear_reads(const Tokens<N> &x) {
  Grid<N> S = grid<N>(int(x.v[0].size()), int(x.k[0].size())), reads;
  for (size_t t = 0; t < x.k.size(); ++t) {
    add_outer(S, x.v[t], x.k[t]);
    reads.push_back(times(S, x.q[t]));
  }
  return reads;
}

/// S_t = S_{t-1} + (v_t - S_{t-1} k_t) k_t^T, o_t = S_t q_t: DeltaNet with beta = 1.
template <class N> Grid<N> delta_reads(const Tokens<N> &x) {
  Grid<N> S = grid<N>(int(x.v[0].size()), int(x.k[0].size())), reads;
  for (size_t t = 0; t < x.k.size(); ++t) {
    add_outer(S, difference(x.v[t], times(S, x.k[t])), x.k[t]);
    reads.push_back(times(S, x.q[t]));
  }
  return reads;
}

/// For each t, the sum of exp(k_i.q_t) v_i over i <= t and, separately, the sum of the weights exp(k_i.q_t). Each pair
/// (i, t) takes one product per key channel and one per value channel.
template <class N> struct Attention {
  Grid<N> sums;
  Row<N> masses;
  explicit Attention(const Tokens<N> &x) {
    using std::exp; // or the exp of N
    for (size_t t = 0; t < x.k.size(); ++t) {
      Row<N> sum(x.v[0].size());
      N mass(0);
      for (size_t i = 0; i <= t; ++i) {
        const N weight = exp(inner(x.k[i], x.q[t]));
        add(sum, weight, x.v[i]);
        mass = mass + weight;
      }
      sums.push_back(sum), masses.push_back(mass);
    }
  }
  /// The reads: each sum divided by its mass.
  std::vector<double> reads() const {
    std::vector<double> all;
    for (size_t t = 0; t < sums.size(); ++t)
      for (const N &sum : sums[t]) all.push_back(sum.value / masses[t].value);
    return all;
  }
};
} // namespace recollect::theory
