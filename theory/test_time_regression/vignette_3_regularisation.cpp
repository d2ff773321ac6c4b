// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 3, Eq 34-41: with L2 regularisation the step is Leaky LMS, which is Gated DeltaNet in other parameters.
#include "theory/support/differences.hpp"
#include "theory/support/sampling.hpp"
#include "theory/test_time_regression/pairs.hpp"

namespace recollect::theory {
namespace {
/// Regularisation strengths in (0, 1), and the corresponding decays 1 - beta lambda.
struct Regularised {
  Sequence s;
  Vector lambda;
  Regularised(const Shape &shape, Seed seed)
      : s(random_sequence(shape, seed)), lambda(Stream(seed, "003/regularisation").uniforms(shape.T, 0, 1)) {
    for (int t = 0; t < shape.T; ++t) s.alpha[t] = 1 - s.beta[t] * lambda[t];
  }
};

Claim norms() {
  ClaimBuilder c("leaky-lms-norm-notation", "003 Eq 34");
  c.says("The penalty $(lambda/2) |M|_2^2$ has the gradient $lambda M$ that Eq 35 uses. (Appendix A defines a matrix "
         "norm with the subscript 2 as the spectral norm.)");
  c.exactly("$M$ is the gradient of $|M|_F^2 / 2$, with the Frobenius norm. The gradient of half the squared spectral "
            "norm is $sigma_1 u_1 v_1^T$, where $sigma_1$ is the largest singular value and $u_1$, $v_1$ are its "
            "singular vectors.");
  c.because("Only the notation is wrong: Eq 35 to 37 are those of L2 regularisation, which penalises the sum of all "
            "squares.");
  c.is_refuted(
      slip("Eq 34: $(lambda/2) |M|_2^2$.", "'L2 regularizing'", "Eq 35 to 37 are those of the Frobenius norm."));
  c.runs({"leaky_lms"});
  c.takes({integer_param("Dk", 5, 2, 32, "key width"), integer_param("Dv", 3, 2, 32, "value width"),
           real_param("beta", 0.4, 0.01, 1, "step size"), real_param("lambda", 0.2, 0.01, 1, "regularisation")});
  return measure(c, [](Points &points, Seed seed, int Dk, int Dv, double beta, double lambda) {
    // M_0 with singular values 2, 1, 1/2, ... along known directions.
    const int r = std::min(Dk, Dv);
    const Dense left = transpose(orthonormal(r, Dv, seed)), right = orthonormal(r, Dk, seed + 1);
    Vector values(r), first(r, 0.0);
    for (int i = 0; i < r; ++i) values[i] = std::pow(2.0, 1 - i);
    first[0] = values[0];
    const Dense M = left * diagonal(values) * right, leading = left * diagonal(first) * right;
    // The gradient of |M|^2 / 2 by central differences of step h; the error is at most h^2 times a derivative of order
    // 1.
    const double h = 1e-4;
    const auto slope = [&](const auto &norm) {
      Dense g(Dv, Dk);
      for (size_t i = 0; i < g.data.size(); ++i) {
        Dense up = M, down = M;
        up.data[i] += h, down.data[i] -= h;
        g.data[i] = (std::pow(norm(up), 2) - std::pow(norm(down), 2)) / (4 * h);
      }
      return g;
    };
    const double by_differences = 100 * h * h / epsilon_of(Real::f64);
    const Dense spectral = slope(spectral_norm), frobenius = slope(frobenius_norm);
    points.rounding(by_differences).statement("spectral norm: the gradient of $|M|^2 / 2$ is M", spectral, M);
    points.obligation("spectral norm: the gradient of $|M|^2 / 2$ is $sigma_1 u_1 v_1^T$", spectral, leading);
    points.obligation("Frobenius norm: the gradient of $|M|^2 / 2$ is M", frobenius, M)
        .but_not("the gradient of $|M|^2$, without the $1/2$", 2.0 * M);
    // One step of Eq 35 with either norm, compared with Leaky LMS.
    Sequence s = random_sequence({1, 1, 1, Dk, Dv}, seed);
    s.state = M.data, s.beta = {beta}, s.alpha = {1 - beta * lambda};
    const Dense k = column(s.k, 0, Dk), v = column(s.v, 0, Dv), layer = memory(run("leaky_lms", s), s.shape);
    const auto eq35 = [&](const Dense &g) { return M - beta * (write(M * k - v, k) + lambda * g); };
    points.statement("Eq 35 with the spectral norm is Leaky LMS", layer, eq35(spectral));
    points.obligation("Eq 35 with the Frobenius norm is Leaky LMS", layer, eq35(frobenius));
    points.wrong_system("Eq 35 with the largest element as norm is Leaky LMS",
                        slope([](const Dense &m) { return max_abs(m.data); }), M);
  });
}

Claim leaky_lms_is_sgd() {
  ClaimBuilder c("leaky-lms-eq37", "003 Eq 35-37");
  c.says("Single-example SGD on the L2-regularised loss is Leaky LMS: $M_t = (1 - beta lambda) M_{t-1} + beta (v - "
         "M_{t-1} k) k^T$.");
  c.exactly("This is an identity, with the Frobenius norm in Eq 34.");
  c.because("Leaky LMS takes the residual at $M_{t-1}$ before the decay; Gated DeltaNet takes it after the decay.");
  c.runs({"leaky_lms", "gated_delta_net", "delta_net"}), c.takes(one_head_params(point_P));
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Regularised x(shape, seed);
    const Sequence &s = x.s;
    const auto steps = [&](double penalty) { // gradient steps on |v - M k|^2 / 2 + penalty lambda |M|_F^2 / 2
      return stepped(s, [&](const Dense &M, const Dense &k, const Dense &v, int t) {
        return M - s.beta[t] * gradient(M, [&](const Dense &m) {
                     return square(v - m * k) / 2 + penalty * x.lambda[t] * square(m) / 2;
                   });
      });
    };
    const Output sgd = steps(1), fading = stepped(s, [&](const Dense &M, const Dense &k, const Dense &v, int t) {
                                   return (1 - x.lambda[t]) * M + s.beta[t] * write(v - M * k, k);
                                 });
    const Measured layer = measured("leaky_lms", s);
    const double factor =
        8 * s.shape.Dv * (1 + std::pow(max_abs(s.v), 2)); // the size of the losses that the measured gradient subtracts
    points.statement("Leaky LMS takes SGD steps on the regularised loss", layer.against(sgd, factor))
        .but_not("the penalty without its $1/2$", layer.against(steps(2), factor))
        .but_not("a decay of $1 - lambda$", layer.against(fading, factor));
    points.wrong_system("Gated DeltaNet, which takes the residual after the decay",
                        measured("gated_delta_net", s).against(sgd, factor));
    points.wrong_system("DeltaNet, without regularisation", measured("delta_net", s).against(sgd, factor));
  });
}

void scale_values(Sequence &s, const Vector &factors) {
  for (size_t i = 0; i < s.v.size(); ++i) s.v[i] *= factors[i / s.shape.Dv];
}

Claim map_and_back() {
  ClaimBuilder c("gated-deltanet-map", "003 Eq 38-41");
  c.says("Gated DeltaNet (decay $alpha$, step $eta$, value $v'$) is Leaky LMS ($lambda$, $beta$, $v$) in other "
         "parameters: $(alpha, eta, v') = (1 - beta lambda, beta / (1 - beta lambda), (1 - beta lambda) v)$, and "
         "inversely $(lambda, beta, v) = ((1 - alpha) / (alpha eta), alpha eta, v' / alpha)$.");
  c.exactly("The map is exact for $alpha != 0$ and $eta != 0$. Gated DeltaNet writes $eta v' k^T$.");
  c.because("$alpha$ couples the regularisation strength and the step size, and the value is multiplied by $alpha$.");
  c.runs({"leaky_lms", "gated_delta_net"}), c.takes(one_head_params(point_P));
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Regularised x(shape, seed);
    const Sequence &leaky = x.s;
    // (lambda, beta, v) to (alpha, eta, v') = (1 - beta lambda, beta / (1 - beta lambda), (1 - beta lambda) v).
    Sequence gated = leaky, kept_values = leaky, kept_steps = leaky, twice_scaled;
    for (int t = 0; t < leaky.shape.T; ++t) gated.beta[t] = kept_values.beta[t] = leaky.beta[t] / leaky.alpha[t];
    scale_values(gated, leaky.alpha), scale_values(kept_steps, leaky.alpha);
    twice_scaled = gated, scale_values(twice_scaled, leaky.alpha); // rival: scales the value twice
    const double factor = 4;
    const Vector reference = results_of("leaky_lms", leaky);
    const auto by = [&](const Sequence &s) { return measured("gated_delta_net", s).against(reference, factor); };
    points.statement("reads of Leaky LMS are those of Gated DeltaNet with mapped inputs", by(gated));
    points.wrong_system("Gated DeltaNet with mapped inputs, v not rescaled", by(kept_values));
    points.wrong_system("Gated DeltaNet with mapped inputs, $beta$ for $eta$", by(kept_steps));
    points.wrong_system("Gated DeltaNet with mapped inputs, a write of $alpha eta v' k^T$", by(twice_scaled));
    // The inverse map: (lambda, beta, v) = ((1 - alpha) / (alpha eta), alpha eta, v' / alpha).
    const Sequence start = random_sequence(leaky.shape, seed);
    Sequence back = start, wrong;
    Vector inverses;
    for (int t = 0; t < start.shape.T; ++t) {
      const double alpha = start.alpha[t], eta = start.beta[t], lambda = (1 - alpha) / (alpha * eta);
      back.beta[t] = alpha * eta, back.alpha[t] = 1 - back.beta[t] * lambda, inverses.push_back(1 / alpha);
    }
    wrong = back, scale_values(back, inverses);
    const Vector gated_reads = results_of("gated_delta_net", start);
    points.statement("reads of Gated DeltaNet are those of Leaky LMS with mapped inputs",
                     measured("leaky_lms", back).against(gated_reads, factor));
    points.wrong_system("Leaky LMS with mapped inputs, v' not rescaled",
                        measured("leaky_lms", wrong).against(gated_reads, factor));
  });
}

double strength(double alpha, double eta) { return (1 - alpha) / (alpha * eta); }

Claim ranges() {
  ClaimBuilder c("gated-deltanet-map-ranges", "003 Eq 34 (lambda in [0, 1]) with Eq 41");
  c.says("The map between Leaky LMS and Gated DeltaNet is onto for the stated ranges: $alpha$ and $eta$ in [0, 1] for "
         "Gated DeltaNet, $beta$ and $lambda$ in [0, 1] for Leaky LMS.");
  c.exactly(
      "A gate $alpha$ and a step size $eta$ map to $lambda <= 1$ exactly where $alpha >= 1 / (1 + eta)$, a share $1 - "
      "ln 2 = 0.307$ of the unit square. $beta$ and $lambda$ map to $eta <= 1$ exactly where $beta (1 + lambda) <= 1$, "
      "a share $ln 2$. The map is a bijection for $lambda$ in [0, infinity), $alpha > 0$, $eta > 0$.");
  c.because("The equivalence itself is exact (gated_deltanet_map); only the stated interval of $lambda$ is too short.");
  c.is_refuted(stricter("After Eq 41: 'the invertible mapping' and its inverse.", "$lambda$ in [0, 1] (Eq 34)",
                        "The inverse is given without its range."));
  c.runs({"leaky_lms", "gated_delta_net"});
  return measure(c, [](Points &points, const Protocol &protocol) {
    // A gate and a step size within the stated range for which lambda must be 2.
    points.at(labels({{"alpha", num(0.5)}, {"eta", num(0.5)}}));
    points.statement("$lambda$ that belongs to $alpha = eta = 1/2$: at most 1",
                     at_most_point(strength(0.5, 0.5), 1, 1e-12));
    const auto equal = [&](double lambda) { // Leaky LMS with this lambda, compared with Gated DeltaNet
      Sequence gated = random_sequence(point_P, protocol.seed), leaky = gated;
      gated.alpha.assign(point_P.T, 0.5), gated.beta.assign(point_P.T, 0.5);
      leaky.beta.assign(point_P.T, 0.25), leaky.alpha.assign(point_P.T, 1 - 0.25 * lambda);
      scale_values(leaky, Vector(point_P.T, 2));
      return measured("leaky_lms", leaky).against(results_of("gated_delta_net", gated), 4);
    };
    points.obligation("$alpha = eta = 1/2$ and $lambda = 2$: the two layers agree", equal(2));
    points.wrong_system("$alpha = eta = 1/2$ and $lambda = 1$, the largest allowed: the two layers agree", equal(1));
    // For each of the two maps, the fraction of the unit square that it maps into the stated ranges.
    const auto share = [&](const char *stream, auto inside) {
      const auto draw = [&, stream](size_t first, size_t count) {
        const Stream uniform(protocol.seed, stream);
        Vector hits(count);
        for (size_t i = 0; i < count; ++i)
          hits[i] = inside(uniform.uniform(2 * (first + i)), uniform.uniform(2 * (first + i) + 1));
        return hits;
      };
      return sample_mean(wanted_sensitivity(protocol), pilot_size(protocol, 1000), 4'000'000,
                         in_blocks(cached_block(2), draw));
    };
    const double ln2 = std::log(2.0);
    const Params square = labels({{"drawn", txt("uniform in the unit square")}});
    points.at(square);
    const Mean gates = share("003/gates and steps", [](double a, double eta) { return strength(a, eta) <= 1; }),
               steps = share("003/steps and strengths", [](double b, double l) { return b / (1 - b * l) <= 1; });
    points.obligation("share of $(alpha, eta)$ in the unit square with $lambda <= 1$: $1 - ln 2$", gates, 1 - ln2)
        .but_not("a share of one half", 0.5)
        .but_not("a share of $ln 2$", ln2);
    points.obligation("share of $(beta, lambda)$ in the unit square with $eta <= 1$: $ln 2$", steps, ln2)
        .but_not("a share of one half", 0.5)
        .but_not("a share of $1 - ln 2$", 1 - ln2);
  });
}
} // namespace

std::vector<Claim> vignette_3_regularisation() { return {norms(), leaky_lms_is_sgd(), map_and_back(), ranges()}; }
} // namespace recollect::theory
