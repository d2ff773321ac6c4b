// SPDX-License-Identifier: Apache-2.0
// What the algorithms of 002 cost in multiplications, counted by running them on a number that counts; never
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

Params sized(int T, int C, int d, const std::string &quantity) {
  Params p;
  return p.set("T", T).set("C", C).set("d", d).set("quantity", quantity);
}

Point counted(double measured, double predicted, const Params &p, const std::string &tier = "exact") {
  return at(exact_point(measured, predicted, 0, 1), tier, p);
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
  Claim token =
      ledger_row("blog-cost-per-token", "002 §2", "A token costs O(d_v d_phi), regardless of the sequence's length.",
                 "d_v d_phi to write and d_v d_phi to read.", cost_per_token);

  Claim cache =
      ledger_row("blog-compression", "002 §3", "|KV cache| / |S| = t (d_k + d_v) / (d_k d_v) ~ 2 t / d.",
                 "Exactly 2 t / d at d_k = d_v = d; in general t (1/d_k + 1/d_v). They are of equal size at t = d / 2.",
                 compression);
  cache.variants = {"linear"};
  return {token, cache};
}

} // namespace recollect::theory
