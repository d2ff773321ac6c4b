// SPDX-License-Identifier: Apache-2.0
// Softmax's normaliser (000 Eq 18, §2.1.2, D.2): which quantities it bounds, and the per-head norm that can replace it.
#include "theory/associative_memory/noise/noise_quadrature.hpp"
#include "theory/support/delta_recursion.hpp"
#include "theory/support/layer_points.hpp"
#include "theory/support/sampling.hpp"

namespace recollect::theory {
namespace {

using Vector = std::vector<double>;

Sequence gaussian_sequence(const Params &p, std::uint64_t seed) {
  Sequence s;
  s.shape = {1, 1, p.integer("T"), p.integer("d"), p.integer("dv")};
  s.q = normal_matrix(s.shape.T, s.shape.Dk, seed, "normalisation/queries").data;
  s.k = normal_matrix(s.shape.T, s.shape.Dk, seed, "normalisation/keys").data;
  s.v = normal_matrix(s.shape.T, s.shape.Dv, seed, "normalisation/values").data;
  return s;
}
Vector norms(const Vector &rows, int width) {
  Vector lengths;
  for (size_t i = 0; i < rows.size(); i += width) lengths.push_back(std::sqrt(inner(&rows[i], &rows[i], width)));
  return lengths;
}
std::vector<ParamSpec> sequence_params(int T) {
  return {integer_param("T", T, 2, 256, "steps"), integer_param("d", 8, 2, 64, "key width"),
          integer_param("dv", 4, 2, 64, "value width")};
}

/// Reads are sums over T of weights of scores of d terms.
double read_units(const Sequence &s, const Vector &o) {
  return 16.0 * (s.shape.T + s.shape.Dk) * (1 + max_abs(s.q) * max_abs(s.k) * std::sqrt(s.shape.Dk)) * max_abs(o);
}

std::vector<Point> convex_reads(const Protocol &protocol, const std::vector<ParamSpec> &params) {
  const Params p = point_of(protocol, params);
  Sequence s = gaussian_sequence(p, protocol.seed);
  const int T = s.shape.T, dv = s.shape.Dv;
  const Dense scores = 1 / std::sqrt(s.shape.Dk) * Dense(T, s.shape.Dk, s.q);
  const Dense weights =
      normalise_sums(causal_weights(Dense(T, s.shape.Dk, s.k), scores, exp_kernel, Triangle::with_diagonal));
  const auto longest = [&](const std::string &variant) { return max_abs(norms(results_of(variant, s), dv)); };
  const Vector o = results_of("softmax", s);
  const double units = read_units(s, s.v), bound = max_abs(norms(s.v, dv)), rounding = units * epsilon_of(Real::f64);
  std::vector<Point> points{
      as_obligation(exact_point(o, (weights * Dense(T, dv, s.v)).data, units), p, "reads, by weights on the host"),
      rival_system(exact_point(results_of("exp_unnormalized", s), o, units), p, "not normalised"),
      rival_system(at_most_point(longest("exp_unnormalized"), bound, rounding), p, "longest read, not normalised"),
      as_obligation(at_most_point(longest("softmax"), bound, rounding), p, "longest read against the longest value")};
  // One key dominates: the read is its value, and the bound is tight.
  Sequence ahead = s;
  for (int c = 0; c < s.shape.Dk; ++c) ahead.q[size_t(T - 1) * s.shape.Dk + c] = c ? 0 : 1e3, ahead.k[c] = c ? 0 : 1e3;
  const Vector last = results_of("softmax", ahead), value(s.v.begin(), s.v.begin() + dv);
  points.push_back(as_obligation(exact_point(Vector(last.end() - dv, last.end()), value, units), p,
                                 "read where one key is far ahead, its value"));
  // The weights sum to 1: equal values are read unchanged.
  s.v.assign(s.v.size(), 2.5);
  const Vector equal = s.v, constant = results_of("softmax", s);
  s.v.assign(s.v.size(), 2.5025);
  points.push_back(
      rival_system(exact_point(results_of("softmax", s), equal, units), p, "weights that add up to 1.001"));
  points.push_back(as_obligation(exact_point(constant, equal, units), p, "reads of equal values"));
  return points;
}

Claim eq18_convex_read() {
  const std::vector<ParamSpec> params = sequence_params(40);
  return explained(
      at_parameters(
          running(ledger_row("eq18-convex-read", "000 Eq 18",
                             "Measured beside the role of normalisation: softmax reads are convex "
                             "combinations of the values.",
                             "Weights are positive and add up to 1, so that $|o| <= max |v|$; equality in the "
                             "limit of one key far ahead.",
                             [params](const Protocol &protocol) { return convex_reads(protocol, params); }),
                  {"softmax", "exp_unnormalized"}),
          params),
      "This boundedness is what the normaliser contributes to stability.");
}

/// t keys at one node z, q of norm sqrt(s): t exp(sqrt(s) z) v; then the mean over z.
std::vector<Point> growing_reads(const Protocol &protocol) {
  std::vector<Point> points;
  const auto place = [](int t, double s) { return labels({{"t", num(t)}, {"s", num(s)}}); };
  for (const Params &p : points_of(protocol, {place(1, 1), place(64, 1), place(64, 2)})) {
    const int t = p.integer("t"), d = 8;
    const double s = p.real("s"), value = 0.75;
    const auto read = [&](const std::string &variant) {
      const Rule z = normal_rule(std::sqrt(s));
      Sequence x;
      x.shape = {int(z.nodes.size()), 1, t, d, 1};
      const Vector u = unit_vector(d, protocol.seed);
      x.v.assign(z.nodes.size() * t, value);
      for (double node : z.nodes)
        for (int i = 0; i < t; ++i)
          for (double c : u) x.k.push_back(node * c), x.q.push_back(std::sqrt(s) * c);
      const Variant &layer = find_variant(variant);
      const Vector o = forward(layer, x, {"recurrent", Real::f64, 1, variant_params(layer, {{"scale", "1"}})}).o;
      std::vector<Integral> last;
      for (size_t m = 0; m < z.nodes.size(); ++m) {
        const double read_of_m = o[(m + 1) * t - 1], units = 8.0 * (d + t) * (1 + std::fabs(z.nodes[m]) * std::sqrt(s));
        last.push_back({read_of_m, units * epsilon_of(Real::f64) * read_of_m});
      }
      return z.sum(last);
    };
    const double law = t * std::exp(s / 2) * value;
    points.push_back(rival_system(integral_point(read("softmax"), law), p, "normalised"));
    points.push_back(as_obligation(integral_point(read("exp_unnormalized"), law), p, "mean read of equal values"));
    const Point base = points.back();
    points.push_back(rival_law(base, "e^s", t * std::exp(s) * value));
    points.push_back(rival_law(base, "1 + s/2", t * (1 + s / 2) * value));
  }
  return points;
}

Claim eq18_unnormalised_grows() {
  return explained(
      at_parameters(
          running(ledger_row("eq18-unnormalised-grows", "000 Eq 18, 77",
                             "Measured beside the role of normalisation: without it, exp reads of equal "
                             "values grow with $t$.",
                             "For $N(0, I)$ keys the mean read is $t e^(s/2) v$, $s = |q|^2$ (over the squared "
                             "scale).",
                             growing_reads),
                  {"exp_unnormalized", "softmax"}),
          {integer_param("t", 64, 1, 1024, "steps"), real_param("s", 1, 0.1, 16, "|q|^2")}),
      "The sum has no bound in $t$, the normalised one does.");
}

Claim eq18_norm_role() {
  return untested_row("eq18-norm-role", Reason::not_numeric, "000 after Eq 18",
                      "Normalisation is primarily a mechanism for training stability rather than a fundamental design "
                      "requirement.",
                      "A design judgement. Measured beside it: eq18_convex_read, eq18_unnormalised_grows, "
                      "rmsnorm_removes_normaliser, snr_norm_invariant.");
}

/// Each row over its root mean square; `centred` takes the row's mean out before, as LayerNorm does.
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

std::vector<Point> norm_for_normaliser(const Protocol &protocol, const std::vector<ParamSpec> &params) {
  std::vector<Point> points;
  const Params p = point_of(protocol, params);
  const Sequence s = gaussian_sequence(p, protocol.seed);
  const int dv = s.shape.Dv;
  const Vector with = results_of("softmax", s), without = results_of("exp_unnormalized", s),
               normed = rms_norm(with, dv);
  // A row loses as many digits as it is smaller than the largest row.
  Vector lengths = norms(with, dv);
  const double shortest = *std::min_element(lengths.begin(), lengths.end()),
               units = read_units(s, with) * std::sqrt(dv) / shortest * max_abs(normed);
  points.push_back(as_obligation(exact_point(rms_norm(without, dv), normed, units), p, "RMSNorm of exp reads"));
  points.push_back(rival_system(exact_point(without, normed, units), p, "no norm"));
  points.push_back(
      rival_system(exact_point(rms_norm(without, dv, 0, true), normed, units), p, "LayerNorm, which takes a mean out"));
  points.push_back(rival_system(exact_point(rms_norm(without, dv, 1e-2), normed, units), p, "epsilon = 0.01"));

  // Linear kernel: Z_t = sum q_t . k_i may be negative, and RMSNorm(o/Z) = sign(Z) RMSNorm(o).
  Sequence ones = s;
  ones.v.assign(s.v.size(), 1.0);
  const Vector o = results_of("linear", s), sums = results_of("linear", ones);
  Vector divided(size_t(s.shape.T) * dv), signed_norm = results_of("linear_rms", s, {{"epsilon", "1e-30"}});
  const Vector plain(signed_norm.begin(), signed_norm.begin() + divided.size());
  for (size_t i = 0; i < divided.size(); ++i) divided[i] = o[i] / sums[i];
  signed_norm = plain;
  for (size_t i = 0; i < plain.size(); ++i) signed_norm[i] *= sums[i] < 0 ? -1 : 1;
  const Vector reads(o.begin(), o.begin() + divided.size()), divided_norm = rms_norm(divided, dv);
  lengths = norms(reads, dv);
  const double linear_units = 64.0 * (s.shape.T + s.shape.Dk) * s.shape.T * std::sqrt(s.shape.Dk) * max_abs(s.q) *
                              max_abs(s.k) * max_abs(s.v) * dv / *std::min_element(lengths.begin(), lengths.end());
  points.push_back(rival_system(exact_point(plain, divided_norm, linear_units), p, "linear kernel, sign of Z lost"));
  points.push_back(as_obligation(exact_point(signed_norm, divided_norm, linear_units), p,
                                 "RMSNorm of linear reads, with the sign of Z"));

  // A query's Z is as often negative as not, whatever the keys.
  const Mean negative = sample_mean(wanted_sensitivity(protocol), 10000, 1000000, [&](size_t first, size_t count) {
    Sequence many;
    const int d = s.shape.Dk;
    many.shape = {1, 1, int(count) + 1, d, 1}; // one write of the sum of all keys, then reads
    many.q = Stream(protocol.seed, "normalisation/many queries").normals((count + 1) * d, first * d);
    many.k.assign(many.q.size(), 0.0), many.v.assign(count + 1, 0.0), many.v[0] = 1;
    for (size_t i = 0; i < s.k.size(); ++i) many.k[i % d] += s.k[i];
    Vector signs = forward(find_variant("linear"), many).o;
    signs.erase(signs.begin());
    for (double &x : signs) x = x < 0;
    return signs;
  });
  points.push_back(as_obligation(sampled_point(negative, 0.5), p, "share of Gaussian queries with Z < 0"));
  return points;
}

Claim rmsnorm_removes_normaliser() {
  const std::vector<ParamSpec> params = sequence_params(20);
  return explained(
      at_parameters(
          running(
              ledger_row("rmsnorm-removes-normaliser", "000 §2.1.2 Normalization, D.2; 002 §2",
                         "A simple per-head norm of the output can replace softmax's normaliser.",
                         "Exact for a positive kernel and the read: RMSNorm$(o/Z)$ = RMSNorm$(o) (epsilon = 0)$. With "
                         "the linear kernel equal up to the sign of $Z$, which is negative for half of Gaussian "
                         "queries.",
                         [params](const Protocol &protocol) { return norm_for_normaliser(protocol, params); }),
              {"softmax", "exp_unnormalized", "linear", "linear_rms"}),
          params),
      "It replaces the read's normaliser in direction; the read's length is lost either way. Inside $u$ ($Z^(1)$ of Eq "
      "94) "
      "the length matters, and a norm there gives another model.");
}

} // namespace

std::vector<Claim> eq_18_normalisation() {
  return {eq18_norm_role(), eq18_convex_read(), eq18_unnormalised_grows(), rmsnorm_removes_normaliser()};
}

} // namespace recollect::theory
