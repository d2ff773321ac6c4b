// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 3, Eq 18-25: full-batch gradient descent on least squares, with gradients measured from the losses.
#include "theory/support/differences.hpp"
#include "theory/test_time_regression/pairs.hpp"

namespace recollect::theory {
namespace {
/// sum_i weight_i |v_i - M k_i|^2 / 2.
struct Loss {
  const Pairs &x;
  Vector weights = Vector(x.K.rows, 1);
  double operator()(const Dense &M) const {
    double sum = 0;
    for (int i = 0; i < x.K.rows; ++i) sum += weights[i] * square(x.value(i) - M * x.key(i)) / 2;
    return sum;
  }
};
/// Bound on the rounding error of a gradient by differences of width 1, in units of eps: the largest loss that is
/// evaluated, times its number of terms.
double slope_units(const Pairs &x, const Dense &M) {
  return 8.0 * x.K.rows * x.K.columns * (Loss{x}(M) + square(x.K) + square(x.V));
}
Dense some_memory(const Shape &shape, Seed seed) { return normal_matrix(shape.Dv, shape.Dk, seed, "003/memory"); }

Claim slopes() {
  ClaimBuilder c("ls-gradient-hessian", "003 Eq 18-19, after Eq 24");
  c.says("The gradient of $L_t(M) = sum_i |v_i - M k_i|^2 / 2$ is $(M K_t^T - V_t^T) K_t$, and its constant Hessian is "
         "$K_t^T K_t$.");
  c.exactly("The Hessian acts on the rows of $M$: it maps $E$ to $E K^T K$.");
  c.because("As a matrix on all of $M$ the Hessian is block diagonal, with $K^T K$ once per row.");
  c.takes(pair_params(point_P));
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Pairs x(shape, seed), fewer = x.some(0, shape.T - 1);
    const Dense M = some_memory(shape, seed), E = normal_matrix(shape.Dv, shape.Dk, seed, "003/direction");
    const Dense measured = gradient(M, Loss{x}), along = gradient(M + E, Loss{x}) - measured;
    const auto printed = [](const Pairs &y, const Dense &at) { return (at * transpose(y.K) - transpose(y.V)) * y.K; };
    const double units = slope_units(x, M) + slope_units(x, M + E);
    points.rounding(units);
    points.statement("the gradient of the loss is $(M K^T - V^T) K$", measured, printed(x, M))
        .but_not("twice the gradient", 2.0 * printed(x, M))
        .but_not("the gradient of $t-1$ pairs", printed(fewer, M));
    auto hessian = points.statement("the Hessian of the loss maps $E$ to $E K^T K$", along, E * x.gram())
                       .but_not("the Hessian of $t-1$ pairs", E * fewer.gram());
    const Dense elsewhere = gradient(2.0 * M + E, Loss{x}) - gradient(2.0 * M, Loss{x});
    points.rounding(8 * units).statement("the Hessian at another $M$ is the same", elsewhere, along);
    const Dense doubled = gradient(M, [&](const Dense &m) { return 2 * Loss{x}(m); });
    points.rounding(units).wrong_system("the gradient of the loss without its $1/2$", doubled, printed(x, M));
    if (shape.Dk > 1) hessian.but_not("the diagonal of $K^T K$", E * diagonal(diagonal_of(x.gram())));
  });
}

Claim writings() {
  ClaimBuilder c("gd-eq20-23", "003 Eq 20-23");
  c.says("Full-batch gradient descent from the origin with step sizes $beta^(i)$ can be written in four ways: with the "
         "gradient of the loss, with the gradients of single pairs, with the residuals of the pairs, and as $M (I - "
         "sum beta k k^T) + sum beta v k^T$.");
  c.exactly("The four forms give the same memory after every step.");
  c.because("The fourth form is the update of DeltaNet, applied to all pairs together.");
  c.takes(pair_params(point_P), {integer_param("steps", 6, 1, 50, "iterations")});
  return measure(c, [](Points &points, Seed seed, const Shape &shape, int steps) {
    Pairs x(shape, seed);
    normalise_rows(x.K.data, shape.Dk);
    const Vector beta = Stream(seed, "003/step sizes").uniforms(steps, 0.02, 0.1);
    const auto descend = [&](auto step) {
      Dense M(shape.Dv, shape.Dk);
      for (int i = 0; i < steps; ++i) M = step(M, beta[i]);
      return M;
    };
    const Dense I = Dense::identity(shape.Dk);
    const auto each = [&](auto term) {
      Dense sum(shape.Dv, shape.Dk);
      for (int j = 0; j < shape.T; ++j) sum = sum + term(x.key(j), x.value(j));
      return sum;
    };
    const Dense eq20 = descend([&](const Dense &M, double b) { return M - b * gradient(M, Loss{x}); });
    const auto eq23 = [&](bool keys, bool values) { // `keys` and `values` say which of the two sums has the factor beta
      return descend(
          [&](const Dense &M, double b) { return M * (I - (keys ? b : 1) * x.gram()) + (values ? b : 1) * x.cross(); });
    };
    points.rounding(steps * slope_units(x, eq20));
    points.statement("Eq 21 (sum of the gradients of single pairs) gives the memory of Eq 20", eq20,
                     descend([&](const Dense &M, double b) {
                       return M - b * each([&](const Dense &k, const Dense &v) {
                                    return gradient(M, [&](const Dense &m) { return square(v - m * k) / 2; });
                                  });
                     }));
    points.statement("Eq 22 (sum of residuals) gives the memory of Eq 20", eq20, descend([&](const Dense &M, double b) {
                       return M - b * each([&](const Dense &k, const Dense &v) { return write(M * k - v, k); });
                     }));
    points
        .statement("Eq 23 ($M (I - sum beta k k^T) + sum beta v k^T$) gives the memory of Eq 20", eq20,
                   eq23(true, true))
        .but_not("$beta$ missing from the sum of values", eq23(true, false))
        .but_not("$beta$ missing from the sum of keys", eq23(false, true));
    const Dense doubled = descend([&](const Dense &M, double b) { return M - 2 * b * gradient(M, Loss{x}); });
    points.wrong_system("Eq 20 with steps of twice the size gives the memory of Eq 23", doubled, eq23(true, true));
  });
}

Pairs pairs_of(const Sequence &s) { return {rows_of(s.k, s.shape.T, s.shape.Dk), rows_of(s.v, s.shape.T, s.shape.Dv)}; }
/// A layer's results. The bound on rounding includes the rounding of the gradient at M = 0.
Measured first_step(const std::string &variant, const Sequence &s) {
  const double units = slope_units(pairs_of(s), Dense(s.shape.Dv, s.shape.Dk));
  return {results_of(variant, s), rounding_units(variant, s) + units};
}
/// For every prefix, one gradient step of size `size` from `start` on the prefix's loss: the reads, and the last
/// memory.
template <class Weights> Output one_step(const Sequence &s, double size, const Dense &start, const Weights &weights) {
  const Pairs all = pairs_of(s);
  return stepped(s, [&](const Dense &, const Dense &, const Dense &, int t) {
    const Pairs prefix = all.some(0, t + 1);
    return start - size * gradient(start, Loss{prefix, weights(t)});
  });
}
Vector equal(int t) { return Vector(t + 1, 1); }

Claim linear_step() {
  ClaimBuilder c("linattn-one-gd-step", "003 Eq 24");
  c.says("Linear attention is one step of full-batch gradient descent of size 1 on $L_t$ from the origin: $M_t^(1) = "
         "V_t^T K_t$.");
  c.exactly("An identity at every prefix.");
  c.because("At every $t$ the step starts from the origin, not from $M_{t-1}$.");
  c.runs({"linear", "delta_net"}), c.takes(one_head_params(point_P));
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = random_sequence(shape, seed);
    const Dense origin(s.shape.Dv, s.shape.Dk);
    const Pairs x = pairs_of(s);
    const Measured layer = first_step("linear", s);
    const Output step = one_step(s, 1, origin, equal);
    auto one =
        points.statement("the read is that of one step of size 1 from the origin, at every prefix", layer.against(step))
            .but_not("a step of size $1/2$", layer.against(one_step(s, 0.5, origin, equal)))
            .but_not("a step from another start", layer.against(one_step(s, 1, some_memory(s.shape, seed), equal)));
    points.wrong_system("DeltaNet", measured("delta_net", s).against(step));
    const Dense after = x.cross(), twice = after - gradient(after, Loss{x});
    one.but_not("two steps", compare(memory(run("linear", s), s.shape), twice, layer.units));
  });
}

Claim gated_step() {
  ClaimBuilder c("gated-linattn-one-gd-step", "003 after Eq 24");
  c.says("Layers that implement linear attention with forgetting perform one step of full-batch gradient descent on "
         "the weighted least-squares objective.");
  c.exactly("This is an identity, with the weights $gamma_i^(t) = prod_{j=i+1..t} gamma_j$ in the loss.");
  c.because("The paper calls these layers similar to Eq 24; they do the same computation on the weighted loss.");
  c.runs({"gated_linear", "linear"}), c.takes(one_head_params(point_P));
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    Sequence s = random_sequence(shape, seed);
    s.lambda.clear();
    const Dense origin(s.shape.Dv, s.shape.Dk);
    const auto weights = [&](double exponent) {
      return [&s, exponent](int t) {
        Vector w(t + 1, 1);
        for (int i = 0; i <= t; ++i)
          for (int j = i + 1; j <= t; ++j) w[i] *= std::pow(s.alpha[j], exponent);
        return w;
      };
    };
    const Measured layer = first_step("gated_linear", s);
    const Output step = one_step(s, 1, origin, weights(1));
    points
        .statement("the read is that of one step on the weighted loss from the origin, at every prefix",
                   layer.against(step))
        .but_not("the loss without weights", layer.against(one_step(s, 1, origin, equal)))
        .but_not("the loss with the square roots of the weights", layer.against(one_step(s, 1, origin, weights(0.5))));
    points.wrong_system("linear attention", measured("linear", s).against(step));
  });
}

Claim newton() {
  ClaimBuilder c("ls-one-newton-step", "003 Eq 25, footnote 1");
  c.says("Preconditioned by the constant Hessian, gradient descent converges in a single update from the origin to "
         "$V^T K (K^T K)^{-1}$. This update is one step of Newton's method.");
  c.exactly("The statement is true from any start, if $K^T K$ is invertible.");
  c.because("A quadratic function equals its second-order Taylor model.");
  c.takes(pair_params(point_P));
  return measure(c, [](Points &points, Seed seed, const Params &p, const Shape &shape) {
    if (shape.T <= shape.Dk) usage_error("take t > Dk: K^T K of t - 1 pairs must be invertible for a rival");
    const Pairs x(shape, seed), fewer = x.some(0, shape.T - 1);
    const Dense origin(shape.Dv, shape.Dk), best = x.best();
    for (double start : {0.0, 1.0, 10.0}) {
      const Dense M = start * some_memory(shape, seed), slope = gradient(M, Loss{x}),
                  step = M - slope * inverse(x.gram());
      points.at(Params(p).set("start", start))
          .rounding(solved_units(x.K, best) + slope_units(x, M) * max_abs(inverse(x.gram()).data) * shape.Dk);
      start == 0 ? points.statement("Newton step from the origin: $V^T K (K^T K)^{-1}$", step, best)
                 : points.obligation("Newton step from another start: $V^T K (K^T K)^{-1}$", step, best);
      points.wrong_system("the Hessian of $t-1$ pairs", M - slope * inverse(fewer.gram()), best);
      points.wrong_system("half a Newton step", M - 0.5 * (slope * inverse(x.gram())), best);
      points.wrong_system("gradient step without preconditioner", M - slope, best);
    }
  });
}
} // namespace

std::vector<Claim> vignette_3_batch_descent() { return {slopes(), writings(), linear_step(), gated_step(), newton()}; }
} // namespace recollect::theory
