// SPDX-License-Identifier: Apache-2.0
// Softmax's normaliser (000 Eq 18, §2.1.2, D.2): which quantities it bounds, and the norm of the output per head that
// can replace it.
#include "theory/associative_memory/noise/noise_quadrature.hpp"
#include "theory/support/delta_recursion.hpp"
#include "theory/support/one_head.hpp"
#include "theory/support/sampling.hpp"
#include "theory/support/stored.hpp"

namespace recollect::theory {
namespace {

Vector norms(const Vector &rows, int width) {
  Vector lengths;
  for (size_t i = 0; i < rows.size(); i += width) lengths.push_back(std::sqrt(inner(&rows[i], &rows[i], width)));
  return lengths;
}
std::vector<ParamSpec> sequence_params(int T) {
  return {steps_param(T, 2, 256), key_width_param(8, 2, 64), value_width_param(4, 2, 64)};
}

/// Bound on the rounding error of a read, in units of eps. A read is a sum over T steps, and its weights come from
/// scores of d terms.
double read_units(const Sequence &s, const Vector &o) {
  return 16.0 * (s.shape.T + s.shape.Dk) * (1 + max_abs(s.q) * max_abs(s.k) * std::sqrt(s.shape.Dk)) * max_abs(o);
}

Claim eq18_convex_read() {
  ClaimBuilder c("eq18-convex-read", "000 Eq 18");
  c.says("Softmax reads are convex combinations of the values. (This is not in the text; it concerns the role of "
         "normalisation.)");
  c.exactly("The weights are positive and add up to 1, so $|o| <= max |v|$. Equality is approached if the score of one "
            "key is far above all other scores.");
  c.because("This bound is what the normaliser contributes to stability.");
  c.runs({"softmax", "exp_unnormalized"}), c.takes(sequence_params(40));
  return measure(c, [](Points &points, Seed seed, int T, int d, int dv) {
    const Sequence s = normal_sequence({1, 1, T, d, dv}, seed, "normalisation");
    const Rows r(s);
    const Dense weights =
        normalise_sums(causal_weights(r.k, 1 / std::sqrt(d) * r.q, exp_kernel, Triangle::with_diagonal));
    const Vector o = results_of("softmax", s);
    const double units = read_units(s, s.v), bound = max_abs(norms(s.v, dv));
    points.rounding(units).obligation("reads, against sums of the values by weights computed on the host", o,
                                      (weights * r.v).data);
    points.wrong_system("reads without the normaliser", results_of("exp_unnormalized", s), o);
    const auto longest = [&](const std::string &variant) {
      return at_most_point(max_abs(norms(results_of(variant, s), dv)), bound, units * epsilon_of(Real::f64));
    };
    points.obligation("longest read, at most the longest value", longest("softmax"));
    points.wrong_system("longest read without the normaliser", longest("exp_unnormalized"));
    // one key dominates: the bound is tight
    Sequence ahead = s;
    for (int i = 0; i < d; ++i) ahead.q[size_t(T - 1) * d + i] = ahead.k[i] = i ? 0 : 1e3;
    const Vector last = results_of("softmax", ahead), value(s.v.begin(), s.v.begin() + dv);
    points.obligation("read if the score of one key is far above all others, against the value of this key",
                      Vector(last.end() - dv, last.end()), value);
    const auto reads_of_all = [&](double equal) { return results_of("softmax", filled(s, &Sequence::v, equal)); };
    const Vector equal(s.v.size(), 2.5);
    points.obligation("reads if all values are equal, against this value", reads_of_all(2.5), equal);
    points.wrong_system("weights that add up to 1.001", reads_of_all(2.5025), equal);
  });
}

/// The last read of t equal values at a query of |q|^2 = s, averaged over the keys k ~ N(0, I). In each memory all t
/// keys have the same component z along q, a node of a quadrature rule, so a read without normaliser is t exp(sqrt(s)
/// z) v.
Integral mean_read(const std::string &variant, int t, double s, double value, std::uint64_t seed) {
  const int d = 8;
  const Rule z = normal_rule(std::sqrt(s));
  Sequence x = of_shape({int(z.nodes.size()), 1, t, d, 1});
  const Vector u = unit_vector(d, seed);
  x.v.assign(z.nodes.size() * t, value);
  for (double node : z.nodes)
    for (int i = 0; i < t; ++i)
      for (double c : u) x.k.push_back(node * c), x.q.push_back(std::sqrt(s) * c);
  const Vector o = run(variant, x, {{"scale", "1"}}).o;
  std::vector<Integral> last;
  for (size_t m = 0; m < z.nodes.size(); ++m) {
    const double read = o[(m + 1) * t - 1], units = 8.0 * (d + t) * (1 + std::fabs(z.nodes[m]) * std::sqrt(s));
    last.push_back({read, units * epsilon_of(Real::f64) * read});
  }
  return z.sum(last);
}

Claim eq18_unnormalised_grows() {
  ClaimBuilder c("eq18-unnormalised-grows", "000 Eq 18, 77");
  c.says("Without normalisation, reads of equal values by the exp kernel grow with $t$. (This is not in the text; it "
         "concerns the role of normalisation.)");
  c.exactly(
      "For $N(0, I)$ keys the mean read is $t e^(s/2) v$, where $s = |q|^2 / tau^2$ for the kernel $exp(q.k / tau)$.");
  c.because("The sum without normaliser is not bounded in $t$. The normalised read is.");
  c.runs({"exp_unnormalized", "softmax"});
  c.takes({integer_param("t", 64, 1, 1024, "steps"), real_param("s", 1, 0.1, 16, "$|q|^2$")});
  c.at({{{"t", 1}}, {}, {{"s", 2}}});
  return measure(c, [](Points &points, Seed seed, int t, double s) {
    const double value = 0.75, law = t * std::exp(s / 2) * value;
    const auto read = [&](const char *variant) { return mean_read(variant, t, s, value, seed); };
    points
        .obligation("mean read of equal values v without the normaliser: $t e^(s/2) v$",
                    integral_point(read("exp_unnormalized"), law))
        .but_not("$e^s$ in place of $e^(s/2)$", t * std::exp(s) * value)
        .but_not("$1 + s/2$ in place of $e^(s/2)$", t * (1 + s / 2) * value);
    points.wrong_system("softmax, which is normalised", integral_point(read("softmax"), law));
  });
}

/// Divides each row by its root mean square; `centred` first subtracts the row's mean, as LayerNorm does.
Vector rms_norm(Vector rows, int width, double epsilon = 0, bool centred = false) {
  for (size_t i = 0; i < rows.size(); i += width) {
    double mean = 0;
    for (int c = 0; centred && c < width; ++c) mean += rows[i + c] / width;
    for (int c = 0; c < width; ++c) rows[i + c] -= mean;
    const double root = std::sqrt(inner(&rows[i], &rows[i], width) / width + epsilon);
    for (int c = 0; c < width; ++c) rows[i + c] /= root;
  }
  return rows;
}

Claim rmsnorm_removes_normaliser() {
  ClaimBuilder c("rmsnorm-removes-normaliser", "000 §2.1.2 Normalization, D.2; 002 §2");
  c.says("A simple per-head norm of the output can replace softmax's normaliser.");
  c.exactly("Let $o$ be the read without the normaliser $Z$. For a positive kernel and $epsilon = 0$ this is exact: "
            "RMSNorm$(o/Z)$ = RMSNorm$(o)$. For the linear kernel both sides agree up to the sign of $Z$, which is "
            "negative for half of all Gaussian queries.");
  c.because("The norm replaces the normaliser as far as the direction of the read is concerned. The length of the read "
            "is lost in both cases. Inside DeltaFormer's $u$ ($Z^(1)$ of Eq 94) the length matters, and a norm in that "
            "place gives another model.");
  c.runs({"softmax", "exp_unnormalized", "linear", "linear_rms"}), c.takes(sequence_params(20));
  return measure(c, [](Points &points, const Protocol &protocol, int T, int d, int dv) {
    const Sequence s = normal_sequence({1, 1, T, d, dv}, protocol.seed, "normalisation");
    const auto shortest = [dv](const Vector &reads) {
      const Vector lengths = norms(reads, dv);
      return *std::min_element(lengths.begin(), lengths.end());
    };
    const Vector with = results_of("softmax", s), without = results_of("exp_unnormalized", s),
                 normed = rms_norm(with, dv);
    // Rounding is relative to the largest row, so dividing a smaller row by its length magnifies it.
    points.rounding(read_units(s, with) * std::sqrt(dv) / shortest(with) * max_abs(normed));
    points.obligation("RMSNorm of exp reads without the normaliser, against RMSNorm of softmax reads",
                      rms_norm(without, dv), normed);
    points.wrong_system("exp reads without the normaliser and without a norm", without, normed);
    points.wrong_system("LayerNorm, which subtracts the mean", rms_norm(without, dv, 0, true), normed);
    points.wrong_system("$epsilon = 0.01$", rms_norm(without, dv, 1e-2), normed);
    // Linear kernel: Z_t = sum q_t . k_i may be negative, and RMSNorm(o/Z) = sign(Z) RMSNorm(o).
    const size_t size = size_t(T) * dv;
    const auto of_reads = [size](const Vector &o) { return Vector(o.begin(), o.begin() + size); }; // drops the state
    const Vector reads = of_reads(results_of("linear", s)), sums = results_of("linear", filled(s, &Sequence::v, 1)),
                 plain = of_reads(results_of("linear_rms", s, {{"epsilon", "1e-30"}}));
    Vector divided = reads, signed_norm = plain;
    for (size_t i = 0; i < size; ++i) divided[i] /= sums[i], signed_norm[i] *= sums[i] < 0 ? -1 : 1;
    divided = rms_norm(divided, dv);
    points.rounding(64.0 * (T + d) * T * std::sqrt(d) * max_abs(s.q) * max_abs(s.k) * max_abs(s.v) * dv /
                    shortest(reads));
    points.obligation("RMSNorm of linear reads times the sign of Z, against RMSNorm of the reads divided by Z",
                      signed_norm, divided);
    points.wrong_system("RMSNorm of linear reads without the sign of Z", plain, divided);
    // Z of a query is negative with probability 1/2, whatever the keys.
    const auto draw = [&](size_t first, size_t count) {
      Sequence many = of_shape({1, 1, int(count) + 1, d, 1}); // one write of the sum of all keys, then reads
      many.q = Stream(protocol.seed, "normalisation/many queries").normals((count + 1) * d, first * d);
      many.k.assign(many.q.size(), 0.0), many.v.assign(count + 1, 0.0), many.v[0] = 1;
      for (size_t i = 0; i < s.k.size(); ++i) many.k[i % d] += s.k[i];
      Vector signs = run("linear", many).o;
      signs.erase(signs.begin());
      for (double &x : signs) x = x < 0;
      return signs;
    };
    const Mean negative =
        sample_mean(wanted_sensitivity(protocol), 10000, 1000000, in_blocks(cached_block(2 * d), draw));
    points.obligation("linear kernel: share of Gaussian queries with $Z < 0$, against $1/2$", negative, 0.5);
  });
}
} // namespace

std::vector<Claim> eq_18_normalisation() {
  return {
      not_tested(
          "eq18-norm-role", "000 after Eq 18", Reason::not_numeric,
          "Normalisation is primarily a mechanism for training stability rather than a fundamental design requirement.",
          "This is a design judgement. What normalisation does is measured by eq18_convex_read, "
          "eq18_unnormalised_grows, rmsnorm_removes_normaliser and snr_norm_invariant."),
      eq18_convex_read(), eq18_unnormalised_grows(), rmsnorm_removes_normaliser()};
}
} // namespace recollect::theory
