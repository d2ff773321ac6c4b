// SPDX-License-Identifier: Apache-2.0
// 002 §5 (and §2, which announces it): an exponential decay on the state: the weights it gives, what still doubles,
// what bounds.
#include "theory/support/one_head.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

/// mamba2 without its write strength, which §5 leaves out.
Sequence gated_steps(const Shape &shape, std::uint64_t seed) {
  Sequence s = random_sequence(shape, seed);
  s.beta.clear(), s.lambda.clear(), s.w.clear();
  return s;
}
/// One channel: the pair (1, 1) at every step, so that reads and state are one number.
Sequence same_pair(int T, const std::function<double(int)> &alpha) {
  Sequence s;
  s.shape = {1, 1, T, 1, 1};
  s.q.assign(T, 1), s.k.assign(T, 1), s.v.assign(T, 1);
  for (int t = 1; t <= T; ++t) s.alpha.push_back(alpha(t));
  return s;
}
double last(const Output &out) { return out.o.back(); }

// ---- Unrolled -------------------------------------------------------------------------------------------------------

std::vector<Point> unrolled(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {params_of({1, 1, 20, 8, 4})})) {
    const Sequence s = gated_steps(shape_of(p), protocol.seed);
    // sum_j (product of alpha_l over l = j + from ... t - short_of) v_j k_j^T
    const auto sum = [&](int from, int short_of) {
      return stepped(s, [&, from, short_of](const Dense &, const Dense &, const Dense &, int t) {
        Dense S(s.shape.Dv, s.shape.Dk);
        for (int j = 0; j <= t; ++j) {
          double weight = 1;
          for (int l = j + from; l <= t - short_of; ++l) weight *= s.alpha[l];
          S = S + weight * write(column(s.v, j, s.shape.Dv), column(s.k, j, s.shape.Dk));
        }
        return S;
      });
    };
    const Measured layer = measured("mamba2", s);
    points.push_back(as_statement(layer.against(sum(1, 0)), p, "each write weighs the product of the later decays"));
    points.push_back(rival_law(layer.against(sum(0, 0)), p, "its own decay included"));
    points.push_back(rival_law(layer.against(sum(1, 1)), p, "the last decay left out"));
    // A constant decay is exponential: one write, then none.
    const int T = s.shape.T;
    const auto alone = [&](double (*law)(double, int)) {
      Sequence one = same_pair(T, [](int) { return 0.9; });
      std::fill(one.v.begin() + 1, one.v.end(), 0.0);
      std::vector<double> expected;
      for (int t = 0; t < T; ++t) expected.push_back(law(0.9, t));
      return exact_point(run("mamba2", one).o, expected, 2.0 * T);
    };
    points.push_back(as_statement(alone([](double a, int t) { return std::pow(a, t); }), p, "alpha = 0.9: 0.9^(t-j)"));
    points.push_back(rival_law(alone([](double a, int t) { return 1 - (1 - a) * t; }), p, "a linear decay"));
    points.push_back(rival_law(alone([](double a, int t) { return std::pow(a, t + 1); }), p, "one decay more"));
  }
  return points;
}

Claim unrolled_claim() {
  return explained(
      at_parameters(
          running(
              ledger_row("blog-mamba2-unrolled", "002 §5",
                         "$S_t = alpha_t S_{t-1} + v_t k_t^T$ with $alpha_t$ in (0, 1): a write at step $j < t$ counts "
                         "with weight $alpha_{j+1} ... alpha_t$ at step $t$, which decays exponentially.",
                         "Identity; exponential while $alpha$ stays below some bar < 1.", unrolled),
              {"mamba2"}),
          one_head_params({1, 1, 20, 8, 4})),
      "Gates that approach 1 fast enough keep a write for ever: see blog_gating_bounds.");
}

// ---- The same pair twice --------------------------------------------------------------------------------------------

std::vector<Point> doubles(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {labels({{"alpha", num(0.9)}}), labels({{"alpha", num(0.5)}})})) {
    const double alpha = p.real("alpha");
    const auto amplitude = [&](int writes) {
      return last(run("mamba2", same_pair(writes, [=](int) { return alpha; })));
    };
    const double two = amplitude(2);
    points.push_back(as_statement(exact_point(two, 2, 8), p, "two writes: twice the value"));
    const Point exact = as_obligation(exact_point(two, 1 + alpha, 8), p, "two writes: 1 + alpha");
    const int many = 2000;
    const Point limit = as_obligation(
        exact_point(amplitude(many), (1 - std::pow(alpha, many)) / (1 - alpha), 8 / ((1 - alpha) * (1 - alpha))), p,
        "2000 writes: 1 / (1 - alpha)");
    points.push_back(exact);
    points.push_back(limit);
    points.push_back(rival_law(exact, "1 + alpha^2", 1 + alpha * alpha));
    points.push_back(rival_law(limit, "alpha / (1 - alpha)", alpha / (1 - alpha)));
    points.push_back(rival_law(limit, "1 / (1 - alpha^2)", 1 / (1 - alpha * alpha)));
    const double ungated = last(run("linear", same_pair(2, [](int) { return 1; })));
    points.push_back(rival_system(exact_point(ungated, 1 + alpha, 8), p, "no gate: the value doubles"));
  }
  return points;
}

Claim doubles_claim() {
  return explained(
      at_parameters(
          running(refuted_row(
                      "blog-mamba2-doubles",
                      stricter("§5: 'seeing the same ($k$, $v$) twice still doubles the value'.", "$alpha_t$ in (0, 1)",
                               "'while gaining no information': the point is the accumulation, not the number."),
                      "002 §5, Mamba2",
                      "Under the gate, seeing the same ($k$, $v$) twice still doubles the value (the word read as the "
                      "number 2).",
                      "It adds up to $1 + alpha$ times the value, to 2 only at $alpha = 1$; repeated for ever, to $1 / "
                      "(1 - alpha)$.",
                      doubles),
                  {"mamba2", "linear"}),
          {real_param("alpha", 0.9, 0.01, 0.99, "constant decay")}),
      "The point of the sentence stands: the layer keeps adding what it already knows instead of correcting it.");
}

// ---- Bounded --------------------------------------------------------------------------------------------------------

std::vector<Point> bounds(const Protocol &protocol) {
  std::vector<Point> points;
  const auto norm = [](int T, const std::function<double(int)> &alpha) {
    return last(run("mamba2", same_pair(T, alpha)));
  };
  // alpha_t = 1 - 1/(t+1)^2 lies in (0, 1), and its product from j+1 to t is (j+1)(t+2) / ((j+2)(t+1)) > 1/2.
  const auto creeping = [](int t) { return 1 - 1 / ((t + 1.0) * (t + 1.0)); };
  const auto law = [](int T) {
    double sum = 0;
    for (int j = 1; j <= T; ++j) sum += (j + 1.0) * (T + 2.0) / ((j + 2.0) * (T + 1.0));
    return sum;
  };
  const int T = 2000;
  const Params gates = labels({{"T", num(T)}, {"alpha_t", txt("1 - 1/(t+1)^2")}});
  const double crept = norm(T, creeping), rounding = 8.0 * T * crept;
  points.push_back(as_statement(exact_point(crept, law(T / 2), rounding), gates, "|S| grows no more after step 1000"));
  const Point growth = as_obligation(exact_point(crept, law(T), rounding), gates, "|S| by its law: it grows as t");
  points.push_back(growth);

  for (const Params &p :
       points_of(protocol, {labels({{"bar", num(0.5)}}), labels({{"bar", num(0.9)}}), labels({{"bar", num(0.99)}})})) {
    const double bar = p.real("bar"), bound = 1 / (1 - bar), slack = 8 * bound * bound * epsilon_of(Real::f64);
    const int steps = int(40 / (1 - bar)); // bar^steps < e^-40
    const Point held = as_condition(exact_point(norm(steps, [=](int) { return bar; }), bound, 8 * bound * bound), p,
                                    "alpha = bar, one pair: |S| reaches max |v||k| / (1 - bar)");
    points.push_back(held);
    // One pair of vectors again and again, the gates a little below the bar and all different.
    Sequence s = gated_steps({1, 1, steps, 8, 4}, protocol.seed);
    for (double &alpha : s.alpha) alpha = bar * (0.95 + 0.05 * (alpha - 0.8) / 0.2);
    for (size_t i = 8; i < s.k.size(); ++i) s.k[i] = s.k[i - 8];
    for (size_t i = 4; i < s.v.size(); ++i) s.v[i] = s.v[i - 4];
    const double pair = frobenius_norm(column(s.v, 0, 4)) * frobenius_norm(column(s.k, 0, 8));
    points.push_back(
        as_condition(at_most_point(spectral_norm(memory(run("mamba2", s), s.shape)), pair * bound, slack * pair), p,
                     "alpha_t in (0.95 bar, bar): |S| <= max |v||k| / (1 - bar)"));
    points.push_back(rival_law(held, "1 / (1 - bar^2)", 1 / (1 - bar * bar)));
    points.push_back(rival_law(held, "bar / (1 - bar)", bar / (1 - bar)));
    points.push_back(rival_system(at_most_point(norm(T, creeping), bound, slack), p, "alpha_t = 1 - 1/(t+1)^2"));
    points.push_back(
        rival_system(at_most_point(norm(steps, [](int) { return 1; }), bound, slack), p, "no gate: |S| = t"));
  }
  return points;
}

Claim bounds_claim() {
  return under(
      "alpha_t <= bar < 1 at every step",
      explained(
          at_parameters(
              running(
                  ledger_row(
                      "blog-gating-bounds", "002 §2", "Gating, $alpha_t$ in (0, 1), bounds $S$.",
                      "$|S_t| <= max |v||k|$ / (1 - bar) where $alpha_t$ <= bar < 1 at every step; $alpha$ in (0, 1) "
                      "alone does not bound it.",
                      bounds),
                  {"mamba2"}),
              {real_param("bar", 0.9, 0.1, 0.999, "largest decay allowed")}),
          "A learned sigmoid stays below some bar < 1 on bounded inputs, and there the promise holds. Gates that "
          "approach "
          "1 like $1 - 1/(t+1)^2$ let $S$ grow as $t$."));
}

} // namespace

std::vector<Claim> section_5_gating() { return {unrolled_claim(), doubles_claim(), bounds_claim()}; }

} // namespace recollect::theory
