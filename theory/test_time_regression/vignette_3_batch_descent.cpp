// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 3, Eq 18-25: full-batch gradient descent on the least-squares objective. Its slopes are measured from
// the losses.
#include "theory/support/differences.hpp"
#include "theory/test_time_regression/pairs.hpp"

namespace recollect::theory {
namespace {

/// sum_i weight_i |v_i - M k_i|^2 / 2.
struct Loss {
  const Pairs &x;
  std::vector<double> weights = std::vector<double>(x.K.rows, 1);
  double operator()(const Dense &M) const {
    double sum = 0;
    for (int i = 0; i < x.K.rows; ++i)
      sum += weights[i] * square(column(x.V.data, i, x.V.columns) - M * column(x.K.data, i, x.K.columns)) / 2;
    return sum;
  }
};
/// Rounding units of a slope by unit differences: the largest loss involved, and the sums in it.
double slope_units(const Pairs &x, const Dense &M) {
  return 8.0 * x.K.rows * x.K.columns * (Loss{x}(M) + square(x.K) + square(x.V));
}
Dense some_memory(const Shape &shape, std::uint64_t seed) {
  return normal_matrix(shape.Dv, shape.Dk, seed, "003/memory");
}

// ---- Gradient and Hessian -------------------------------------------------------------------------------------------

std::vector<Point> slopes(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {pair_point(14, 5, 3)})) {
    const Shape shape = pair_shape(p);
    const Pairs x(shape, protocol.seed), fewer = x.some(0, shape.T - 1);
    const Dense M = some_memory(shape, protocol.seed),
                E = normal_matrix(shape.Dv, shape.Dk, protocol.seed, "003/direction");
    const Dense measured = gradient(M, Loss{x}), along = gradient(M + E, Loss{x}) - measured;
    const auto printed = [](const Pairs &y, const Dense &at) { return (at * transpose(y.K) - transpose(y.V)) * y.K; };
    const double units = slope_units(x, M) + slope_units(x, M + E);
    const auto is = [&](const Dense &slope, const Dense &expected) {
      return exact_point(slope.data, expected.data, units);
    };
    points.push_back(as_statement(is(measured, printed(x, M)), p, "the gradient is (M K^T - V^T) K"));
    points.push_back(as_statement(is(along, E * x.gram()), p, "the Hessian is K^T K, acting on rows"));
    const Dense elsewhere = gradient(2.0 * M + E, Loss{x}) - gradient(2.0 * M, Loss{x});
    points.push_back(as_statement(exact_point(elsewhere.data, along.data, 8 * units), p, "the Hessian is constant"));
    points.push_back(rival_system(is(gradient(M, [&](const Dense &m) { return 2 * Loss{x}(m); }), printed(x, M)), p,
                                  "the loss without its 1/2"));
    points.push_back(rival_law(is(measured, 2.0 * printed(x, M)), p, "twice the gradient"));
    points.push_back(rival_law(is(measured, printed(fewer, M)), p, "the gradient of t-1 pairs"));
    points.push_back(rival_law(is(along, E * fewer.gram()), p, "the Hessian of t-1 pairs"));
    if (shape.Dk > 1) points.push_back(rival_law(is(along, E * diagonal(diagonal_of(x.gram()))), p, "its diagonal"));
  }
  return points;
}

Claim slopes_claim() {
  return explained(
      at_parameters(
          ledger_row(
              "ls-gradient-hessian", "003 Eq 18-19, after Eq 24",
              "The gradient of $L_t(M) = sum_i |v_i - M k_i|^2 / 2$ is $(M K_t^T - V_t^T) K_t$, and its constant "
              "Hessian is $K_t^T K_t$.",
              "The Hessian acts on the rows of $M$: $E$ goes to $E K^T K$.", slopes),
          pair_params(point_P)),
      "As a matrix on all of $M$ the Hessian is $K^T K$ once for every row.");
}

// ---- Four writings of a step ----------------------------------------------------------------------------------------

std::vector<Point> writings(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {pair_point(14, 5, 3).set("steps", 6)})) {
    const Shape shape = pair_shape(p);
    Pairs x(shape, protocol.seed);
    normalise_rows(x.K.data, shape.Dk);
    const int steps = p.integer("steps");
    const std::vector<double> beta = Stream(protocol.seed, "003/step sizes").uniforms(steps, 0.02, 0.1);
    const auto descend = [&](auto step) {
      Dense M(shape.Dv, shape.Dk);
      for (int i = 0; i < steps; ++i) M = step(M, beta[i]);
      return M;
    };
    const Dense I = Dense::identity(shape.Dk);
    const auto each = [&](auto term) {
      Dense sum(shape.Dv, shape.Dk);
      for (int j = 0; j < shape.T; ++j) sum = sum + term(column(x.K.data, j, shape.Dk), column(x.V.data, j, shape.Dv));
      return sum;
    };
    const Dense eq20 = descend([&](const Dense &M, double b) { return M - b * gradient(M, Loss{x}); });
    const auto eq23 = [&](double b, double c, const Dense &M) { return M * (I - b * x.gram()) + c * x.cross(); };
    const double units = steps * slope_units(x, eq20);
    const auto is = [&](const Dense &M) { return exact_point(eq20.data, M.data, units); };
    points.push_back(as_statement(is(descend([&](const Dense &M, double b) {
                                    return M -
                                           b * each([&](const Dense &k, const Dense &v) {
                                             return gradient(M, [&](const Dense &m) { return square(v - m * k) / 2; });
                                           });
                                  })),
                                  p, "Eq 21, the sum of the gradients of single pairs"));
    points.push_back(
        as_statement(is(descend([&](const Dense &M, double b) {
                       return M - b * each([&](const Dense &k, const Dense &v) { return write(M * k - v, k); });
                     })),
                     p, "Eq 22"));
    points.push_back(as_statement(is(descend([&](const Dense &M, double b) { return eq23(b, b, M); })), p, "Eq 23"));
    points.push_back(rival_law(is(descend([&](const Dense &M, double b) { return eq23(b, 1, M); })), p,
                               "beta missing from the sum of values"));
    points.push_back(rival_law(is(descend([&](const Dense &M, double b) { return eq23(1, b, M); })), p,
                               "beta missing from the sum of keys"));
    points.push_back(rival_system(
        exact_point(descend([&](const Dense &M, double b) { return M - 2 * b * gradient(M, Loss{x}); }).data,
                    descend([&](const Dense &M, double b) { return eq23(b, b, M); }).data, units),
        p, "steps of twice the size"));
  }
  return points;
}

Claim writings_claim() {
  std::vector<ParamSpec> params = pair_params(point_P);
  params.push_back(integer_param("steps", 6, 1, 50, "iterations"));
  return explained(
      at_parameters(
          ledger_row("gd-eq20-23", "003 Eq 20-23",
                     "Full-batch gradient descent from the origin with step sizes $beta^(i)$ can be written by the "
                     "gradient, by the pairs' gradients, by their residuals, and as $M (I - sum beta k k^T) + sum beta "
                     "v k^T$.",
                     "The four agree.", writings),
          params),
      "The last form is DeltaNet's on all pairs at once.");
}

// ---- One step is linear attention -----------------------------------------------------------------------------------

/// Reads and last memory of one step of size `size` from M_0 on the loss of every prefix.
template <class Weights> Output one_step(const Sequence &s, double size, const Dense &start, const Weights &weights) {
  const Pairs all(rows_of(s.k, s.shape.T, s.shape.Dk), rows_of(s.v, s.shape.T, s.shape.Dv));
  return stepped(s, [&](const Dense &, const Dense &, const Dense &, int t) {
    const Pairs prefix = all.some(0, t + 1);
    return start - size * gradient(start, Loss{prefix, weights(t)});
  });
}
std::vector<double> equal(int t) { return std::vector<double>(t + 1, 1); }

std::vector<Point> linear_step(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {params_of(point_P)})) {
    const Sequence s = random_sequence(shape_of(p), protocol.seed);
    const Dense origin(s.shape.Dv, s.shape.Dk);
    const Pairs x(rows_of(s.k, s.shape.T, s.shape.Dk), rows_of(s.v, s.shape.T, s.shape.Dv));
    const Measured layer{results_of("linear", s), rounding_units("linear", s) + slope_units(x, origin)};
    const Output step = one_step(s, 1, origin, equal);
    points.push_back(as_statement(layer.against(step), p, "one step of size 1 from the origin, every prefix"));
    points.push_back(rival_system(measured("delta_net", s).against(step), p, "DeltaNet"));
    points.push_back(rival_law(layer.against(one_step(s, 0.5, origin, equal)), p, "a step of size 1/2"));
    points.push_back(rival_law(layer.against(one_step(s, 1, some_memory(s.shape, protocol.seed), equal)), p,
                               "a step from elsewhere"));
    const Dense after = x.cross();
    const Dense twice = after - gradient(after, Loss{x});
    points.push_back(
        rival_law(exact_point(memory(run("linear", s), s.shape).data, twice.data, layer.units), p, "two steps"));
  }
  return points;
}

Claim linear_claim() {
  return explained(
      at_parameters(
          running(ledger_row("linattn-one-gd-step", "003 Eq 24",
                             "Linear attention is one step of full-batch gradient descent of size 1 on $L_t$ from the "
                             "origin: $M_t^(1) = V_t^T K_t$.",
                             "Identity at every prefix.", linear_step),
                  {"linear", "delta_net"}),
          one_head_params(point_P)),
      "The step is taken anew from the origin at every $t$; it does not start from $M_{t-1}$.");
}

std::vector<Point> gated_step(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {params_of(point_P)})) {
    Sequence s = random_sequence(shape_of(p), protocol.seed);
    s.lambda.clear();
    const Dense origin(s.shape.Dv, s.shape.Dk);
    const Pairs x(rows_of(s.k, s.shape.T, s.shape.Dk), rows_of(s.v, s.shape.T, s.shape.Dv));
    const auto weights = [&](double exponent) {
      return [&s, exponent](int t) {
        std::vector<double> w(t + 1, 1);
        for (int i = 0; i <= t; ++i)
          for (int j = i + 1; j <= t; ++j) w[i] *= std::pow(s.alpha[j], exponent);
        return w;
      };
    };
    const Measured layer{results_of("gated_linear", s), rounding_units("gated_linear", s) + slope_units(x, origin)};
    const Output step = one_step(s, 1, origin, weights(1));
    points.push_back(as_statement(layer.against(step), p, "one step on the weighted loss, every prefix"));
    points.push_back(rival_system(measured("linear", s).against(step), p, "linear attention"));
    points.push_back(rival_law(layer.against(one_step(s, 1, origin, equal)), p, "the loss without weights"));
    points.push_back(rival_law(layer.against(one_step(s, 1, origin, weights(0.5))), p, "the roots of the weights"));
  }
  return points;
}

Claim gated_claim() {
  return explained(
      at_parameters(
          running(ledger_row("gated-linattn-one-gd-step", "003 after Eq 24",
                             "Layers that implement linear attention with forgetting perform one step of full-batch "
                             "gradient descent on the weighted least-squares objective.",
                             "Identity, with $gamma_i^(t) = prod_{j>i} gamma_j$.", gated_step),
                  {"gated_linear", "linear"}),
          one_head_params(point_P)),
      "The paper states it as similar to Eq 24; it is the same computation.");
}

// ---- One preconditioned step is least squares -----------------------------------------------------------------------

std::vector<Point> newton(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {pair_point(14, 5, 3)})) {
    const Shape shape = pair_shape(p);
    if (shape.T <= shape.Dk) usage_error("K^T K of t-1 pairs, for the rival, needs t > Dk");
    const Pairs x(shape, protocol.seed), fewer = x.some(0, shape.T - 1);
    const Dense origin(shape.Dv, shape.Dk), best = x.best();
    for (double start : {0.0, 1.0, 10.0}) {
      const Dense M = start * some_memory(shape, protocol.seed), slope = gradient(M, Loss{x});
      const double units = solved_units(x.K, best) + slope_units(x, M) * max_abs(inverse(x.gram()).data) * shape.Dk;
      const auto reaches = [&](const Dense &end) { return exact_point(end.data, best.data, units); };
      const Params q = Params(p).set("start", start);
      const Point step = reaches(M - slope * inverse(x.gram()));
      points.push_back(start == 0 ? as_statement(step, q, "from the origin")
                                  : as_obligation(step, q, "from elsewhere"));
      points.push_back(rival_system(reaches(M - slope * inverse(fewer.gram())), q, "the Hessian of t-1 pairs"));
      points.push_back(rival_system(reaches(M - 0.5 * (slope * inverse(x.gram()))), q, "half a step"));
      points.push_back(rival_system(reaches(M - slope), q, "no preconditioner"));
    }
  }
  return points;
}

Claim newton_claim() {
  return explained(
      at_parameters(
          ledger_row("ls-one-newton-step", "003 Eq 25, footnote 1",
                     "Preconditioned by the constant Hessian, gradient descent converges in a single update from the "
                     "origin to $V^T K (K^T K)^{-1}$: one step of Newton's method.",
                     "From any start; $K^T K$ must be invertible.", newton),
          pair_params(point_P)),
      "A quadratic is its own second-order model.");
}

} // namespace

std::vector<Claim> vignette_3_batch_descent() {
  return {slopes_claim(), writings_claim(), linear_claim(), gated_claim(), newton_claim()};
}

} // namespace recollect::theory
