// SPDX-License-Identifier: Apache-2.0
// 002 §5 (and its announcement in §2), the decay of the state: the weights of past writes, whether a repeated write
// still doubles the value, and what bounds the state.
#include "theory/support/measure.hpp"
#include "theory/support/one_head.hpp"

namespace recollect::theory {
namespace {
/// mamba2 without its write strength, which §5 leaves out.
Sequence gated_steps(const Shape &shape, Seed seed) {
  Sequence s = random_sequence(shape, seed);
  s.beta.clear(), s.lambda.clear(), s.w.clear();
  return s;
}
/// The pair (1, 1) in one channel at every step; a read and the state are then the same number.
Sequence same_pair(int T, const std::function<double(int)> &alpha) {
  Sequence s = of_shape({1, 1, T, 1, 1});
  s.q = s.k = s.v = Vector(T, 1);
  for (int t = 1; t <= T; ++t) s.alpha.push_back(alpha(t));
  return s;
}
double last(const Output &out) { return out.o.back(); }

Claim unrolled() {
  ClaimBuilder c("blog-mamba2-unrolled", "002 §5");
  c.says("$S_t = alpha_t S_{t-1} + v_t k_t^T$ with $alpha_t$ in (0, 1): at step $t$ a write of step $j < t$ has the "
         "weight $alpha_{j+1} ... alpha_t$, and this weight decays exponentially.");
  c.exactly("An identity. The decay is exponential if every $alpha_t$ stays below some constant that is less than 1.");
  c.because("Gates that approach 1 fast enough keep a write for ever: see blog_gating_bounds.");
  c.runs({"mamba2"}), c.takes(one_head_params({1, 1, 20, 8, 4}));
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = gated_steps(shape, seed);
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
    points.statement("each write has the product of all later decays as its weight", layer.against(sum(1, 0)))
        .but_not("the decay of the write's own step included", layer.against(sum(0, 0)))
        .but_not("the decay of the last step left out", layer.against(sum(1, 1)));
    // A constant decay is exponential: one write, then only reads.
    const int T = s.shape.T;
    Sequence one = same_pair(T, [](int) { return 0.9; });
    std::fill(one.v.begin() + 1, one.v.end(), 0.0);
    const auto each = [&](double (*law)(int)) {
      Vector expected;
      for (int t = 0; t < T; ++t) expected.push_back(law(t));
      return expected;
    };
    points.rounding(2.0 * T);
    points
        .statement("weight of a write at constant $alpha = 0.9$: $0.9^(t-j)$", run("mamba2", one).o,
                   each([](int t) { return std::pow(0.9, t); }))
        .but_not("a weight that decays linearly", each([](int t) { return 1 - (1 - 0.9) * t; }))
        .but_not("$0.9^(t-j+1)$", each([](int t) { return std::pow(0.9, t + 1); }));
  });
}

Claim doubles() {
  ClaimBuilder c("blog-mamba2-doubles", "002 §5, Mamba2");
  c.says("Under the gate, seeing the same ($k$, $v$) twice still doubles the value. ('Doubles' is read here as the "
         "factor 2.)");
  c.exactly("After two writes the value at the key is $1 + alpha$ times as large as after one. This factor is 2 only "
            "for $alpha = 1$. If the write is repeated again and again, the factor tends to $1 / (1 - alpha)$.");
  c.because(
      "The main point of the sentence holds: the layer keeps adding what it already knows instead of correcting it.");
  c.is_refuted(stricter("§5: 'seeing the same ($k$, $v$) twice still doubles the value'.", "$alpha_t$ in (0, 1)",
                        "The sentence continues 'while gaining no information'. Its point is that the value "
                        "accumulates, not by which factor."));
  c.runs({"mamba2", "linear"}), c.takes({real_param("alpha", 0.9, 0.01, 0.99, "constant decay")});
  c.at({{}, {{"alpha", 0.5}}});
  return measure(c, [](Points &points, double alpha) {
    const auto amplitude = [&](int writes) {
      return last(run("mamba2", same_pair(writes, [=](int) { return alpha; })));
    };
    const double two = amplitude(2), ungated = last(run("linear", same_pair(2, [](int) { return 1; })));
    const int many = 2000;
    points.rounding(8).statement("two writes: twice the value", two, 2);
    points.obligation("two writes: $1 + alpha$", two, 1 + alpha).but_not("$1 + alpha^2$", 1 + alpha * alpha);
    points.wrong_system("no gate: the value doubles", ungated, 1 + alpha);
    points.rounding(8 / ((1 - alpha) * (1 - alpha)));
    points.obligation("2000 writes: $1 / (1 - alpha)$", amplitude(many), (1 - std::pow(alpha, many)) / (1 - alpha))
        .but_not("$alpha / (1 - alpha)$", alpha / (1 - alpha))
        .but_not("$1 / (1 - alpha^2)$", 1 / (1 - alpha * alpha));
  });
}

double norm_after(int T, const std::function<double(int)> &alpha) { return last(run("mamba2", same_pair(T, alpha))); }
/// alpha_t = 1 - 1/(t+1)^2 lies in (0, 1), and its product from j+1 to t is (j+1)(t+2) / ((j+2)(t+1)) > 1/2.
double creeping(int t) { return 1 - 1 / ((t + 1.0) * (t + 1.0)); }
double creeping_sum(int T) {
  double sum = 0;
  for (int j = 1; j <= T; ++j) sum += (j + 1.0) * (T + 2.0) / ((j + 2.0) * (T + 1.0));
  return sum;
}

Claim bounds() {
  ClaimBuilder c("blog-gating-bounds", "002 §2");
  c.says("Gating with $alpha_t$ in (0, 1) bounds the state $S$.");
  c.exactly("If $alpha_t$ is at most a bound $bar < 1$ at every step, then $|S_t| <= max |v||k| / (1 - bar)$. The "
            "condition that $alpha_t$ lies in (0, 1) does not bound $S$.");
  c.because("On bounded inputs a learned sigmoid stays below some bound $bar < 1$, and then the statement holds. With "
            "gates that approach 1 like $1 - 1/(t+1)^2$, $S$ grows as $t$.");
  c.holds_under("$alpha_t <= bar < 1$ at every step");
  c.runs({"mamba2"}), c.takes({real_param("bar", 0.9, 0.1, 0.999, "largest decay allowed")});
  c.at({{{"bar", 0.5}}, {}, {{"bar", 0.99}}});
  constexpr int T = 2000;
  c.first([](Points &points, const Protocol &) {
    const double crept = norm_after(T, creeping);
    points.at(labels({{"T", num(T)}, {"alpha_t", txt("1 - 1/(t+1)^2")}})).rounding(8.0 * T * crept);
    points.statement("$|S|$ is the same at step 2000 as at step 1000", crept, creeping_sum(T / 2));
    points.obligation("$|S|$ at step 2000, against the law, which grows as t", crept, creeping_sum(T));
  });
  return measure(c, [](Points &points, Seed seed, double bar) {
    const double bound = 1 / (1 - bar), slack = 8 * bound * bound * epsilon_of(Real::f64);
    const int steps = int(40 / (1 - bar)); // bar^steps < e^-40
    points.rounding(8 * bound * bound);
    const double reached = norm_after(steps, [=](int) { return bar; });
    points
        .condition("$alpha_t = bar$ and the same pair at every step: $|S|$ reaches $max |v||k| / (1 - bar)$", reached,
                   bound)
        .but_not("$1 / (1 - bar^2)$", 1 / (1 - bar * bar))
        .but_not("$bar / (1 - bar)$", bar / (1 - bar));
    // One pair of vectors at every step, with gates a little below the bound and all different.
    Sequence s = gated_steps({1, 1, steps, 8, 4}, seed);
    for (double &alpha : s.alpha) alpha = bar * (0.95 + 0.05 * (alpha - 0.8) / 0.2);
    for (size_t i = 8; i < s.k.size(); ++i) s.k[i] = s.k[i - 8];
    for (size_t i = 4; i < s.v.size(); ++i) s.v[i] = s.v[i - 4];
    const double pair = frobenius_norm(column(s.v, 0, 4)) * frobenius_norm(column(s.k, 0, 8));
    const double size = spectral_norm(memory(run("mamba2", s), s.shape));
    points.condition("$alpha_t$ between $0.95 bar$ and $bar$: $|S| <= max |v||k| / (1 - bar)$",
                     at_most_point(size, pair * bound, slack * pair));
    points.wrong_system("$alpha_t = 1 - 1/(t+1)^2$", at_most_point(norm_after(T, creeping), bound, slack));
    points.wrong_system("no gate: $|S| = t$", at_most_point(norm_after(steps, [](int) { return 1; }), bound, slack));
  });
}
} // namespace

std::vector<Claim> section_5_gating() { return {unrolled(), doubles(), bounds()}; }
} // namespace recollect::theory
