// SPDX-License-Identifier: Apache-2.0
// What the algorithms of 000 and 002 cost in multiplications, counted by running them on a number that counts; never
// timed.
#include "harness/core/registry.hpp"
#include "harness/numerics/random.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/support/claims.hpp"
#include "theory/support/counted.hpp"
#include <array>
#include <cmath>

namespace recollect::theory {
namespace {

using Grid = std::vector<std::vector<Counted>>;

Grid random_grid(int rows, int columns, std::uint64_t stream) {
  Grid g(rows, std::vector<Counted>(columns));
  const Stream draw(7, stream);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) g[i][j] = draw.normal(size_t(i) * columns + j) / columns;
  return g;
}

Counted inner(const std::vector<Counted> &a, const std::vector<Counted> &b) {
  Counted sum;
  for (size_t i = 0; i < a.size(); ++i) sum = sum + a[i] * b[i];
  return sum;
}

void subtract(std::vector<Counted> &row, Counted factor, const std::vector<Counted> &other) {
  for (size_t i = 0; i < row.size(); ++i) row[i] = row[i] - factor * other[i];
}

/// Eq 39 with a linear kernel: scores, then the sum over older u.
Grid sequential(const Grid &K, const Grid &V) {
  Grid U = V;
  for (size_t t = 0; t < K.size(); ++t) {
    std::vector<Counted> score(t);
    for (size_t i = 0; i < t; ++i) score[i] = inner(K[i], K[t]);
    for (size_t i = 0; i < t; ++i) subtract(U[t], score[i], U[i]);
  }
  return U;
}

/// In-place Gauss-Jordan, pivots on the diagonal: the explicit inverse of Eq 97.
void invert(Grid &A) {
  const size_t n = A.size();
  for (size_t p = 0; p < n; ++p) {
    const Counted pivot = Counted(1) / A[p][p];
    A[p][p] = 1;
    for (size_t j = 0; j < n; ++j)
      if (j != p) A[p][j] = A[p][j] * pivot;
    for (size_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const Counted factor = A[i][p];
      A[i][p] = 0;
      for (size_t j = 0; j < n; ++j)
        if (j != p) A[i][j] = A[i][j] - factor * A[p][j];
      A[i][p] = Counted(0) - factor * pivot;
    }
    A[p][p] = pivot;
  }
}

enum class Solve { inverse, substitution };

/// D.3: a chunk reads older u, then solves its own block; C x C scores are formed in full as the listing does.
Grid chunked(const Grid &K, const Grid &V, size_t C, Solve solve) {
  Grid U = V;
  for (size_t begin = 0; begin < K.size(); begin += C) {
    for (size_t t = begin; t < begin + C; ++t)
      for (size_t i = 0; i < begin; ++i) subtract(U[t], inner(K[i], K[t]), U[i]);
    Grid A(C, std::vector<Counted>(C));
    for (size_t t = 0; t < C; ++t)
      for (size_t i = 0; i < C; ++i) {
        const Counted score = inner(K[begin + i], K[begin + t]);
        A[t][i] = i < t ? score : Counted(i == t ? 1 : 0);
      }
    const Grid P(U.begin() + begin, U.begin() + begin + C);
    if (solve == Solve::substitution) {
      for (size_t t = 0; t < C; ++t)
        for (size_t i = 0; i < t; ++i) subtract(U[begin + t], A[t][i], U[begin + i]);
      continue;
    }
    invert(A);
    for (size_t t = 0; t < C; ++t) {
      U[begin + t].assign(P[t].size(), 0);
      for (size_t i = 0; i < C; ++i)
        for (size_t c = 0; c < P[t].size(); ++c) U[begin + t][c] = U[begin + t][c] + A[t][i] * P[i][c];
    }
  }
  return U;
}

double apart(const Grid &a, const Grid &b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < a[i].size(); ++j) worst = std::max(worst, std::fabs(a[i][j].value - b[i][j].value));
  return worst;
}

Params sized(int T, int C, int d, const std::string &quantity) {
  Params p;
  return p.set("T", T).set("C", C).set("d", d).set("quantity", quantity);
}

Point counted(double measured, double predicted, const Params &p, const std::string &tier = "exact") {
  return at(exact_point(measured, predicted, 0, 1), tier, p);
}

std::vector<Point> chunked_cost(const Protocol &) {
  std::vector<Point> points;
  double ratio = 0;
  for (const auto &[T, C, d] : {std::array{64, 8, 4}, std::array{64, 16, 8}, std::array{256, 16, 8}}) {
    const Grid K = random_grid(T, d, 1), V = random_grid(T, d, 2);
    Grid one, two, three;
    const double plain = count([&, d = d] { one = sequential(K, V); }),
                 by_inverse = count([&, C = C] { two = chunked(K, V, C, Solve::inverse); }),
                 by_solve = count([&, C = C] { three = chunked(K, V, C, Solve::substitution); });
    const double t = T, c = C, w = d;
    points.push_back(counted(plain, t * (t - 1) * w, sized(T, C, d, "sequential: T (T-1) d")));
    points.push_back(counted(by_inverse, t * (t - c) * w + 2 * t * c * w + t * c * c,
                             sized(T, C, d, "chunked: T (T-C) d + 2 T C d + T C^2")));
    points.push_back(counted(by_solve, t * (t - c) * w + t * c * w + t * (c - 1) * w / 2,
                             sized(T, C, d, "with a triangular solve: no T C^2")));
    points.push_back(at(exact_point(std::max(apart(one, two), apart(one, three)), 0, 64.0 * T * C, 1e-6), "exact",
                        sized(T, C, d, "the three agree")));
    ratio = by_inverse / (t * t * w + t * c * w + t * c * c);
  }
  points.push_back(at(bounded_point(ratio, Point::at_most, 1, 0, 0.01), "exact",
                      sized(256, 16, 8, "chunked over T^2 d + T C d + T C^2")));
  return points;
}

std::vector<Point> inverse_cost(const Protocol &) {
  std::vector<Point> points;
  for (int T : {8, 32, 64}) {
    const int d = 4;
    const Grid K = random_grid(T, d, 1), V = random_grid(T, d, 2);
    Grid A(T, std::vector<Counted>(T));
    for (int t = 0; t < T; ++t) {
      A[t][t] = 1;
      for (int i = 0; i < t; ++i) A[t][i] = inner(K[i], K[t]);
    }
    Grid general = A, U = V, lower(T, std::vector<Counted>(T));
    const double t = T;
    points.push_back(counted(count([&] { invert(general); }), t * t * t, sized(T, T, d, "general inverse: T^3")));
    const double triangular = count([&] { // column j of the inverse of a unit lower triangle
      for (int j = 0; j < T; ++j) {
        lower[j][j] = 1;
        for (int i = j + 1; i < T; ++i) {
          lower[i][j] = Counted(0) - A[i][j];
          for (int p = j + 1; p < i; ++p) lower[i][j] = lower[i][j] - A[i][p] * lower[p][j];
        }
      }
    });
    points.push_back(
        counted(triangular, t * (t - 1) * (t - 2) / 6, sized(T, T, d, "triangular inverse: T (T-1) (T-2) / 6")));
    const double solve = count([&] {
      for (int r = 0; r < T; ++r)
        for (int i = 0; i < r; ++i) subtract(U[r], A[r][i], U[i]);
    });
    points.push_back(counted(solve, t * (t - 1) * d / 2, sized(T, T, d, "triangular solve: T (T-1) d / 2")));
    points.push_back(
        at(exact_point(apart(general, lower), 0, 64.0 * T * T, 1e-6), "exact", sized(T, T, d, "the inverses agree")));
  }
  return points;
}

/// Multiplications of one read with a kernel that has no finite feature map: t scores and t values.
double kernel_read(int t, int d) {
  const Grid K = random_grid(t, d, 1), U = random_grid(t, d, 2), q = random_grid(1, d, 3);
  return count([&] {
    std::vector<Counted> o(d);
    for (int i = 0; i < t; ++i) subtract(o, inner(K[i], q[0]), U[i]);
  });
}

double matrix_read(int d_k, int d_v) {
  const Grid S = random_grid(d_v, d_k, 1), q = random_grid(1, d_k, 2);
  return count([&] {
    for (const auto &row : S) inner(row, q[0]);
  });
}

std::vector<Point> inference_cost(const Protocol &) {
  const int d = 8;
  std::vector<Point> points{
      at(exact_point(kernel_read(1024, d) / kernel_read(16, d), 1, 0, 0.5), "paper",
         sized(1024, 1, d, "cost of a read at t = 1024 over t = 16, O(d^2) is free of t")),
      counted(matrix_read(d, d), d * d, sized(1024, 1, d, "linear kernel, read of S: d^2"), "corrected")};
  for (int t : {16, 1024}) {
    const Grid K = random_grid(t, d, 1), V = random_grid(t, d, 2);
    const double read = kernel_read(t, d), to_here = count([&] { sequential(K, V); });
    const Grid fewer(K.begin(), K.end() - 1), values(V.begin(), V.end() - 1);
    const double write = to_here - count([&] { sequential(fewer, values); });
    points.push_back(counted(read, 2.0 * t * d, sized(t, 1, d, "read of o_t: t (d_k + d_v)"), "corrected"));
    points.push_back(counted(write, 2.0 * (t - 1) * d, sized(t, 1, d, "write of u_t: (t-1) (d_k + d_v)"), "corrected"));
    points.push_back(at(bounded_point((read + write) / (4.0 * (t * d + d * d)), Point::at_most, 1, 0, 0.01),
                        "corrected", sized(t, 1, d, "total over 4 (T d + d^2)")));
  }
  return points;
}

/// One token of a linear layer with d_phi features: write v phi^T, read S phi.
double token_cost(int d_phi, int d_v, int tokens) {
  const Grid phi = random_grid(tokens, d_phi, 1), v = random_grid(tokens, d_v, 2);
  Grid S(d_v, std::vector<Counted>(d_phi));
  double last = 0;
  for (int t = 0; t < tokens; ++t)
    last = count([&] {
      for (int i = 0; i < d_v; ++i)
        for (int j = 0; j < d_phi; ++j) S[i][j] = S[i][j] + v[t][i] * phi[t][j];
      for (const auto &row : S) inner(row, phi[t]);
    });
  return last;
}

std::vector<Point> cost_per_token(const Protocol &) {
  std::vector<Point> points;
  for (int t : {1, 10, 1000})
    points.push_back(
        counted(token_cost(12, 5, t), 2 * 12 * 5, sized(t, 1, 12, "multiplications of token T: 2 d_v d_phi, d_v = 5")));
  return points;
}

std::vector<Point> compression(const Protocol &) {
  std::vector<Point> points;
  const Variant &linear = find_variant("linear");
  for (const auto &[t, dk, dv] : {std::array{32, 64, 64}, std::array{1024, 64, 64}, std::array{100, 16, 48}}) {
    const Shape shape{1, 1, t, dk, dv};
    const double ratio = double(t) * (dk + dv) / double(linear.state_shape(shape, variant_params(linear)).size());
    Params p;
    p.set("t", t).set("dk", dk).set("dv", dv);
    points.push_back(at(exact_point(ratio, t * (1.0 / dk + 1.0 / dv), 4 * ratio, 1e-3), "exact",
                        p.set("quantity", "cache over state: t (1/dk + 1/dv)")));
    if (dk == dv)
      points.push_back(at(exact_point(ratio, 2.0 * t / dk, 4 * ratio, 1e-3), "exact",
                          p.set("quantity", "cache over state: 2 t / d")));
  }
  return points;
}

} // namespace

std::vector<Claim> complexity() {
  Claim chunked =
      ledger_row("complexity-chunked", "000 D.3, §2.2.1",
                 "The sequential recursion costs O(T^2 d), the chunked one O(T^2 d + T C d + T C^2) "
                 "multiplications in T / C sequential steps.",
                 "T (T-1) d, and T (T-C) d + 2 T C d + T C^2 with C^3 for the explicit inverse; a triangular solve "
                 "has no T C^2. Multiplications counted on the algorithms themselves.",
                 chunked_cost);

  Claim inverse =
      ledger_row("complexity-full-inverse", "000 D.3", "U = (I + A)^{-1} V costs O(T^3).",
                 "T^3 by a general inverse, T (T-1) (T-2) / 6 by a triangular one; not required: the triangular solve "
                 "costs T (T-1) d / 2.",
                 inverse_cost);

  Claim inference =
      refuted_row("complexity-inference", Scope::paper, "000 §2.2.1, Inference phase",
                  "At inference o_t is recalled from S_t in O(d^2).",
                  "S_t has no finite matrix for the exp kernel: o_t costs t (d_k + d_v) and u_t (t-1) (d_k + d_v). "
                  "d^2 is right for the linear kernel; the total O(T d + d^2) remains an upper bound.",
                  inference_cost);

  Claim token =
      ledger_row("blog-cost-per-token", "002 §2", "A token costs O(d_v d_phi), regardless of the sequence's length.",
                 "d_v d_phi to write and d_v d_phi to read.", cost_per_token);

  Claim cache =
      ledger_row("blog-compression", "002 §3", "|KV cache| / |S| = t (d_k + d_v) / (d_k d_v) ~ 2 t / d.",
                 "Exactly 2 t / d at d_k = d_v = d; in general t (1/d_k + 1/d_v). They are of equal size at t = d / 2.",
                 compression);
  cache.variants = {"linear"};
  return {chunked, inverse, inference, token, cache};
}

} // namespace recollect::theory
