// SPDX-License-Identifier: Apache-2.0
// 003 Fig 2 by readings. The paper leaves open what decides its curves: Sigma's off-diagonals and the first key,
// whether keys and queries are normalised, the softmax scale, how linear attention's output is normalised, and what
// stands for the inverse on the first quarter, whose Gram matrices are singular. A reading here is a layer with all of
// that chosen; Sigma is equicorrelated at 1/2. T = 4 Dk as in the paper: Dk = 64 in the full suite, 16 in the quick
// one. Losses of a sequence are averaged over the paper's three stretches (t < T/4, T/4 to T/2, the rest); sequences
// are independent, and two layers see the same ones.
#include "harness/core/registry.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/statistics.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/support/claims.hpp"
#include <array>
#include <cmath>

namespace recollect::theory {
namespace {

struct Reading {
  std::string name, variant;
  Assignments task, layer; // settings of the task and of the layer
};

const Reading linear_raw{"linear, output as it is", "linear", {{"keys", "raw"}}, {}};
const Reading linear_unit{"linear, output of norm 1", "linear", {{"keys", "raw"}, {"output", "unit"}}, {}};
const Reading linear_rms{"linear, output of RMS 1", "linear", {{"keys", "raw"}, {"output", "rms"}}, {}};
const Reading rls{"RLS, ridge 1e-3", "rls", {{"keys", "raw"}}, {{"ridge", "1e-3"}}};
const Reading softmax{"softmax, raw keys, scale 1/sqrt(Dk)", "softmax", {{"keys", "raw"}}, {}};
const Reading softmax_unit{"softmax, unit keys, scale 1/sqrt(Dk)", "softmax_qknorm", {{"keys", "raw"}}, {}};
const Reading average{"mean of the values so far", "softmax", {{"keys", "raw"}}, {{"scale", "0"}}};
const Reading sharp{"softmax, unit keys, bandwidth 0.1", "softmax_qknorm", {{"keys", "raw"}}, {{"scale", "20"}}};

Reading local(const std::string &bandwidth, const std::string &ridge) {
  return {"local linear, unit keys, bandwidth " + bandwidth + ", ridge " + ridge,
          "local_linear",
          {{"keys", "unit"}},
          {{"bandwidth", bandwidth}, {"ridge", ridge}}};
}
Reading forgetting(const std::string &alpha) {
  return {"RLS, ridge 1e-3, forgetting " + alpha, "mesa", {{"keys", "raw"}, {"alpha", alpha}}, {{"ridge", "1e-3"}}};
}
Reading gated(const std::string &alpha) {
  return {"linear, output of norm 1, forgetting " + alpha,
          "gated_linear",
          {{"keys", "raw"}, {"output", "unit"}, {"alpha", alpha}},
          {}};
}

const std::array<const char *, 3> stretches{"before_switch", "after_switch", "late"};
enum Stretch { before, after, late };

struct Losses {
  std::array<std::vector<double>, 3> of; // [stretch][sequence]
  std::vector<std::vector<double>> by_step;
};

/// Losses of readings on the same sequences, each computed once.
class Bench {
public:
  explicit Bench(const Protocol &p) : seed_(p.seed), sequences_(p.full() ? 48 : 160), d_(p.full() ? 64 : 16) {}

  const Losses &operator()(const Reading &r) { return measure(r.name, r, "loss"); }
  const Losses &naive() { return measure("naive", linear_raw, "naive"); }
  int width() const { return d_; }

  /// Shows that the second's loss is the larger one, by the mean over sequences of the log of their ratio: sequences
  /// differ by factors, in how far the noise's common direction dominates, and their losses without a ridge have no
  /// finite variance.
  Point larger(const Losses &small, const Losses &large, Stretch stretch, const std::string &what,
               const std::string &tier = "exact", double factor = 1) const {
    std::vector<double> excess;
    for (int i = 0; i < sequences_; ++i)
      excess.push_back(std::log(large.of[stretch][i] / small.of[stretch][i] / factor));
    return shown(excess, what + ", " + stretches[stretch], tier);
  }
  /// Shows that a mean is positive: above the allowed standard errors.
  Point shown(const std::vector<double> &samples, const std::string &what, const std::string &tier = "exact") const {
    const Mean mean = mean_of(samples);
    const double least = allowed_standard_errors * mean.standard_error;
    return at(bounded_point(mean.mean, Point::at_least, least, 0, least), tier,
              labels({{"Dk", num(d_)}, {"sequences", num(sequences_)}, {"what", txt(what)}}));
  }
  Point excess(const Reading &small, const Reading &large, Stretch stretch, const std::string &tier = "exact") {
    return larger((*this)(small), (*this)(large), stretch, large.name + " over " + small.name, tier);
  }

  /// Nothing shows that the second's loss is the smaller one; a fifth would be seen.
  Point not_better(const Reading &first, const Reading &second, Stretch stretch, const std::string &tier) {
    Point p = excess(first, second, stretch, tier);
    p.standard_error = p.predicted / allowed_standard_errors, p.tolerance = p.predicted, p.predicted = 0,
    p.resolution = 0.2;
    p.verdict = judge(p);
    return p;
  }

private:
  const Losses &measure(const std::string &name, const Reading &r, const std::string &metric) {
    if (const auto known = losses_.find(name); known != losses_.end()) return known->second;
    const Task &task = find_task("online_regression");
    const Variant &variant = find_variant(r.variant);
    Assignments set{{"sequences", "1"}, {"d", number(d_)}, {"T", number(4 * d_)}};
    set.insert(r.task.begin(), r.task.end());
    const Params params = resolve(task.params, set, "task online_regression"), layer = variant_params(variant, r.layer);
    Losses &losses = losses_[name];
    for (int i = 0; i < sequences_; ++i) {
      const Problem problem = task.generate(params, seed_ * 1000003 + i);
      const Score score = task.score(
          params, problem, forward(variant, problem.sequence, {find_form(variant, "fast").name, Real::f64, 64, layer}));
      for (const auto &[key, value] : score.metrics)
        for (int s = 0; s < 3; ++s)
          if (key == metric + "_" + stretches[s]) losses.of[s].push_back(value);
      losses.by_step.push_back(score.series.at(metric + "_by_step"));
    }
    return losses;
  }

  std::uint64_t seed_;
  int sequences_, d_;
  std::map<std::string, Losses> losses_;
};

std::vector<Point> table(const Protocol &p) {
  Bench bench(p);
  std::vector<Point> points;
  for (const Reading &r : {linear_raw, linear_unit, linear_rms, rls, forgetting("0.9"), softmax, softmax_unit, sharp})
    for (int s = 0; s < 3; ++s) {
      const Mean loss = mean_of(bench(r).of[s]), naive = mean_of(bench.naive().of[s]);
      const Params label = labels({{"reading", txt(r.name)}, {"stretch", txt(stretches[s])}});
      Point tabulated = bounded_point(loss.mean, Point::at_least, naive.mean, 0, loss.mean);
      tabulated.standard_error = loss.standard_error;
      points.push_back(at(tabulated, "reading", label));
    }
  // |v| = 1, so the loss is 2 - 2 cos for reads of norm 1 and 1 + D - 2 sqrt(D) cos for reads of norm sqrt(D): one
  // fixes the other.
  const double D = bench.width(), root = std::sqrt(D);
  for (int s = 0; s < 3; ++s) {
    const double unit = mean_of(bench(linear_unit).of[s]).mean, rms = mean_of(bench(linear_rms).of[s]).mean;
    points.push_back(at(exact_point(rms, (root - 1) * (root - 1) + root * unit, 64 * D * D, 0.01),
                        "RMS is (sqrt D - 1)^2 + sqrt D times norm 1", labels({{"stretch", txt(stretches[s])}})));
  }
  return points;
}

std::vector<Point> linear_is_worst(const Protocol &p) {
  Bench bench(p);
  std::vector<Point> points{bench.excess(softmax, linear_unit, late, "paper")};
  points.push_back(bench.excess(linear_unit, softmax, late, "corrected"));
  for (Stretch s : {before, after, late})
    for (const Reading &rival : {rls, softmax, sharp, local("0.1", "0.01")})
      points.push_back(bench.excess(rival, linear_rms, s, "limit"));
  return points;
}

std::vector<Point> rls_stays_high(const Protocol &p) {
  Bench bench(p);
  std::vector<Point> points{bench.excess(softmax, rls, late, "paper"), bench.excess(rls, softmax, late, "corrected")};
  for (const Reading &rival : {sharp, local("0.1", "0.01")})
    for (Stretch s : {after, late}) points.push_back(bench.excess(rival, rls, s, "limit"));
  // Confound: the switch falls on t = Dk, where least squares without a ridge just interpolates. The spike is there
  // without a switch.
  const Reading steady{
      "RLS without a ridge or a switch", "rls", {{"keys", "raw"}, {"late", "0.9"}}, {{"ridge", "1e-10"}}};
  std::vector<double> rise;
  for (const std::vector<double> &loss : bench(steady).by_step) {
    const int d = bench.width();
    double spike = 0, calm = 0;
    for (int t = d - 3; t < d + 3; ++t) spike += loss[t] / 6;
    for (int t = 4 * d - 6; t < 4 * d; ++t) calm += loss[t] / 6;
    rise.push_back(std::log(spike / calm));
  }
  points.push_back(bench.shown(rise, "log of the loss around t = Dk over that at the end, no switch", "corrected"));
  return points;
}

std::vector<Point> softmax_adapts(const Protocol &p) {
  Bench bench(p);
  std::vector<Point> points;
  for (const Reading &literal : {softmax, softmax_unit}) {
    points.push_back(bench.excess(literal, rls, late, "paper"));
    for (Stretch s : {after, late}) {
      points.push_back(bench.larger(bench(average), bench(literal), s, literal.name + " over 0.7 times the plain mean",
                                    "corrected", 0.7));
    }
    points.push_back(
        bench.larger(bench.naive(), bench(literal), late, literal.name + " over 5 times naive", "corrected", 5));
  }
  points.push_back(bench.excess(sharp, rls, late, "corrected"));
  return points;
}

std::vector<Point> linear_beats_constant(const Protocol &p) {
  Bench bench(p);
  const Reading printed{"local linear, unit keys, bandwidth 2 sqrt(Dk), ridge 0.01",
                        "local_linear",
                        {{"keys", "unit"}},
                        {{"ridge", "0.01"}}};
  std::vector<Point> points{
      bench.excess(local("0.1", "1e-12"), sharp, after, "paper")}; // the inverse as printed, as far as it exists
  for (Stretch s : {before, after}) points.push_back(bench.excess(printed, softmax_unit, s, "limit"));
  points.push_back(bench.excess(local("0.1", "0.01"), sharp, after, "limit"));
  return points;
}

std::vector<Point> naive_is_best(const Protocol &p) {
  Bench bench(p);
  std::vector<Point> points;
  for (const Reading &r : {linear_unit, rls, forgetting("0.9"), softmax, sharp, local("0.1", "0.01")})
    for (Stretch s : {before, after, late})
      points.push_back(bench.larger(bench.naive(), bench(r), s, r.name + " over naive"));
  return points;
}

std::vector<Point> one_reading(const Protocol &p) {
  Bench bench(p);
  const Reading first_order = local("0.1", "0.01");
  std::vector<Point> points{
      bench.excess(softmax, rls, late, "paper")}; // with the printed scale RLS does not stay above softmax
  for (Stretch s : {before, after, late})
    for (const Reading &rival : {rls, sharp, first_order})
      points.push_back(bench.excess(rival, linear_rms, s, "limit"));
  for (Stretch s : {after, late})
    for (const Reading &rival : {sharp, first_order}) points.push_back(bench.excess(rival, rls, s, "limit"));
  points.push_back(bench.excess(first_order, sharp, after, "limit"));
  points.push_back(
      bench.not_better(first_order, sharp, before, "limit")); // a gain of a few percent, lost in some Sigma
  return points;
}

std::vector<Point> forgetting_helps(const Protocol &p) {
  Bench bench(p);
  std::vector<Point> points;
  points.push_back(bench.excess(forgetting("0.98"), rls, late));
  points.push_back(bench.excess(forgetting("0.9"), forgetting("0.98"), late));
  points.push_back(bench.excess(gated("0.98"), linear_unit, late));
  points.push_back(bench.excess(gated("0.9"), gated("0.98"), late));
  return points;
}

Claim fig2(Claim c, std::vector<std::string> variants) {
  c.tasks = {"online_regression"}, c.variants = std::move(variants);
  return c;
}
Claim conditional(Claim c) {
  c.expected = Verdict::holds_asymptotically;
  return c;
}

} // namespace

std::vector<Claim> online_regression() {
  const std::string source = "003 §5, Eq 55, Fig 2";
  return {
      fig2(ledger_row("fig2-loss-table", source,
                      "Loss curves of linear attention, RLS, softmax, local linear and the naive forecaster.",
                      "Under-specified: Sigma, the first key, normalisations, softmax scale and ridge are not given. "
                      "Tabulated for the readings named, none below the "
                      "naive forecaster; the two usual output normalisations of linear attention alone move its loss "
                      "from 2 - 2 cos to 1 + D - 2 sqrt(D) cos.",
                      table),
           {"linear", "rls", "mesa", "softmax", "softmax_qknorm"}),
      fig2(conditional(ledger_row("fig2-linear-worst", source, "Linear attention performs the worst.",
                                  "In every stretch if its output is scaled to RMS 1 (norm sqrt D against targets of "
                                  "norm 1) and the rivals are regularised; scaled to "
                                  "norm 1 it beats softmax at the printed scale.",
                                  linear_is_worst)),
           {"linear", "rls", "softmax", "softmax_qknorm", "local_linear"}),
      fig2(conditional(ledger_row("fig2-rls-high-error", source,
                                  "RLS keeps a high error after the switch; nonparametric regressors adapt.",
                                  "Against local linear regression and softmax of bandwidth 0.1, not against softmax "
                                  "at the printed scale. The switch at T/4 = Dk also falls "
                                  "on the interpolation threshold, whose spike is there without a switch.",
                                  rls_stays_high)),
           {"rls", "softmax", "softmax_qknorm", "local_linear"}),
      fig2(refuted_row("fig2-softmax-adapts", Scope::paper, source,
                       "Softmax attention (Eq 1) adapts quickly, since earlier keys are dissimilar.",
                       "At scale 1/sqrt(Dk) its weights are nearly uniform: it keeps most of the plain mean's loss and "
                       "stays above RLS, many times the naive loss. It "
                       "adapts at a bandwidth near 0.1, 160 times sharper than Eq 51's 2 sqrt(Dk).",
                       softmax_adapts),
           {"softmax", "softmax_qknorm", "rls"}),
      fig2(conditional(ledger_row("fig2-p1-beats-p0", source,
                                  "Local linear beats softmax in the initial period and at the switch.",
                                  "With a ridge of 0.01 on the slopes, at bandwidths 2 sqrt(Dk) and 0.1; with the "
                                  "inverse as printed it fails around t = Dk + 1.",
                                  linear_beats_constant)),
           {"local_linear", "softmax_qknorm"}),
      fig2(ledger_row("fig2-naive-never-beaten", source + " (derived)",
                      "No regressor beats the naive forecaster, which the paper plots as a baseline.",
                      "v_t is close to the best prediction of v_{t+1}; RLS that forgets comes nearest.", naive_is_best),
           {"linear", "rls", "mesa", "softmax", "softmax_qknorm", "local_linear"}),
      fig2(conditional(ledger_row("fig2-consistent-reading", source + " (derived)",
                                  "A reading exists that gives all four stated conclusions.",
                                  "Linear scaled to RMS 1; RLS with ridge 1e-3; softmax and local linear on unit keys "
                                  "at bandwidth 0.1, ridge 0.01 on the slopes. Selected "
                                  "afterwards: no evidence that the authors used it. With the printed scale it fails.",
                                  one_reading)),
           {"linear", "rls", "softmax", "softmax_qknorm", "local_linear"}),
      fig2(ledger_row("fig2-forgetting-helps", source,
                      "Without decaying weights linear attention and RLS cannot adjust.",
                      "Each step from gamma = 1 to 0.98 to 0.9 lowers the late loss of both (RLS with a ridge that "
                      "does not decay).",
                      forgetting_helps),
           {"linear", "gated_linear", "rls", "mesa"}),
  };
}

} // namespace recollect::theory
