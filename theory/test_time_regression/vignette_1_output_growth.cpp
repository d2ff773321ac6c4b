// SPDX-License-Identifier: Apache-2.0
// 003 after Eq 13: without the inverse covariance the output grows with t, and a normalisation of the output restores
// only part of what the inverse gives.
#include "theory/support/sampling.hpp"
#include "theory/test_time_regression/pairs.hpp"

namespace recollect::theory {
namespace {
/// How the values depend on the keys, both N(0, I): independent, or equal.
enum class Data { independent, equal };
constexpr int width = 12;

/// |y|^2 averaged over queries of length 1, which is |M|_F^2 / Dk, after `t` pairs, for each text.
Vector squared_outputs(const std::string &variant, Data data, int t, Seed seed, size_t first, size_t count) {
  const size_t size = size_t(t) * width;
  const auto draw = [&](const char *name) { return Stream(seed, name, t).normals(count * size, first * size); };
  const Vector keys = draw("003/growing keys"), values = data == Data::equal ? keys : draw("003/growing values");
  Sequence s = stored({int(count), 1, t, width, width}, keys, values);
  s.alpha.assign(count * t, 0.95); // read only by the rival with a gate
  const Variant &v = find_variant(variant);
  const Assignments set = variant == "rls" ? Assignments{{"ridge", "1e-9"}} : Assignments{};
  const Output out = forward(v, s, {"fast", Real::f64, 64, variant_params(v, set)});
  return state_squares(out.state, count, width * width, width); // the memory is in the first rows of the state
}

/// The slope of log rms(|y|) against log t, from the values at t and T.
struct Ends {
  int t, T;
  double slope(double at_t, double at_T) const { return 0.5 * std::log(at_T / at_t) / std::log(double(T) / t); }
  /// The slope from the means at both ends. If a mean has the relative error e, half its logarithm has the error e / 2.
  Mean slope(const Mean &at_t, const Mean &at_T) const {
    const double error = std::hypot(at_t.standard_error / at_t.mean, at_T.standard_error / at_T.mean) / 2;
    return {slope(at_t.mean, at_T.mean), error / std::log(double(T) / t)};
  }
};

Claim growth() {
  ClaimBuilder c("linattn-output-grows", "003 text after Eq 13, footnote 2");
  c.says("Without the inverse covariance the denominator of Eq 13 disappears. The output of linear attention can then "
         "grow arbitrarily large with the sequence length (footnote 2: it scales linearly with the length), whereas "
         "the output of least squares stays bounded.");
  c.exactly("The output of linear attention grows as $t$ if $E[v k^T]$ is not 0, and as $sqrt(t)$ if it is 0. The "
            "output of least squares stays constant, or falls as $1/sqrt(t)$ if the values are noise.");
  c.because(
      "It is right that the output can grow without bound. Whether it grows linearly depends on the data: it does if "
      "values correlate with their keys. If values are independent of the keys, the output grows like a random walk.");
  c.holds_under("$E v k^T$ is not 0");
  c.runs({"linear", "rls", "gated_linear"});
  c.takes({integer_param("t", 24, width + 8, 1024,
                         "the smaller number of pairs; from its lower bound on, fourth moments are finite"),
           integer_param("T", 192, 80, 4096, "the larger number of pairs")});
  return measure(c, [](Points &points, const Protocol &protocol, int t, int T) {
    const Ends ends{t, T};
    if (T < 4 * t) usage_error("T must be at least 4 t, for a slope between t and T");
    const double D = width;
    const auto slope = [&](const std::string &variant, Data data, double wanted) {
      const auto at = [&](int t) {
        const auto draw = [&](size_t first, size_t count) {
          return squared_outputs(variant, data, t, protocol.seed, first, count);
        };
        // Relative errors e of both means give e / (sqrt 2 log 8) = e / 2.9 in the slope, which is at least 1/2.
        return sample_mean(1.4 * wanted, pilot_size(protocol), 1'000'000,
                           in_blocks(cached_block(3 * size_t(t) * width), draw));
      };
      return ends.slope(at(ends.t), at(ends.T));
    };
    // E|y|^2 of linear attention is t Dv if values are independent of the keys, and t^2 + t (D + 1) if they equal the
    // keys (Wishart). E|y|^2 of least squares is Dv / (t - D - 1) if they are independent (the mean of an inverse
    // Wishart matrix), and exactly 1 if they are equal.
    const auto law = [&](auto square) { return ends.slope(square(double(ends.t)), square(double(ends.T))); };
    const double half = law([&](double t) { return t * D; }), one = law([&](double t) { return t * t + t * (D + 1); }),
                 falling = law([&](double t) { return D / (t - D - 1); });
    const double wanted = wanted_sensitivity(protocol);
    const Mean free = slope("linear", Data::independent, wanted), tied = slope("linear", Data::equal, wanted),
               noise = slope("rls", Data::independent, wanted);
    points.statement("linear attention, values independent of keys: $|y|$ grows with slope 1", free, 1);
    points.condition("linear attention, $v = k$: $|y|$ grows as $sqrt(t^2 + t (D + 1))$", tied, one)
        .but_not("slope $1/2$", half);
    points.condition("linear attention, values independent of keys: $|y|$ grows with slope $1/2$", free, half)
        .but_not("slope 1", one);
    points
        .condition("least squares, values independent of keys: $|y|$ falls with slope $-1/2$",
                   sampled_point(noise, falling, 1e-6))
        .but_not("no dependence on t", 0)
        .but_not("slope -1", 2 * falling);
    points.statement("linear attention, $v = k$: $|y|$ grows with slope 1", tied, 1);
    points.wrong_system("gated linear attention", slope("gated_linear", Data::equal, 0.1), one);
    // If the values are a linear map of the keys, the least-squares output is the value itself at any t.
    const Pairs x(Shape{1, 1, ends.t, width, width}, protocol.seed), exact(x.K, x.K);
    const auto reads = [&](const Dense &M, const Dense &expected) {
      return exact_point(M.data, expected.data, solved_units(x.K, M));
    };
    points.condition("least squares on $v = k$: the memory is I", reads(exact.best(), Dense::identity(width)));
    points.wrong_system("linear attention on $v = k$", reads(exact.cross(), Dense::identity(width)));
  });
}

/// The cosine between q and the raw output of linear attention. Values are v = k, keys are N(0, Sigma) with Sigma =
/// diag(1, kappa), and q lies on the diagonal of the plane. The output of least squares is q. Let p = Sigma^{1/2} q.
/// The raw output is Sigma^{1/2} S p, where S is the sample covariance of white keys. S p has the component |p| a along
/// p and |p| b across p. Let r = b / a; then r sqrt(t) follows Student's distribution with t degrees of freedom.
struct Plane {
  double kappa;
  int t;

  double cosine(double r) const { // cosine of the output and q
    const double root = std::sqrt(kappa), y1 = 1 - r * root, y2 = root * (root + r);
    return (y1 + y2) / std::sqrt(2 * (y1 * y1 + y2 * y2));
  }
  double limit() const { return cosine(0); } // (1 + kappa) / sqrt(2 (1 + kappa^2))
  double rooted() const { return (1 + std::sqrt(kappa)) / std::sqrt(2 * (1 + kappa)); }

  /// E cos by the trapezoidal rule, which converges exponentially for such a smooth integrand.
  double mean() const {
    double sum = 0, mass = 0;
    for (int i = -4000; i <= 4000; ++i) {
      const double r = i * 0.01 / std::sqrt(double(t)), weight = std::exp(-(t + 1) / 2.0 * std::log1p(r * r));
      sum += weight * cosine(r), mass += weight;
    }
    return sum / mass;
  }

  /// The cosine between q and the output of `variant` for each of `count` texts. It is the average over two texts: the
  /// keys, and the same white keys rotated by 90 degrees before the covariance is applied. Terms linear in r cancel in
  /// this average.
  Vector draw(const std::string &variant, Seed seed, size_t first, size_t count) const {
    const Vector white = Stream(seed, "003/plane keys").normals(count * t * 2, first * t * 2);
    Vector cosines(count, 0.0);
    for (bool turned : {false, true}) {
      Sequence s;
      s.shape = {int(count), 1, t, 2, 2};
      for (size_t i = 0; i < white.size(); i += 2) {
        s.k.push_back(turned ? -white[i + 1] : white[i]);
        s.k.push_back(std::sqrt(kappa) * (turned ? white[i] : white[i + 1]));
      }
      s.v = s.k, s.q.assign(s.k.size(), std::sqrt(0.5));
      s.beta.assign(count * t, 0.1); // read only by the rival that erases
      const Vector o = forward(find_variant(variant), s, {"fast", Real::f64, 64, {}}).o;
      for (size_t b = 0; b < count; ++b) {
        const double *y = &o[(b * t + t - 1) * 2];
        cosines[b] += (y[0] + y[1]) / std::sqrt(2 * inner(y, y, 2)) / 2;
      }
    }
    return cosines;
  }
};

Claim normalised() {
  ClaimBuilder c("output-norm-restores", "003 text after Eq 13, App A");
  c.says("Output normalisation stabilises training by approximately restoring the self-normalising property of Eq 11 "
         "that linear attention loses.");
  c.exactly("The normalisation restores the size of the output, $sqrt(Dv)$ at every $t$, but not its direction. For "
            "values $v = B k$ and keys of covariance $Sigma$ the output has the direction of $B Sigma q$, and the "
            "output of least squares that of $B q$. The cosine of these two is $(1 + kappa) / sqrt(2 (1 + kappa^2))$ "
            "for $B = I$, $Sigma = diag(1, kappa)$ and $q$ on the diagonal. The outputs are equal up to scale only for "
            "$Sigma = c I$ and large $t$.");
  c.because("The paper says 'approximately'. The size is restored exactly. But the inverse covariance also changes the "
            "direction of the output, which division by a scalar norm cannot do.");
  c.holds_under("the keys' covariance is a multiple of I, and the text is long");
  c.runs({"linear_rms", "linear", "delta_net"});
  c.takes({real_param("kappa", 4, 1.5, 100, "$Sigma = diag(1, kappa)$"), integer_param("t", 100, 20, 1000, "pairs")});
  c.at({{}, {{"kappa", 16}}});
  c.last([](Points &points, const Protocol &protocol) {
    // The normalisation restores the size of the output, sqrt(Dv) at every t, while the raw output grows.
    Sequence s = random_sequence({1, 1, 200, 5, 3}, protocol.seed);
    for (int t = 0; t < s.shape.T; ++t) std::copy_n(&s.k[t * s.shape.Dk], s.shape.Dv, &s.v[t * s.shape.Dv]);
    const auto sizes = [&](const std::string &variant, const Assignments &set) {
      const Vector o = run(variant, s, set).o;
      Vector all;
      for (int t = 0; t < s.shape.T; ++t) all.push_back(frobenius_norm(column(o, t, s.shape.Dv)));
      return all;
    };
    const Vector constant(s.shape.T, std::sqrt(double(s.shape.Dv)));
    points.at(params_of(s.shape)).rounding(64);
    points.obligation("size of the normalised output at every t: $sqrt(Dv)$",
                      sizes("linear_rms", {{"epsilon", "1e-30"}}), constant);
    points.wrong_system("size of the raw output at every t: $sqrt(Dv)$", sizes("linear", {}), constant);
  });
  return measure(c, [](Points &points, const Protocol &protocol, const Params &p, double kappa, int t) {
    const Plane plane{kappa, t}, round{1, t};
    if (kappa == 1)
      usage_error("take another kappa: kappa = 1 is the isotropic case, which every other point measures as the limit");
    const auto mean = [&](const Plane &x, const std::string &variant, double wanted) {
      const auto draw = [&](size_t first, size_t count) { return x.draw(variant, protocol.seed, first, count); };
      return sample_mean(wanted, pilot_size(protocol), 1'000'000, in_blocks(cached_block(6 * size_t(t)), draw));
    };
    const double law = plane.mean();
    const Mean cosine = mean(plane, "linear_rms", wanted_sensitivity(protocol, law, {1, plane.rooted()}));
    points.statement("cosine of the normalised and the least-squares output: 1", cosine, 1);
    points
        .obligation("cosine of the normalised and the least-squares output: $(1 + kappa) / sqrt(2 (1 + kappa^2))$",
                    cosine, law)
        .but_not("$Sigma^{1/2}$ in place of $Sigma$", plane.rooted())
        .but_not("cosine 1 for every $Sigma$", 1);
    points.wrong_system("cosine of DeltaNet's and the least-squares output: $(1 + kappa) / sqrt(2 (1 + kappa^2))$",
                        mean(plane, "delta_net", 0.1), law);
    // For isotropic keys cos = 1 / sqrt(1 + r^2), which tends to 1 as t grows.
    const double isotropic = round.mean(), squared = double(t) / (t + 1); // E cos, and E cos^2
    const Mean near = mean(round, "linear_rms", wanted_sensitivity(protocol, isotropic, {1, squared}));
    points.at(Params(p).set("kappa", 1));
    points
        .condition("isotropic keys: cosine of the normalised and the least-squares output, which tends to 1", near,
                   isotropic)
        .but_not("cosine 1 at every t", 1)
        .but_not("$t/(t+1)$, the mean of the squared cosine", squared);
  });
}
} // namespace

std::vector<Claim> vignette_1_output_growth() { return {growth(), normalised()}; }
} // namespace recollect::theory
