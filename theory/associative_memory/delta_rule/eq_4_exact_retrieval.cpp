// SPDX-License-Identifier: Apache-2.0
// When the sum of outer products gives back what was stored (000 after Eq 4): for at most d orthonormal keys.
#include "harness/numerics/keys.hpp"
#include "theory/associative_memory/delta_rule/runs.hpp"
#include "theory/support/sampling.hpp"

namespace recollect::theory {
namespace {
/// The pairs of `once` and `targets`, written `count` times by the delta rule. Every pass over the pairs multiplies the
/// error by the product of I - k k^T over the keys. `left` is what then remains of the distance to a least-squares
/// solution.
struct Passes {
  int count = 1000;
  Dense keys, values, left;
  Passes(const Dense &once, const Dense &targets)
      : keys(once.rows * count, once.columns, repeated(once.data, count)),
        values(once.rows * count, targets.columns, repeated(targets.data, count)),
        left(transpose(pseudo_inverse(once))) { // its rows are in the span of the keys
    const int d = once.columns;
    Dense pass = Dense::identity(d);
    for (int i = 0; i < once.rows; ++i) {
      const Vector k(once.data.begin() + size_t(i) * d, once.data.begin() + size_t(i + 1) * d);
      pass = pass * (Dense::identity(d) - outer(k, k));
    }
    for (int i = 0; i < count; ++i) left = left * pass;
  }
};

Claim orthonormal_exact() {
  ClaimBuilder c("orthonormal-exact", "000 after Eq 4");
  c.says("Accurate retrieval from the plain sum of outer products requires orthonormal keys: $k_i.k_i = 1$, and "
         "$k_i.k_j = 0$ for $i != j$.");
  c.exactly("For the sum of Eq 1, orthonormal keys are necessary and sufficient to read all values exactly, because "
            "the reads are the Gram matrix of the keys times the values.");
  c.because("This is a property of the sum, not of all linear memories. Least squares retrieves all values exactly for "
            "all linearly independent keys, and so does the delta rule after many passes.");
  c.runs({"linear", "rls", "delta_net"});
  c.takes({integer_param("n", 4, 2, 32, "pairs stored, at most d"), key_width_param(6, 2, 32)});
  return measure(c, [](Points &points, Seed seed, int n, int d) {
    if (n > d) usage_error("orthonormal and independent keys exist for n <= d only");
    // `independent` keys have inner products of 1/2, so the eigenvalues of their Gram matrix are at least 1/2. They are
    // not random, because the Gram matrix of n = d random keys may be nearly singular, and then no layer converges.
    const Dense orthonormal(n, d, make_keys({"orthonormal", n, d}, 1, seed)),
        independent(n, d, make_keys({"equicorrelated", n, d, 0.5}, 1, seed)),
        values = normal_matrix(n, 3, seed, "orthonormal/values");
    const auto reads = [&](const Dense &keys) { return reads_after("linear", keys, values, keys); };
    points.rounding(sum_units(16 * (n + d), Dense(1, 1, {1}), values));
    points.statement("reads at orthonormal keys, against the values", reads(orthonormal), values);
    points.wrong_system("orthogonal keys of norm 1.1", reads(1.1 * orthonormal), values);
    points.wrong_system("linearly independent unit keys", reads(independent), values);
    points.obligation("reads at linearly independent unit keys, against the Gram matrix times the values",
                      reads(independent), independent * transpose(independent) * values);
    // The statement is about the sum. The memories below need only linearly independent keys.
    const double smallest = singular_values(independent).back(), ridge = 1e-6,
                 size = frobenius_norm(values) / (smallest * smallest);
    const double by_ridge = 2 * ridge * size; // |reads - values| <= ridge |(Gram + ridge)^-1| |values|, and rounding
    points.rounding(by_ridge / epsilon_of(Real::f64));
    points.obligation("reads of least squares at linearly independent keys, against the values",
                      reads_after("rls", independent, values, independent, {{"ridge", number(ridge)}}), values);
    points.wrong_system("the plain sum in place of least squares", reads(independent), values);
    const Passes passes(independent, values);
    const double by_passes = 2 * frobenius_norm(passes.left) * frobenius_norm(values) * std::sqrt(n) +
                             8 * passes.count * n * (d + 4) * epsilon_of(Real::f64) * size;
    const auto delta_rule = [&](const Dense &keys, const Dense &targets) {
      return reads_after("delta_net", keys, targets, independent);
    };
    points.rounding(by_passes / epsilon_of(Real::f64));
    points.wrong_system("the delta rule after one pass", delta_rule(independent, values), values);
    points.obligation("reads of the delta rule after 1000 passes over linearly independent keys, against the values",
                      delta_rule(passes.keys, passes.values), values);
  });
}

/// n unit vectors with sum k k^T = n/d I: Fourier modes at frequencies 1 ... d/2, and for odd d a constant.
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
/// The mean over i of sum_{j != i} (k_j.k_i)^2, from reads of a memory whose values are the standard basis.
double crosstalk(const Dense &keys) {
  const int n = keys.rows;
  const Dense gram = reads_after("linear", keys, Dense::identity(n), keys);
  double sum = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) sum += i == j ? 0 : gram(i, j) * gram(i, j) / n;
  return sum;
}

Claim crosstalk_floor() {
  ClaimBuilder c("crosstalk-floor", "000 after Eq 4");
  c.says("The space of the keys has only $d_k$ orthogonal directions. With many more stored pairs than $d_k$ the "
         "cross-talk is therefore not zero.");
  c.exactly("For unit keys the mean over $i$ of $sum_{j != i} (k_j.k_i)^2$ is at least $(n-d)/d$ for every $n > d$. "
            "Tight frames reach this bound. For random keys the average is $(n-1)/d$.");
  c.because("The text says $n >> d$, but $n > d$ suffices. At $n = 2 d$, well-chosen keys have about half the "
            "cross-talk of random keys.");
  c.runs({"linear"});
  c.takes({integer_param("n", 64, 3, 256, "pairs stored, more than d"), key_width_param(32, 2, 128)});
  return measure(c, [](Points &points, const Protocol &protocol, int n, int d) {
    if (n <= d) usage_error("crosstalk_floor is about more pairs than dimensions: n > d");
    const double floor = double(n - d) / d, mean = (n - 1.0) / d, units = 16.0 * n * (d + n);
    const auto at_least = [tolerance = units * epsilon_of(Real::f64)](double found, double bound) {
      return at_least_point(found, bound, tolerance);
    };
    double least = HUGE_VAL;
    const Mean random =
        sample_mean(wanted_sensitivity(protocol, mean, {floor}), 20, 5000, [&](size_t first, size_t count) {
          Vector means;
          for (size_t m = first; m < first + count; ++m) {
            means.push_back(crosstalk(Dense(n, d, random_units(n, d, Stream(protocol.seed, "crosstalk/keys", m)))));
            least = std::min(least, means.back());
          }
          return means;
        });
    const Dense frame = harmonic_frame(n, d);
    points.rounding(units).statement("smallest cross-talk of any set of random unit keys, at least $(n-d)/d$",
                                     at_least(least, floor));
    points.obligation("mean cross-talk of random unit keys: $(n-1)/d$", random, mean)
        .but_not("$(n-d)/d$ in place of $(n-1)/d$", floor);
    points.obligation("cross-talk of a tight frame of unit keys: $(n-d)/d$", crosstalk(frame), floor)
        .but_not("at least $(n-1)/d$", at_least(crosstalk(frame), mean));
    points.wrong_system("a tight frame of keys of norm 0.9", at_least(crosstalk(0.9 * frame), floor));
  });
}
} // namespace

std::vector<Claim> eq_4_exact_retrieval() { return {orthonormal_exact(), crosstalk_floor()}; }
} // namespace recollect::theory
