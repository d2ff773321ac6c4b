// SPDX-License-Identifier: Apache-2.0
// Products of generalised Householder matrices I - beta x x^T, computed by running DeltaNet: a token with value 0
// multiplies the state by such a matrix from the right.
#pragma once
#include "theory/support/one_head.hpp"
#include "theory/support/stored.hpp"
#include <cmath>

namespace recollect::theory {
constexpr double pi = 3.14159265358979323846;

/// I - beta x x^T.
struct Householder {
  Vector x;
  double beta = 2;
};

/// The product of the factors [n,n], the first factor on the left: the state of DeltaNet that starts from I, after one
/// token per factor.
inline Dense product(const std::vector<Householder> &factors) {
  const int n = int(factors.front().x.size()), T = int(factors.size());
  Vector keys;
  for (const Householder &f : factors) keys.insert(keys.end(), f.x.begin(), f.x.end());
  Sequence s = stored({1, 1, T, n, n}, keys, Vector(keys.size()));
  for (int t = 0; t < T; ++t) s.beta[t] = factors[t].beta;
  s.state = Dense::identity(n).data;
  return memory(run("delta_net", s), s.shape);
}

/// `count` factors of unit x in n dimensions, with beta uniform in [low, high].
inline std::vector<Householder> random_factors(int count, int n, double low, double high, std::uint64_t seed,
                                               const std::string &stream, int number = 0) {
  Vector keys = Stream(seed, stream + "/keys", number).normals(size_t(count) * n);
  normalise_rows(keys, n);
  const Vector beta = Stream(seed, stream + "/beta", number).uniforms(count, low, high);
  std::vector<Householder> factors;
  for (int i = 0; i < count; ++i) factors.push_back({{keys.begin() + i * n, keys.begin() + (i + 1) * n}, beta[i]});
  return factors;
}

/// Exactly n - 1 factors whose product is the permutation's matrix (column j has its 1 in row permutation[j]): each
/// factor is a swap, x = (e_i - e_j) / sqrt 2, or has beta = 0 if no swap is needed.
inline std::vector<Householder> swaps_of(std::vector<int> permutation, double beta = 2) {
  const int n = int(permutation.size());
  std::vector<Householder> factors;
  for (int j = 0; j + 1 < n; ++j) { // P = (swap of j and P(j)) P', where P' fixes j
    const int to = permutation[j];
    Vector x(n, 0.0);
    x[j] = to == j ? 1 : std::sqrt(0.5);
    if (to != j) x[to] = -x[j];
    factors.push_back({x, to == j ? 0 : beta});
    for (int &element : permutation) element = element == to ? j : element == j ? to : element;
  }
  return factors;
}

/// The unit vector in the plane at this angle to e1.
inline Vector at_angle(double angle) { return {std::cos(angle), std::sin(angle)}; }
} // namespace recollect::theory
