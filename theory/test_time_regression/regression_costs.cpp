// SPDX-License-Identifier: Apache-2.0
// What 003's layers cost, in products counted by running them on a number that counts; never timed.
#include "theory/support/counted.hpp"
#include "theory/support/one_head.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

using Row = std::vector<Counted>;
using Grid = std::vector<Row>;

Grid random_grid(int rows, int columns, std::uint64_t stream) {
  const std::vector<double> values = Stream(5, stream).normals(size_t(rows) * columns);
  Grid g(rows, Row(columns));
  for (size_t i = 0; i < values.size(); ++i) g[i / columns][i % columns] = values[i];
  return g;
}
Counted inner(const Row &a, const Row &b) {
  Counted sum;
  for (size_t i = 0; i < a.size(); ++i) sum = sum + a[i] * b[i];
  return sum;
}
Point counted(double measured, double predicted, const Params &label, const std::string &tier = "exact") {
  return at(exact_point(measured, predicted, 0, 0.5), tier, label);
}

/// X_t^T W_t X_t of the newest query over all t keys of the prefix, rows (1, k).
Grid prefix_gram(const Grid &X, const Row &weights, int t) {
  Grid G(X[0].size(), Row(X[0].size()));
  for (int i = 0; i < t; ++i)
    for (size_t a = 0; a < G.size(); ++a) {
      const Counted scaled = weights[i] * X[i][a];
      for (size_t b = 0; b < G.size(); ++b) G[a][b] = G[a][b] + scaled * X[i][b];
    }
  return G;
}

double gram_products(int T, int n) {
  const Grid X = random_grid(T, n, 141);
  return count([&] {
    for (int t = 1; t <= T; ++t) prefix_gram(X, Row(t, 0.5), t);
  });
}

/// x with G x = b for a symmetric positive definite G, by L D L^T in place.
void solve(Grid G, Row b) {
  const size_t n = G.size();
  for (size_t j = 0; j < n; ++j)
    for (size_t i = j + 1; i < n; ++i) {
      const Counted factor = G[i][j] / G[j][j];
      for (size_t c = j + 1; c <= i; ++c) G[i][c] = G[i][c] - factor * G[c][j];
      b[i] = b[i] - factor * b[j];
    }
}

std::vector<Point> gram_cost(const Protocol &p) {
  std::vector<Point> points;
  const auto label = [](int T, int n, const char *what) {
    return labels({{"T", num(T)}, {"Dk", num(n - 1)}, {"quantity", txt(what)}});
  };
  // "O(T^2 Dk)": twice the width, twice the cost.
  const double wider = gram_products(32, 32) / gram_products(32, 16);
  points.push_back(at(exact_point(wider, 2, 0, 0.5), "paper", label(32, 16, "cost at twice the width, over the cost")));
  for (const auto &[T, n] : {std::pair{8, 5}, {32, 16}, {32, 32}, {64, 16}}) {
    const double t = T, m = n;
    points.push_back(counted(gram_products(T, n), t * (t + 1) / 2 * (m * m + m),
                             label(T, n, "products: T (T + 1) / 2 times (Dk + 1)(Dk + 2)"), "corrected"));
  }
  points.push_back(at(bounded_point(wider, Point::at_least, 3.5, 0, 0.25), "corrected",
                      label(32, 16, "cost at twice the width, over the cost")));
  // No recurrence saves it: with new weights for each query two neighbours differ by more than one outer product.
  const int T = 12, D = 3;
  const Dense K = gaussian(T, D, p.seed, 142), Q = gaussian(T, D, p.seed, 143);
  const auto gram = [&](int t) {
    Dense G(D + 1, D + 1);
    for (int i = 0; i <= t; ++i) {
      const Dense k = column(K.data, i, D), q = column(Q.data, t, D);
      std::vector<double> x{1};
      x.insert(x.end(), k.data.begin(), k.data.end());
      G = G + std::exp((transpose(k) * q).data[0] / std::sqrt(double(D))) * outer(x, x);
    }
    return G;
  };
  const std::vector<double> change = singular_values(gram(T - 1) - gram(T - 2));
  points.push_back(at(bounded_point(change[1] / change[0], Point::at_least, 1e-3, 0, 5e-4), "corrected",
                      label(T, D + 1, "second singular value of G_t - G_{t-1}, relative")));
  return points;
}

std::vector<Point> other_costs(const Protocol &) {
  std::vector<Point> points;
  for (const auto &[T, D] : {std::pair{8, 3}, {16, 7}, {32, 7}}) {
    const double t = T, n = D + 1;
    const auto label = [&, T = T, D = D](const char *what) {
      return labels({{"T", num(T)}, {"Dk", num(D)}, {"quantity", txt(what)}});
    };
    const Grid X = random_grid(T, D + 1, 144);
    std::vector<Grid> prefixes, grams;
    for (int step = 1; step <= T; ++step) {
      prefixes.emplace_back(X.begin(), X.begin() + step);
      grams.push_back(prefix_gram(X, Row(step, 1.0), step));
      for (int a = 0; a <= D; ++a)
        grams.back()[a][a] = grams.back()[a][a] + Counted(1); // the first prefixes need a ridge
    }
    const auto numbers = [](const std::vector<Grid> &grids) {
      double sum = 0;
      for (const Grid &g : grids) sum += double(g.size() * g[0].size());
      return sum;
    };
    points.push_back(
        counted(numbers(prefixes), t * (t + 1) / 2 * n, label("numbers in all X_t: T (T + 1) / 2 times (Dk + 1)")));
    points.push_back(counted(numbers(grams), t * n * n, label("numbers in all Gram matrices: T (Dk + 1)^2")));
    const double solves = count([&] {
      for (const Grid &G : grams) solve(G, Row(D + 1, 1.0));
    });
    points.push_back(counted(solves, t * ((n - 1) * n * (n + 1) / 6 + n * (n - 1)),
                             label("products of all eliminations: T (n^3/6 + n^2 - 7n/6), n = Dk + 1")));
  }
  return points;
}

double softmax_products(int T, int D) {
  const Grid K = random_grid(T, D, 145), V = random_grid(T, D, 146);
  return count([&] {
    for (int t = 0; t < T; ++t) {
      Row o(D);
      for (int i = 0; i <= t; ++i) {
        const Counted weight = std::exp(inner(K[i], K[t]).value / D);
        for (int c = 0; c < D; ++c) o[c] = o[c] + weight * V[i][c];
      }
    }
  });
}

double linear_products(int T, int D) {
  const Grid K = random_grid(T, D, 145), V = random_grid(T, D, 146);
  return count([&] {
    Grid S(D, Row(D));
    for (int t = 0; t < T; ++t)
      for (int i = 0; i < D; ++i) {
        for (int j = 0; j < D; ++j) S[i][j] = S[i][j] + V[t][i] * K[t][j];
        inner(S[i], K[t]);
      }
  });
}

std::vector<Point> quadratic_and_linear(const Protocol &) {
  std::vector<Point> points;
  for (const auto &[T, D] : {std::pair{16, 4}, {64, 4}, {64, 16}}) {
    const double t = T, d = D;
    points.push_back(
        counted(softmax_products(T, D), t * (t + 1) / 2 * 2 * d,
                labels({{"T", num(T)}, {"D", num(D)}, {"layer", txt("softmax: T (T + 1) / 2 times Dk + Dv")}})));
    points.push_back(counted(linear_products(T, D), t * 2 * d * d,
                             labels({{"T", num(T)}, {"D", num(D)}, {"layer", txt("linear: 2 T Dk Dv")}})));
  }
  for (int D : {8, 64}) { // T + 1 = 4 Dk Dv / (Dk + Dv) = 2 D makes them equal
    const Params label = labels({{"D", num(D)}, {"quantity", txt("softmax - linear at T = 2 D - 1")}});
    points.push_back(counted(softmax_products(2 * D - 1, D) - linear_products(2 * D - 1, D), 0, label));
  }
  return points;
}

} // namespace

std::vector<Claim> regression_costs() {
  return {
      refuted_row("local-linear-complexity-gram", Scope::paper, "003 §4, higher-order attention",
                  "All X_t^T W_t X_t take O(T^2 Dk) time.",
                  "O(T^2 Dk^2): each costs t (Dk + 1)^2, and the weights change with the query, so that none follows "
                  "from the last.",
                  gram_cost),
      ledger_row("local-linear-complexity-other", "003 §4, higher-order attention",
                 "Space O(T^2 Dk) for X_t and O(T Dk^2) for the Gram matrices, time O(T Dk^3) for the solves.",
                 "T (T + 1) / 2 (Dk + 1); T (Dk + 1)^2; T (Dk + 1)^3 / 6 products.", other_costs),
      ledger_row(
          "softmax-t2-linear-t", "003 §2", "Softmax attention takes O(T^2) time, linear attention O(T).",
          "T (T + 1) / 2 (Dk + Dv) products against 2 T Dk Dv: equal at T + 1 = 4 Dk Dv / (Dk + Dv), 128 for D = 64.",
          quadratic_and_linear),
  };
}

} // namespace recollect::theory
