// SPDX-License-Identifier: Apache-2.0
// Stationary data (000 §2.2.2, Eq 44-48): x_t ~ N(0, Sigma), k = W_k x, v = W_v x with fixed maps. Does the memory
// converge to the least-squares solution S* = W_v Sigma W_k^T (W_k Sigma W_k^T)^{-1} (Eq 46), and does it stop changing
// there?
//
// Example (g: N(0, I), drawn once for every two steps):
//   t      1       2       3       4
//   k,v    k1,v1   k2,v2   k3,v3   k4,v4
//   q      g1      g1      g2      g2
//   |o_t - S* q_t|^2 has mean |S_t - S*|_F^2, and |o_2 - o_1|^2 has mean |S_2 - S_1|_F^2 for a read o = S q
//
// All heads of a model share x and have separate maps of rank d / heads. With one head W_k is square and S* = W_v
// W_k^{-1} (Eq 47); with several the values are not a function of the keys. W_k is scaled to E |k|^2 = 1, where beta <
// 2/3 keeps the delta rule stable in mean square. Series by octave of t: "distance" = |S_t - S*|^2 / |S*|^2 and
// "update" = |S_t - S_{t-1}|^2 / |S*|^2. The metrics are the values of the first and of the last octave.
#include "harness/numerics/keys.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"

namespace recollect::tasks {
namespace {

/// A factor L of Sigma = L L^T. Sigma is the identity, or has correlation 0.5 between all channels; its root is then a
/// I + b 11^T.
Dense covariance_root(const std::string &kind, int d) {
  const double correlation = kind == "correlated" ? 0.5 : 0, a = std::sqrt(1 - correlation);
  const double b = (std::sqrt(1 + (d - 1) * correlation) - a) / d;
  Dense root(d, d);
  for (int i = 0; i < d; ++i)
    for (int j = 0; j < d; ++j) root(i, j) = a * (i == j) + b;
  return root;
}

Shape shape_of(const Params &p) {
  const int H = p.integer("heads"), m = std::max(1, p.integer("d") / H);
  return {p.integer("models"), H, p.integer("T"), m, m};
}

Problem generate(const Params &p, std::uint64_t seed) {
  const int models = p.integer("models"), H = p.integer("heads"), d = p.integer("d"), T = p.integer("T"),
            m = shape_of(p).Dk;
  const Dense root = covariance_root(p.text("sigma"), d), sigma = root * root;
  const Stream x_draw(seed, "stationarity/x"), read(seed, "stationarity/reads"),
      value_maps(seed, "stationarity/value_maps");
  const std::vector<double> key_maps = make_keys({p.text("key_maps"), m, d}, models * H, seed);
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  for (int b = 0; b < models; ++b) {
    const Dense x = Dense(T, d, x_draw.normals(size_t(T) * d, size_t(b) * T * d)) * root; // rows x_t
    for (int h = 0; h < H; ++h) {
      const size_t head = size_t(b) * H + h;
      Dense Wk(m, d, {key_maps.begin() + head * m * d, key_maps.begin() + (head + 1) * m * d});
      const Dense Wv(m, d, value_maps.normals(size_t(m) * d, head * m * d));
      Wk = 1 / std::sqrt(trace(Wk * sigma * transpose(Wk))) * Wk;
      const Dense optimum = Wv * sigma * transpose(Wk) * inverse(Wk * sigma * transpose(Wk));
      Dense q(T, m);
      for (int t = 0; t < T; ++t)
        for (int c = 0; c < m; ++c) q(t, c) = read.normal((head * T + t / 2) * m + c);
      append(s.k, (x * transpose(Wk)).data);
      append(s.v, (x * transpose(Wv)).data);
      append(s.q, q.data);
      append(problem.target, (q * transpose(optimum)).data);
    }
  }
  fill_gates(s, p);
  problem.scored.assign(T, 1);
  return problem;
}

Score score(const Params &, const Problem &problem, const Output &output) {
  const Shape &shape = problem.sequence.shape;
  const double heads = shape.heads();
  std::vector<double> distance(shape.T, 0.0), update(shape.T / 2, 0.0);
  double optimum = 0; // mean of |S* q|^2 = |S*|_F^2
  const auto square = [](double value) { return value * value; };
  for (size_t i = 0; i < output.o.size(); ++i) {
    const size_t t = i / shape.Dv % shape.T;
    distance[t] += square(output.o[i] - problem.target[i]) / heads;
    optimum += square(problem.target[i]) / (heads * shape.T);
    if (t % 2) update[t / 2] += square(output.o[i] - output.o[i - shape.Dv]) / heads;
  }
  for (double &value : distance) value /= optimum;
  for (double &value : update) value /= optimum;
  Score result;
  result.series = {{"distance_by_octave", octave_means(distance, 2)}, {"update_by_octave", octave_means(update, 1)}};
  for (const char *name : {"distance", "update"}) {
    const std::vector<double> &octaves = result.series.at(std::string(name) + "_by_octave");
    result.metrics.emplace_back(name, octaves.back());
    result.metrics.emplace_back(std::string("first_") + name, octaves.front());
  }
  return result;
}

} // namespace

Task stationarity() {
  Task t;
  t.summary = "stationary data from fixed maps: does the memory settle at the least-squares solution?";
  t.source = "000 §2.2.2, Eq 44-48";
  t.params =
      with_gates({integer_param("models", 2, 1, 1e6, "independent models (batch)"),
                  integer_param("heads", 1, 1, 65536, "heads of a model, each of width d / heads"),
                  integer_param("T", 512, 4, 1e8, "steps"), integer_param("d", 16, 1, 65536, "width of $x$"),
                  choice_param("sigma", {"identity", "correlated"}, "covariance of $x$: $I$, or all correlations 0.5"),
                  choice_param("key_maps", {"orthonormal", "gaussian"},
                               "kind of the rows of $W_k$ (a square Gaussian $W_k$ is ill-conditioned)")},
                 0.5);
  t.metrics = {{"distance", Metric::smaller},
               {"first_distance", Metric::smaller},
               {"update", Metric::smaller},
               {"first_update", Metric::smaller}};
  t.ends = [](const Params &) { return Ends{1, 0}; }; // all metrics are relative to |S*|^2
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
