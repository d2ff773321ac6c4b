// SPDX-License-Identifier: Apache-2.0
// When the sum of outer products gives back what was stored (000 after Eq 4): orthonormal keys, of which there are no
// more than d.
#include "harness/core/error.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "theory/associative_memory/delta_rule/stored_reads.hpp"
#include "theory/support/sampling.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

using Vector = std::vector<double>;

std::vector<Point> orthonormal_keys(const Params &p, std::uint64_t seed) {
  const int n = p.integer("n"), d = p.integer("d");
  if (n > d) usage_error("orthonormal and independent keys exist for n <= d only");
  // Inner products of 1/2: the Gram matrix is no smaller than I / 2, where that of a random draw of n = d may be next to
  // singular and nothing converges.
  const Dense orthonormal(n, d, make_keys({"orthonormal", n, d}, 1, seed)),
      longer = 1.1 * orthonormal, independent(n, d, make_keys({"equicorrelated", n, d, 0.5}, 1, seed)),
      values = normal_matrix(n, 3, seed, "orthonormal/values");
  const auto reads = [&](const Dense &keys) { return reads_after("linear", keys, values, keys).data; };
  const double units = sum_units(16 * (n + d), Dense(1, 1, {1}), values);
  std::vector<Point> points{
      as_statement(exact_point(reads(orthonormal), values.data, units), p, "orthonormal keys: reads"),
      rival_system(exact_point(reads(longer), values.data, units), p, "orthogonal keys of norm 1.1"),
      rival_system(exact_point(reads(independent), values.data, units), p, "independent unit keys"),
      // For all values to be read back the Gram matrix has to be I: the reads are Gram times the values.
      as_obligation(exact_point(reads(independent), (independent * transpose(independent) * values).data, units), p,
                    "independent unit keys: reads, by the Gram matrix")};

  // Boundary: memories that independent keys suffice for.
  const double smallest = singular_values(independent).back(), ridge = 1e-6,
               size = frobenius_norm(values) / (smallest * smallest);
  const double by_ridge = 2 * ridge * size; // |reads - values| <= ridge |(Gram + ridge)^-1| |values|, and rounding
  const auto least_squares = [&](const std::string &variant, double tolerance) {
    const Assignments set = variant == "rls" ? Assignments{{"ridge", number(ridge)}} : Assignments{};
    return exact_point(reads_after(variant, independent, values, independent, set).data, values.data,
                       tolerance / epsilon_of(Real::f64));
  };
  points.push_back(as_obligation(least_squares("rls", by_ridge), p, "independent keys, least squares: reads"));
  points.push_back(rival_system(least_squares("linear", by_ridge), p, "the plain sum in its place"));

  const int passes = 1000; // every pass of the delta rule multiplies the error by prod (I - k k^T)
  Dense pass = Dense::identity(d), left = Dense::identity(d), repeated(n * passes, d), again(n * passes, 3);
  for (int i = 0; i < n; ++i) {
    const Vector k(independent.data.begin() + size_t(i) * d, independent.data.begin() + size_t(i + 1) * d);
    pass = pass * (Dense::identity(d) - outer(k, k));
  }
  const Dense solution = transpose(pseudo_inverse(independent)); // rows in the span of the keys
  left = solution;
  for (int i = 0; i < passes; ++i) {
    left = left * pass;
    std::copy(independent.data.begin(), independent.data.end(), repeated.data.begin() + size_t(i) * n * d);
    std::copy(values.data.begin(), values.data.end(), again.data.begin() + size_t(i) * n * 3);
  }
  const double by_passes = 2 * frobenius_norm(left) * frobenius_norm(values) * std::sqrt(n) +
                           8 * passes * n * (d + 4) * epsilon_of(Real::f64) * size;
  const auto delta_rule = [&](const Dense &keys, const Dense &targets) {
    return exact_point(reads_after("delta_net", keys, targets, independent).data, values.data,
                       by_passes / epsilon_of(Real::f64));
  };
  points.push_back(rival_system(delta_rule(independent, values), p, "the delta rule in one pass"));
  points.push_back(as_obligation(delta_rule(repeated, again), p, "independent keys, 1000 passes of the delta rule"));
  return points;
}

Claim orthonormal_exact() {
  const std::vector<ParamSpec> params{integer_param("n", 4, 2, 32, "pairs stored, at most d"),
                                      integer_param("d", 6, 2, 32, "key width")};
  return explained(
      at_parameters(running(ledger_row("orthonormal-exact", "000 after Eq 4",
                                       "Accurate retrieval from the plain sum of outer products requires orthonormal "
                                       "keys: $k_i.k_i = 1$ and $k_i.k_j = 0$.",
                                       "For the sum of Eq 1 necessary and sufficient over all values: the reads are "
                                       "the Gram matrix times the values.",
                                       [params](const Protocol &protocol) {
                                         return orthonormal_keys(point_of(protocol, params), protocol.seed);
                                       }),
                            {"linear", "rls", "delta_net"}),
                    params),
      "It is a property of the sum, not of linear memories: least squares, and the delta rule over many passes, read "
      "independent keys back exactly.");
}

/// n unit vectors with sum k k^T = n/d I, by rows of the discrete Fourier transform: real parts at frequencies 1 ...
/// d/2, and for odd d a constant.
Dense harmonic_frame(int n, int d) {
  Dense frame(n, d);
  for (int j = 0; j < n; ++j) {
    for (int c = 0; c + 1 < d; c += 2) {
      const double angle = 2 * M_PI * (c / 2 + 1) * j / n;
      frame(j, c) = std::sqrt(2.0 / d) * std::cos(angle), frame(j, c + 1) = std::sqrt(2.0 / d) * std::sin(angle);
    }
    if (d % 2) frame(j, d - 1) = std::sqrt(1.0 / d);
  }
  return frame;
}
/// Mean over i of sum_{j != i} (k_j.k_i)^2, from reads whose values are the unit vectors.
double crosstalk(const Dense &keys) {
  const int n = keys.rows;
  const Dense gram = reads_after("linear", keys, Dense::identity(n), keys);
  double sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) sum += i == j ? 0 : gram(i, j) * gram(i, j) / n;
  return sum;
}

Claim crosstalk_floor() {
  const std::vector<ParamSpec> params{integer_param("n", 64, 3, 256, "pairs stored, more than d"),
                                      integer_param("d", 32, 2, 128, "key width")};
  const auto measure = [params](const Protocol &protocol) {
    const Params p = point_of(protocol, params);
    const int n = p.integer("n"), d = p.integer("d");
    if (n <= d) usage_error("crosstalk_floor is about more pairs than dimensions: n > d");
    const double floor = double(n - d) / d, units = 16.0 * n * (d + n), tolerance = units * epsilon_of(Real::f64);
    const double tight = crosstalk(harmonic_frame(n, d));
    double least = HUGE_VAL;
    const double mean = (n - 1.0) / d;
    const Mean random =
        sample_mean(wanted_sensitivity(protocol, mean, {floor}), 20, 5000, [&](size_t first, size_t count) {
          Vector means;
          for (size_t m = first; m < first + count; ++m) {
            Dense keys(n, d, Stream(protocol.seed, "crosstalk/keys", m).normals(size_t(n) * d));
            normalise_rows(keys.data, d);
            means.push_back(crosstalk(keys)), least = std::min(least, means.back());
          }
          return means;
        });
    std::vector<Point> points{
        as_statement(at_least_point(least, floor, tolerance), p, "random unit keys: least cross-talk of all sets"),
        as_obligation(sampled_point(random, mean), p, "random unit keys: mean cross-talk"),
        rival_law(sampled_point(random, floor), p, "the floor for the mean of random keys"),
        rival_system(at_least_point(crosstalk(0.9 * harmonic_frame(n, d)), floor, tolerance), p,
                     "tight frame of norm 0.9, off the premise"),
        as_obligation(exact_point(tight, floor, units), p, "tight frame of unit keys: cross-talk")};
    points.push_back(rival_law(as_obligation(at_least_point(tight, floor, tolerance), p), "floor (n-1)/d", mean));
    return points;
  };
  return explained(
      at_parameters(
          running(ledger_row("crosstalk-floor", "000 after Eq 4",
                             "The keys' space has only $d_k$ orthogonal bases, so that with many more stored "
                             "pairs than $d_k$ the cross-talk becomes non-zero.",
                             "For unit keys the mean over $i$ of sum_{j != $i$} ($k_j.k_i$)^2 is at least $(n-d)/d$, "
                             "for every $n > d$ already; equality for tight frames, $(n-1)/d$ for random keys.",
                             measure),
                  {"linear"}),
          params),
      "The text says $n >> d$; $n > d$ suffices. Well-chosen keys keep it to about half of what random ones have at $n "
      "= 2 "
      "d$.");
}

} // namespace

std::vector<Claim> eq_4_exact_retrieval() { return {orthonormal_exact(), crosstalk_floor()}; }

} // namespace recollect::theory
