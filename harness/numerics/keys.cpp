// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/keys.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {
namespace {

const std::vector<std::string> kinds{"unit",           "gaussian", "orthonormal", "correlated",
                                     "equicorrelated", "hadamard", "packed"};

/// Gram-Schmidt on n <= d Gaussian rows, applied twice so that the rows are orthonormal to a few eps.
void orthonormalise(double *rows, int n, int d) {
  for (int i = 0; i < n; ++i) {
    double *row = rows + size_t(i) * d;
    for (int pass = 0; pass < 2; ++pass)
      for (int j = 0; j < i; ++j) {
        const double *other = rows + size_t(j) * d;
        const double overlap = inner(row, other, d);
        for (int c = 0; c < d; ++c) row[c] -= overlap * other[c];
      }
    const double norm = std::sqrt(inner(row, row, d));
    for (int c = 0; c < d; ++c) row[c] /= norm;
  }
}

/// Turns n orthonormal rows e_i into unit rows a e_i + b sum_j e_j whose inner products are `cosine`. This requires
/// a^2 = 1 - cosine and n b^2 + 2 a b = cosine.
void lean_together(double *rows, int n, int d, double cosine) {
  const double a = std::sqrt(1 - cosine), b = (std::sqrt(std::max(0.0, 1 - cosine + n * cosine)) - a) / n;
  for (int c = 0; c < d; ++c) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += rows[size_t(i) * d + c];
    for (int i = 0; i < n; ++i) rows[size_t(i) * d + c] = a * rows[size_t(i) * d + c] + b * sum;
  }
}

void identity_then_hadamard(double *rows, int n, int d) {
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < d; ++c) { // Sylvester's Hadamard matrix: H[r][c] = (-1)^popcount(r & c), here with r = i - d
      int shared = 0;
      for (int bits = (i - d) & c; bits; bits &= bits - 1) ++shared;
      rows[size_t(i) * d + c] = i < d ? i == c : (shared % 2 ? -1 : 1) / std::sqrt(double(d));
    }
}

/// Makes the |inner product| of any two rows at most `cosine`, by gradient descent on the sum of the squared amounts by
/// which the |inner products| exceed .9 cosine.
void push_apart(double *rows, int n, int d, double cosine) {
  const double slack = 0.9 * cosine;
  Dense keys(n, d, std::vector<double>(rows, rows + size_t(n) * d));
  for (int step = 0; step < 300; ++step) {
    Dense excess = keys * transpose(keys);
    double largest = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double &x = excess(i, j);
        if (i == j) x = 0;
        largest = std::max(largest, std::fabs(x));
        x -= std::clamp(x, -slack, slack);
      }
    if (largest <= cosine) {
      std::copy(keys.data.begin(), keys.data.end(), rows);
      return;
    }
    keys = keys - 0.3 * (excess * keys);
    normalise_rows(keys.data, d);
  }
  usage_error("no " + std::to_string(n) + " packed keys of width " + std::to_string(d) +
              " were found with inner products below " + number(cosine) + ": use fewer keys or a larger cosine");
}

void check(const KeySet &keys) {
  if (std::find(kinds.begin(), kinds.end(), keys.kind) == kinds.end())
    usage_error("no keys are called '" + keys.kind + "'" + suggestion(keys.kind, kinds));
  if (keys.kind == "hadamard" && ((keys.d & (keys.d - 1)) || keys.n > 2 * keys.d))
    usage_error("hadamard keys need a width that is a power of two and at most twice as many keys, got n = " +
                std::to_string(keys.n) + ", d = " + std::to_string(keys.d));
  if (keys.kind == "correlated" && (keys.cosine < 0 || keys.cosine > 1))
    usage_error("correlated keys need a cosine in [0, 1], got " + number(keys.cosine));
  if (keys.kind == "equicorrelated" && (keys.n > keys.d || keys.cosine > 1 || 1 + (keys.n - 1) * keys.cosine < 0))
    usage_error("equicorrelated keys need n <= d and a cosine in [-1/(n-1), 1], got n = " + std::to_string(keys.n) +
                ", d = " + std::to_string(keys.d) + ", cosine = " + number(keys.cosine));
}

} // namespace

std::vector<double> make_keys(const KeySet &keys, int sets, std::uint64_t seed) {
  check(keys);
  const int n = keys.n, d = keys.d;
  std::vector<double> rows = Stream(seed, "keys/rows").normals(size_t(sets) * n * d);
  if (keys.kind == "correlated") {
    const std::vector<double> common = Stream(seed, "keys/common").normals(size_t(sets) * d);
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] = std::sqrt(1 - keys.cosine) * rows[i] + std::sqrt(keys.cosine) * common[i / (size_t(n) * d) * d + i % d];
  }
  if (keys.kind == "unit" || keys.kind == "correlated" || keys.kind == "packed") normalise_rows(rows, d);
  for (int s = 0; s < sets; ++s) {
    double *set = &rows[size_t(s) * n * d];
    if (keys.kind == "packed") push_apart(set, n, d, keys.cosine);
    if (keys.kind == "hadamard") identity_then_hadamard(set, n, d);
    if (keys.kind == "orthonormal" || keys.kind == "equicorrelated")
      for (int first = 0; first < n; first += d) orthonormalise(set + size_t(first) * d, std::min(d, n - first), d);
    if (keys.kind == "equicorrelated") lean_together(set, n, d, keys.cosine);
  }
  return rows;
}

ParamSpec keys_param(const std::string &fallback) {
  std::vector<std::string> choices{fallback};
  for (const std::string &kind : kinds)
    if (kind != fallback) choices.push_back(kind);
  return choice_param("keys", choices, "kind of key set");
}
ParamSpec cosine_param(double fallback) {
  return real_param(
      "cosine", fallback, -1, 1,
      "inner product of correlated or equicorrelated keys; upper limit of the inner products of packed keys");
}

double coherence(const std::vector<double> &keys, int n, int d) {
  double largest = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      largest = std::max(largest, std::fabs(inner(&keys[size_t(i) * d], &keys[size_t(j) * d], d)));
  return largest;
}

} // namespace recollect
