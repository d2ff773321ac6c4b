// SPDX-License-Identifier: Apache-2.0
// Online regression on a switching autoregressive process (003 §5, Eq 55, Fig 2): predict the next step in one pass.
//
//   x_{t+1} = 0.9 x_t + 0.02 e_t for t < T/4, 0.999 x_t + 0.02 e_t after;  e_t ~ N(0, Sigma), unit diagonal
//   k_t = x_t,  v_t = x_{t+1} / |x_{t+1}|,  q_t = x_{t+1};  loss_t = |v_{t+1} - o_t|^2
//
// Example:   t  1        2                    (x'  = x / |x|)
//            k  x1       x2
//            v  x2'      x3'
//            q  x2       x3
//            o  -> x3'   -> x4'    the naive forecast is the step's own v: x2', x3'
//
// The paper leaves some choices open that decide its curves (claims fig2_*). By default, Sigma has correlation 0.5
// between all channels, x_1 is stationary, and keys and queries have unit norm (raw keys reach |k|^2 = 5, where a delta
// rule with beta = 1 diverges). Reads are not normalised. The parameters noise, correlation, start, keys and output
// select the alternatives. Bandwidths and ridges are parameters of the variants.
#include "harness/core/task.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/random.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"

namespace recollect::tasks {
namespace {

/// One draw e ~ N(0, Sigma): correlation c between all channels, correlation c^|i-j| between channels i and j, or eight
/// common factors.
class Noise {
public:
  Noise(const Params &p, std::uint64_t seed)
      : kind_(p.text("noise")), c_(p.real("correlation")), d_(p.integer("d")), draws_(seed, "online_regression/noise") {
    loadings_ = Stream(seed, "online_regression/loadings").normals(size_t(d_) * factors);
    normalise_rows(loadings_, factors);
  }
  std::vector<double> operator()(size_t index) const {
    const size_t stride = d_ + factors;
    const std::vector<double> z = draws_.normals(stride, index * stride);
    std::vector<double> e(d_);
    for (int i = 0; i < d_; ++i) {
      if (kind_ == "equicorrelated") e[i] = std::sqrt(1 - c_) * z[i] + std::sqrt(c_) * z[d_];
      if (kind_ == "chain") e[i] = i == 0 ? z[0] : c_ * e[i - 1] + std::sqrt(1 - c_ * c_) * z[i];
      if (kind_ == "factors")
        for (int f = 0; f < factors; ++f) e[i] += loadings_[size_t(i) * factors + f] * z[f];
    }
    return e;
  }

private:
  static constexpr int factors = 8;
  std::string kind_;
  double c_;
  int d_;
  Stream draws_;
  std::vector<double> loadings_;
};

Shape shape_of(const Params &p) { return {p.integer("sequences"), 1, p.integer("T"), p.integer("d"), p.integer("d")}; }

Problem generate(const Params &p, std::uint64_t seed) {
  const int sequences = p.integer("sequences"), T = p.integer("T"), d = p.integer("d");
  const double scale = p.real("sigma"), early = p.real("early"), late = p.real("late");
  const Noise noise(p, seed);
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  for (int b = 0; b < sequences; ++b) {
    std::vector<double> x; // [T+2,d]
    for (int t = 0; t < T + 2; ++t) {
      const std::vector<double> e = noise(size_t(b) * (T + 2) + t);
      const bool stationary = t == 0 && p.text("start") == "stationary";
      const double factor = t == 0 ? 0 : t < T / 4 ? early : late; // x[t] is the paper's x_{t+1}
      const double spread = stationary ? scale / std::sqrt(1 - early * early) : scale;
      for (int c = 0; c < d; ++c) x.push_back((t ? factor * x[size_t(t - 1) * d + c] : 0) + spread * e[c]);
    }
    std::vector<double> unit = x;
    normalise_rows(unit, d);
    const std::vector<double> &keys = p.text("keys") == "unit" ? unit : x;
    const auto add = [&](std::vector<double> &to, const std::vector<double> &from, int first) {
      to.insert(to.end(), from.begin() + size_t(first) * d, from.begin() + size_t(first + T) * d);
    };
    add(s.k, keys, 0), add(s.q, keys, 1), add(s.v, unit, 1), add(problem.target, unit, 2);
  }
  fill_gates(s, p);
  problem.scored.assign(T, 1);
  return problem;
}

/// o unchanged, o / |o|, or o / rms(o); a zero read stays zero.
std::vector<double> normalised_output(const std::string &kind, std::vector<double> o, int d) {
  for (size_t row = 0; row < o.size() && kind != "raw"; row += d) {
    double square = 0;
    for (int c = 0; c < d; ++c) square += o[row + c] * o[row + c];
    const double norm = std::sqrt(kind == "rms" ? square / d : square);
    for (int c = 0; c < d && norm > 0; ++c) o[row + c] /= norm;
  }
  return o;
}

std::vector<double> losses(const std::vector<double> &prediction, const Problem &problem) {
  const Shape &shape = problem.sequence.shape;
  std::vector<double> loss(shape.T, 0.0);
  for (size_t i = 0; i < prediction.size(); ++i) {
    const double error = prediction[i] - problem.target[i];
    loss[i / shape.Dv % shape.T] += error * error / shape.heads();
  }
  return loss;
}

Score score(const Params &p, const Problem &problem, const Output &output) {
  const Shape &shape = problem.sequence.shape;
  const std::vector<double> loss = losses(normalised_output(p.text("output"), output.o, shape.Dv), problem);
  const std::vector<double> naive = losses(problem.sequence.v, problem);
  Score result;
  const auto add = [&](const std::string &name, const std::vector<double> &values) {
    const int T = shape.T;
    result.metrics.emplace_back(name + "_before_switch", mean_of_range(values, 0, T / 4));
    result.metrics.emplace_back(name + "_after_switch", mean_of_range(values, T / 4, T / 2));
    result.metrics.emplace_back(name + "_late", mean_of_range(values, T / 2, T));
    result.series[name + "_by_step"] = values;
  };
  add("loss", loss);
  add("naive", naive);
  return result;
}

} // namespace

Task online_regression() {
  Task t;
  t.summary = "predict the next step of a switching autoregressive process from one pass";
  t.source = "003 §5, Eq 55, Fig 2";
  t.params = with_gates(
      {integer_param("sequences", 4, 1, 1e6, "independent sequences (batch)"),
       integer_param("T", 256, 4, 1e7, "steps; the process switches at $T/4$"),
       integer_param("d", 64, 1, 65536, "width of keys and values"),
       choice_param("keys", {"unit", "raw"}, "keys and queries normalised, or $x_t$ itself"),
       choice_param("noise", {"equicorrelated", "chain", "factors"},
                    "off-diagonal elements of $Sigma$: $c$, $c^|i-j|$, or those of a matrix of rank 8"),
       real_param("correlation", 0.5, 0, 1, "$c$ in $Sigma$"),
       choice_param("start", {"stationary", "zero"},
                    "$x_1$: drawn from the stationary distribution of the early process, or one draw of the noise"),
       choice_param("output", {"raw", "unit", "rms"}, "normalisation of the read before scoring"),
       real_param("early", 0.9, 0, 0.999999, "factor on $x_t$ before $T/4$"),
       real_param("late", 0.999, 0, 1, "factor on $x_t$ from $T/4$ on"),
       real_param("sigma", 0.02, 0, no_limit, "scale of the noise")});
  t.metrics = {{"loss_late", Metric::smaller},
               {"loss_before_switch", Metric::smaller},
               {"loss_after_switch", Metric::smaller},
               {"naive_before_switch"},
               {"naive_after_switch"},
               {"naive_late"}};
  // targets are unit vectors, so reading 0 scores 1; because of the noise no memory reaches 0
  t.ends = [](const Params &) { return Ends{1, 0}; };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
