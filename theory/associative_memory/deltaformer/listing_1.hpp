// SPDX-License-Identifier: Apache-2.0
// 000 Listing 1 and the recursion that it replaces, for any number type N: float as in the paper, double for precise
// values, and a type that counts operations (counted.hpp) for costs.
//
//   naive    u_t = v_t - sum_{i<t} A(t,i) u_i
//   chunked  for each chunk: subtract from V what the chunk reads of earlier chunks' u, then multiply by the inverse
//            of the chunk's own block of I + A
//
// A(t,i) = k_i . k_t, or the softmax over i < t of k_i . k_t / sqrt d. The softmax of a chunk's rows is taken
// separately over the keys of earlier chunks and over the chunk's own keys. The logarithms of the two normalisers give
// the weights with which the two are merged.
#pragma once
#include "theory/support/counted_layers.hpp"
#include "theory/support/layer_points.hpp"

namespace recollect::theory::listing {
template <class N> Grid<N> grid(const Dense &m) {
  Grid<N> g(m.rows);
  for (int i = 0; i < m.rows; ++i)
    for (int j = 0; j < m.columns; ++j) g[i].push_back(N(m(i, j)));
  return g;
}

enum class Weights { linear, softmax };

/// The scores of k_t against the keys begin ... end-1; for softmax divided by sqrt d.
template <class N> Row<N> scores(const Grid<N> &K, size_t t, size_t begin, size_t end, Weights weights) {
  Row<N> s;
  for (size_t i = begin; i < end; ++i) s.push_back(inner(K[i], K[t]));
  if (weights == Weights::softmax)
    for (N &x : s) x = x / N(std::sqrt(double(K[t].size())));
  return s;
}

/// Replaces the scores by their softmax and returns the logarithm of the sum of their exponentials.
template <class N> N soften(Row<N> &s) {
  using std::exp, std::log; // or N's own functions
  N mass(0);
  for (N &x : s) x = exp(x), mass = mass + x;
  for (N &x : s) x = x / mass;
  return log(mass);
}

template <class N> Grid<N> naive(const Grid<N> &K, const Grid<N> &V, Weights weights) {
  Grid<N> U = V;
  for (size_t t = 1; t < K.size(); ++t) {
    Row<N> a = scores(K, t, 0, t, weights);
    if (weights == Weights::softmax) soften(a);
    for (size_t i = 0; i < t; ++i) add(U[t], N(0) - a[i], U[i]);
  }
  return U;
}

/// Inverts A in place by Gauss-Jordan elimination with pivots on the diagonal: n^3 products and quotients.
template <class N> void invert(Grid<N> &A) {
  const size_t n = A.size();
  for (size_t p = 0; p < n; ++p) {
    const N pivot = N(1) / A[p][p];
    for (size_t j = 0; j < n; ++j)
      if (j != p) A[p][j] = A[p][j] * pivot;
    for (size_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const N factor = A[i][p];
      for (size_t j = 0; j < n; ++j)
        if (j != p) A[i][j] = A[i][j] - factor * A[p][j];
      A[i][p] = N(0) - factor * pivot;
    }
    A[p][p] = pivot;
  }
}

/// Replaces P by the solution U of (I + A) U = P. Reads only the strict lower triangle of A.
template <class N> void substitute(const Grid<N> &A, Grid<N> &P) {
  for (size_t t = 1; t < A.size(); ++t)
    for (size_t i = 0; i < t; ++i) add(P[t], N(0) - A[t][i], P[i]);
}

enum class Solve { inverse, substitution };
/// The listing as printed, or with the named line wrong.
enum class Slip { none, old_keys_ignored, merge_exchanged, first_row_kept, own_mass_only };
enum class Tail { dropped, ragged }; // dropped: T // C chunks, as printed

struct Chunking {
  size_t C = 32;
  Weights weights = Weights::softmax;
  Tail tail = Tail::dropped;
  Solve solve = Solve::inverse;
  Slip slip = Slip::none;
};

/// The rows of I + A of one chunk: the columns of the chunk itself, and the columns of older steps.
template <class N> struct Block {
  Grid<N> I_plus_A, old; // [n,n], [n,begin]
};

template <class N> Block<N> block(const Grid<N> &K, size_t begin, size_t end, const Chunking &how) {
  using std::exp;
  const size_t n = end - begin;
  Block<N> b{Grid<N>(n, Row<N>(n, N(0))), Grid<N>(n)};
  for (size_t t = 0; t < n; ++t) {
    // As in the listing, all n scores of a row are computed; scores from t on are masked.
    Row<N> own = scores(K, begin + t, begin, end, how.weights), &old = b.old[t];
    own.resize(t);
    old = scores(K, begin + t, 0, begin, how.weights);
    if (how.weights == Weights::softmax && t > 0) {
      const N own_mass = soften(own);
      if (begin > 0) {
        N old_mass = soften(old);
        if (how.slip == Slip::merge_exchanged) old_mass = N(2) * own_mass - old_mass;
        const N share_old = N(1) / (N(1) + exp(own_mass - old_mass));
        for (N &x : old) x = x * share_old;
        if (how.slip != Slip::own_mass_only)
          for (N &x : own) x = x * (N(1) - share_old);
      }
    } else if (how.weights == Weights::softmax && begin > 0) {
      soften(old);
    }
    for (size_t i = 0; i < t; ++i) b.I_plus_A[t][i] = own[i];
    b.I_plus_A[t][t] = N(1);
  }
  if (how.slip == Slip::first_row_kept) // the softmax of a row that is masked throughout is uniform
    for (size_t i = 0; i < n; ++i) b.I_plus_A[0][i] = b.I_plus_A[0][i] + N(1.0 / double(n));
  return b;
}

/// All blocks are formed (and, with Solve::inverse, inverted) before the first one is solved, because no block depends
/// on U.
template <class N> Grid<N> chunked(const Grid<N> &K, const Grid<N> &V, const Chunking &how) {
  const size_t T = K.size(), C = how.C, reached = how.tail == Tail::dropped ? T / C * C : T;
  std::vector<Block<N>> blocks;
  for (size_t begin = 0; begin < reached; begin += C) {
    blocks.push_back(block(K, begin, std::min(begin + C, reached), how));
    if (how.solve == Solve::inverse) invert(blocks.back().I_plus_A);
  }
  Grid<N> U(T, Row<N>(V[0].size(), N(0)));
  for (size_t begin = 0; begin < reached; begin += C) {
    const Block<N> &b = blocks[begin / C];
    Grid<N> P;
    for (size_t t = 0; t < b.I_plus_A.size(); ++t) {
      P.push_back(V[begin + t]);
      for (size_t i = 0; i < begin && how.slip != Slip::old_keys_ignored; ++i) add(P[t], N(0) - b.old[t][i], U[i]);
    }
    if (how.solve == Solve::substitution) substitute(b.I_plus_A, P);
    for (size_t t = 0; t < P.size(); ++t) {
      if (how.solve == Solve::substitution)
        U[begin + t] = P[t];
      else
        for (size_t i = 0; i < P.size(); ++i) add(U[begin + t], b.I_plus_A[t][i], P[i]);
    }
  }
  return U;
}
} // namespace recollect::theory::listing
