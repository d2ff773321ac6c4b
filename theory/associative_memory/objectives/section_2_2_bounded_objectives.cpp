// SPDX-License-Identifier: Apache-2.0
// 000 §2.2 bullets, Eq 34, footnote 14: which objectives of Table 2 are bounded below. The minima are found by descent.
#include "theory/associative_memory/objectives/quadratic.hpp"

namespace recollect::theory {
namespace {

/// Steepest descent. The minimum along each line is exact, because three values determine a quadratic. With gates in
/// 0.1 ... 0.9 the condition number is at most (1 - 0.1) / (1 - 0.9) = 9. Then each step multiplies L minus its minimum
/// by at most (8/10)^2; after 200 steps the rest is below rounding.
double minimum_by_descent(const Objective &L, Dense S) {
  for (int step = 0; step < 200; ++step) {
    const Dense g = gradient(S, L);
    const double slope = inner(g.data, g.data), curvature = 2 * (L(S - g) - L(S) + slope);
    if (!(slope > 0 && curvature > 0)) break;
    S = S - slope / curvature * g;
  }
  return L(S);
}

/// The lowest value of L over random states of sizes from 1e-3 to 1e3.
double lowest_of_states(const Objective &L, int rows, int columns, std::uint64_t seed) {
  double lowest = HUGE_VAL;
  for (int n = 0; n < 100; ++n) {
    const Dense state(rows, columns, Stream(seed, "bounded/states", n).normals(size_t(rows) * columns));
    lowest = std::min(lowest, L(std::pow(10.0, n % 7 - 3) * state));
  }
  return lowest;
}

Claim boundedness() {
  ClaimBuilder c("objective-boundedness", "000 §2.2 bullets, Eq 34, footnote 14");
  c.says("The objectives of linear attention and of softmax attention without its normaliser are unbounded below; "
         "DeltaNet's and, for large $t$, normalised softmax attention's are bounded.");
  c.exactly("The objective $L$ of linear attention and of softmax attention without its normaliser is $L(c v k^T) = -c "
            "|v|^2 |k|^2$, which has no lower bound. For DeltaNet $L >= 0$, and 0 is attained. For normalised softmax, "
            "with the features $phi$ of the key, $L >= -|v|^2 |phi|^2 / (2t)$ at every $t$, and this value is attained "
            "at $S = v phi^T$. The objective of gated linear attention with $lambda < 1$ is bounded too.");
  c.because("For normalised softmax and for gated linear attention the reason is the regulariser, which is the decay "
            "term of the recurrence.");
  c.takes({integer_param("t", 5, 1, 1000, "step"), integer_param("d", 8, 1, 32, "width of keys (or features)"),
           value_width_param(4, 1, 32)});
  return measure(c, [](Points &points, Seed seed, int t, int d, int dv) {
    const Vector k = Stream(seed, "bounded/key").normals(d), v = Stream(seed, "bounded/value").normals(dv);
    const Vector lambda = Stream(seed, "bounded/lambda").uniforms(dv, 0.1, 0.9);
    const double kk = inner(k, k), vv = inner(v, v);
    Vector weights;
    double gated_minimum = 0;
    for (int i = 0; i < dv; ++i) {
      weights.push_back(1 - lambda[i]);
      gated_minimum -= v[i] * v[i] * kk / (2 * weights[i]);
    }
    const auto recall = [&](const Dense &S) { return inner(times(S, k), v); };
    const auto square = [](const Dense &S) { return inner(S.data, S.data); };
    const Objective linear = [&](const Dense &S) { return -recall(S); };
    const Objective delta = [&](const Dense &S) {
      const Vector read = times(S, k);
      return inner(read, read) / 2 - inner(read, v) + vv / 2;
    };
    const Objective softmax = [&](const Dense &S) { return (square(S) / 2 - recall(S)) / t; };
    const Objective gated = [&](const Dense &S) { return weighted_square(S, weights) / 2 - recall(S); };
    const Objective gains = [&](const Dense &S) { return (-square(S) / 2 - recall(S)) / t; };
    // L(c v k^T) / c where L is linear: the sum of dv d products.
    Vector slopes;
    for (double c : {1.0, 1e3, 1e6}) slopes.push_back(linear(c * outer(v, k)) / c);
    const double units = 16.0 * d * dv * (vv + 1) * (kk + 1), least = -vv * kk / (2 * t);
    const Dense start = normal_matrix(dv, d, seed, "bounded/start");
    const auto found = [&](const Objective &L, double minimum) {
      // 100 times the rounding units, because terms of the loss may be larger by a factor of 1/(1-lambda)^2
      return exact_point(minimum_by_descent(L, start), minimum, 100 * units);
    };
    const auto above = [&](const Objective &L, double bound) {
      return at_least_point(lowest_of_states(L, dv, d, seed), bound, units * epsilon_of(Real::f64));
    };
    points.rounding(units)
        .statement("linear attention and softmax attention without normaliser ($phi = k$): $L(c v k^T)/c$ for $c = 1$, "
                   "1e3, 1e6",
                   slopes, Vector(3, -vv * kk))
        .but_not("$-|v||k|$", Vector(3, -std::sqrt(vv * kk)));
    points.statement("normalised softmax: minimum against $-|v|^2 |phi|^2 / (2t)$", found(softmax, least))
        .but_not("$-|v|^2 |phi|^2 / t$", 2 * least);
    points.statement("normalised softmax: lowest objective of 100 states, at least $-|v|^2 |phi|^2 / (2t)$",
                     above(softmax, least));
    points.wrong_system("linear attention, which has no regulariser", above(linear, least));
    points.wrong_system("the regulariser's sign flipped", above(gains, least));
    points.statement("DeltaNet: lowest objective of 100 states, at least 0", above(delta, 0));
    points.wrong_system("the objective of linear attention in place of DeltaNet's", above(linear, 0));
    points.obligation("DeltaNet: minimum against 0", found(delta, 0));
    points
        .obligation("gated linear attention: minimum against $-sum_i v_i^2 |k|^2 / (2 (1 - lambda_i))$",
                    found(gated, gated_minimum))
        .but_not("$-|v|^2 |k|^2 / 2$, without the gates", -vv * kk / 2);
  });
}
} // namespace

std::vector<Claim> section_2_2_bounded_objectives() { return {boundedness()}; }
} // namespace recollect::theory
