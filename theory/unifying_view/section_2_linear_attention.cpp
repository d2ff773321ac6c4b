// SPDX-License-Identifier: Apache-2.0
// 002 §2: the causal mask of softmax attention, a kernel as a product of features that gives a state, and the
// denominator.
#include "theory/support/delta_recursion.hpp"
#include "theory/support/features.hpp"
#include "theory/support/measure.hpp"
#include "theory/support/one_head.hpp"
#include "theory/support/sampling.hpp"

namespace recollect::theory {
namespace {
std::vector<ParamSpec> sizes() { return one_head_params({1, 1, 20, 8, 4}); }

Sequence gaussian_steps(const Shape &shape, Seed seed) { return normal_sequence(shape, seed, "002 §2"); }

/// softmax(q k^T * M) V with M = 1 on and below the diagonal and 0 above it: a masked logit is 0, so its weight is e^0
/// = 1 before normalisation.
Vector multiplied_mask(const Rows &x) {
  Dense weights = x.q * transpose(x.k);
  for (int t = 0; t < weights.rows; ++t)
    for (int i = 0; i < weights.columns; ++i) weights(t, i) = std::exp(i <= t ? weights(t, i) : 0);
  return (normalise_sums(weights) * x.v).data;
}
/// softmax(q k^T + M) V with M = 0 below the diagonal (and on it, if `triangle` includes it) and -infinity elsewhere.
Vector added_mask(const Rows &x, Triangle triangle) {
  return (normalise_sums(causal_weights(x.k, x.q, exp_kernel, triangle)) * x.v).data;
}

Points::Stated<Point> add_printed_and_meant(Points &points, const Sequence &s) {
  const Measured layer = measured("softmax", s, {{"scale", "1"}});
  points.statement("$softmax(Q K^T * M) V$", layer.against(multiplied_mask(Rows(s))));
  return points.obligation("$softmax(Q K^T + M) V$", layer.against(added_mask(Rows(s), Triangle::with_diagonal)));
}

Claim mask() {
  ClaimBuilder c("blog-mask", "002 §2, first display");
  c.says("With the causal mask matrix $M$, row $t$ of $O = softmax(Q K^T * M) V$ is the sum of $exp(q_t . k_j) v_j$ "
         "over $j <= t$, divided by the sum of these exponentials.");
  c.exactly(
      "The correct formula is $softmax(Q K^T + M) V$ with $M = 0$ on and below the diagonal and -infinity above it.");
  c.because("The element-wise product is shorthand for masking. Taken literally, a mask of ones and zeros sets the "
            "logits of future tokens to 0, so that each of them has the weight $e^0 = 1$. The text means the causal "
            "sum that it writes next.");
  c.is_refuted(slip("§2, first display: $softmax(Q K^T * M) V$.",
                    "'M being the causal mask matrix to ensure tokens cannot attend into the future'",
                    "The next line writes the causal sum, which is what the text means."));
  c.runs({"softmax"}), c.takes(sizes());
  c.first([](Points &points, const Protocol &) {
    // q = k = 1 and v = (1, 2): o_1 = v_1 = 1, but the printed formula gives (1 e + 2) / (e + 1) = 1.27.
    Sequence two = of_shape({1, 1, 2, 1, 1});
    two.q = two.k = {1, 1}, two.v = {1, 2};
    points.at(params_of(two.shape).set("data", "q = k = 1, v = (1, 2)"));
    add_printed_and_meant(points, two);
  });
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = gaussian_steps(shape, seed);
    const Measured layer = measured("softmax", s, {{"scale", "1"}}), doubled = measured("softmax", s, {{"scale", "2"}});
    add_printed_and_meant(points, s).but_not("a mask that hides the token itself",
                                             layer.against(added_mask(Rows(s), Triangle::strict)));
    points.wrong_system("logits doubled", doubled.against(added_mask(Rows(s), Triangle::with_diagonal)));
  });
}

double elu(double x) { return x > 0 ? x : std::expm1(x); }
Dense mapped(Dense x, double (*feature)(double)) {
  for (double &value : x.data) value = feature(value);
  return x;
}

Claim factoring() {
  ClaimBuilder c("blog-kernel-factoring", "002 §2; 000 Eq 2-3, 8-9");
  c.says(
      "Where the similarity is a kernel $f(q, k) = <phi(q), phi(k)>$, the weighted average of the values is $o_t = S_t "
      "phi(q_t) / (z_t . phi(q_t))$ with $S_t = sum_j v_j phi(k_j)^T$ and $z_t = sum_j phi(k_j)$ over $j <= t$.");
  c.exactly("An identity. It is measured for $phi$ = elu + 1, whose denominator is positive.");
  c.because("The query can be taken out of the sum. The state $S_t$ of $d_v x d_phi$ numbers and the vector $z_t$ "
            "therefore replace all past tokens.");
  c.runs({"linear_elu", "linear"}), c.takes(sizes());
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = gaussian_steps(shape, seed);
    const Rows x(s);
    const auto weights = [&](double (*feature)(double)) { // phi(q_t) . phi(k_j), j <= t
      return causal_weights(mapped(x.k, feature), mapped(x.q, feature), linear_kernel, Triangle::with_diagonal);
    };
    const Dense seen = weights(elu_plus_one), average = normalise_sums(seen) * x.v;
    Dense late = seen; // the denominator z_{t-1} for z_t: every sum without its last term (but the first sum keeps it)
    for (int t = 0; t < late.rows; ++t) {
      double sum = 0;
      for (int i = 0; i < std::max(t, 1); ++i) sum += seen(t, i);
      for (int i = 0; i <= t; ++i) late(t, i) /= sum;
    }
    points.rounding(rounding_units("linear_elu", s));
    points.statement("$S phi(q) / (z . phi(q))$ is the weighted average", run("linear_elu", s).o, average.data)
        .but_not("$z_{t-1}$ in place of $z_t$", (late * x.v).data)
        .but_not("$phi$ = elu in place of elu + 1", (normalise_sums(weights(elu)) * x.v).data);
    Sequence features = s;
    features.q = mapped(x.q, elu_plus_one).data, features.k = mapped(x.k, elu_plus_one).data;
    points.wrong_system("linear attention without the denominator", run("linear", features).o, average.data);
    const int rows = s.shape.Dv; // of S; z lies below them
    const Vector state = run("linear_elu", s).state, z(state.begin() + rows * s.shape.Dk, state.end());
    const auto sum_of_keys = [&](int steps) {
      const Dense ones(1, steps, Vector(steps, 1));
      return (ones * rows_of(features.k, steps, x.k.columns)).data;
    };
    points.rounding(accumulated_terms(s.shape, 1) * max_abs(z));
    points.obligation("$z_t$ is the sum of $phi(k_j)$", z, sum_of_keys(s.shape.T))
        .but_not("$z_t$ is the sum up to $t-1$", sum_of_keys(s.shape.T - 1));
  });
}

/// o, channel 0 of S phi(q) / (z . phi(q)), with phi the identity, for one state and Gaussian queries q. Let the first
/// row of S be a z plus a vector orthogonal to z of length b |z|. Then o = a + b C, where C is a Cauchy variable.
struct IdentityMap {
  Sequence last; // writes nothing; its queries read the state [S; z]
  double a, b;

  IdentityMap(const Shape &shape, Seed seed) {
    Sequence s = gaussian_steps({1, 1, shape.T, shape.Dk, 1}, seed);
    const Rows x(s);
    s.shape.Dv = 2, s.v.clear(); // z is the row of the state for a value channel that is always 1
    for (double v : x.v.data) s.v.push_back(v), s.v.push_back(1);
    last.state = run("linear", s).state, last.shape = s.shape;
    const double *S = last.state.data(), *z = S + shape.Dk;
    const double zz = inner(z, z, shape.Dk), along = inner(S, z, shape.Dk);
    a = along / zz, b = std::sqrt(inner(S, S, shape.Dk) / zz - a * a);
  }
  /// Numerators and denominators of the queries first ... first + count - 1.
  Vector reads(Seed seed, size_t first, size_t count) const {
    Sequence s = last;
    s.shape.T = int(count);
    s.q = Stream(seed, "002 §2/reading queries").normals(count * s.shape.Dk, first * s.shape.Dk);
    s.k.assign(count * s.shape.Dk, 0), s.v.assign(count * 2, 0);
    return run("linear", s).o;
  }
  double largest_read(size_t queries, Seed seed) const {
    const Vector read = reads(seed, 0, queries);
    double largest = 0;
    for (size_t i = 0; i < queries; ++i) largest = std::max(largest, std::fabs(read[2 * i] / read[2 * i + 1]));
    return largest;
  }
  /// P(|o| > level).
  double exceeds(double level) const { return 1 - (std::atan((level - a) / b) + std::atan((level + a) / b)) / M_PI; }
};

Claim denominator() {
  ClaimBuilder c("blog-denominator-unstable", "002 §2");
  c.says("The denominator $z_t$ . $phi(q_t)$ of linear attention can introduce numerical instabilities.");
  c.exactly("If $phi$ is the identity and queries are Gaussian, the denominator has the wrong sign for half of the "
            "queries; a read is Cauchy distributed and has no mean. If $phi$ = elu + $1 > 0$, a read is an average and "
            "never exceeds the largest value.");
  c.because("The text says that the division can be unstable, not that it must be. With a positive feature map the "
            "division is harmless in exact arithmetic. The usual remedies are therefore positive features, or a "
            "normalisation of the output in place of the division.");
  c.runs({"linear_elu", "linear"}), c.takes(sizes());
  return measure(c, [](Points &points, const Protocol &protocol, const Shape &shape) {
    const Sequence s = gaussian_steps(shape, protocol.seed);
    const double largest = max_abs(s.v), rounding = 4 * accumulated_terms(shape, 1) * epsilon_of(Real::f64) * largest;
    IdentityMap map(shape, protocol.seed);
    points.obligation("$phi$ = elu + 1: no read exceeds the largest value",
                      at_most_point(max_abs(run("linear_elu", s).o), largest, rounding));
    points.wrong_system("$phi$ is the identity",
                        at_most_point(map.largest_read(10000, protocol.seed), largest, rounding));
    const auto share = [&](auto counts) {
      const auto draw = [&](size_t first, size_t count) {
        const Vector read = map.reads(protocol.seed, first, count);
        Vector hits(count);
        for (size_t i = 0; i < count; ++i) hits[i] = counts(read[2 * i], read[2 * i + 1]);
        return hits;
      };
      return sample_mean(wanted_sensitivity(protocol), pilot_size(protocol, 10000), 20'000'000,
                         in_blocks(cached_block(2 * shape.Dk), draw));
    };
    const double wild = map.exceeds(largest);
    const Mean negative = share([](double, double below) { return below < 0; }),
               beyond = share([=](double above, double below) { return std::fabs(above / below) > largest; });
    points.statement("$phi$ is the identity: share of queries whose denominator is negative", negative, 0.5)
        .but_not("none, as with elu + 1", 0);
    points
        .statement("$phi$ is the identity: share of reads beyond the largest value, against a Cauchy tail", beyond,
                   wild)
        .but_not("none, as if a read were an average of the values", 0)
        .but_not("one of the two tails only", wild / 2);
  });
}
} // namespace

std::vector<Claim> section_2_linear_attention() { return {mask(), factoring(), denominator()}; }
} // namespace recollect::theory
