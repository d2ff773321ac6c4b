// SPDX-License-Identifier: Apache-2.0
// 000 §2.1.1, exp kernel: whether the softmax normaliser can be left out (footnote 4), and whether x.y has variance d,
// which is the reason for tau = sqrt(d).
#include "theory/support/measure.hpp"
#include "theory/support/sampling.hpp"

namespace recollect::theory {
namespace {
/// SNR^-1 with the last pair of every memory as probe. The first dv channels contain the values of the other pairs, the
/// last dv channels the value of the probe. So one read of softmax attention contains noise and signal, divided by the
/// same normaliser. With `column_normaliser`, the layer's normaliser is replaced: every value is divided by the sum of
/// the weights of its key over all queries.
Vector split_ratios(const std::string &variant, int n, int d, int dv, double tau, bool column_normaliser, Seed seed) {
  const int memories = 20;
  Sequence s = of_shape({memories, 1, n, d, 2 * dv});
  s.k = Stream(seed, "normaliser/keys").normals(size_t(memories) * n * d);
  s.q = s.k; // the last read is at the last key
  s.v = Stream(seed, "normaliser/values").normals(size_t(memories) * n * 2 * dv);
  for (int m = 0; m < memories; ++m)
    for (int j = 0; j < n; ++j) {
      double *v = &s.v[(size_t(m) * n + j) * 2 * dv];
      std::fill(v + (j + 1 < n ? dv : 0), v + (j + 1 < n ? 2 * dv : dv), 0.0);
      double sum = 0;
      for (int t = 0; t < n; ++t)
        sum += std::exp(inner(&s.q[(size_t(m) * n + t) * d], &s.k[(size_t(m) * n + j) * d], d) / tau);
      for (int c = 0; column_normaliser && c < 2 * dv; ++c) v[c] /= sum;
    }
  const Vector o = run(variant, s, {{"scale", number(1 / tau)}}).o;
  Vector ratios;
  for (int m = 0; m < memories; ++m) {
    const double *read = &o[(size_t(m + 1) * n - 1) * 2 * dv];
    ratios.push_back(inner(read, read, dv) / inner(read + dv, read + dv, dv));
  }
  return ratios;
}

Claim snr_norm_invariant() {
  ClaimBuilder c("snr-norm-invariant", "000 footnote 4");
  c.says("The softmax normaliser can be left out: it does not change the inverse SNR.");
  c.exactly("This is exact for every sample: the normaliser $Z(q)$ divides the signal and the noise of a read alike.");
  c.because("The normaliser is one number per query. A normaliser per key would change the ratio.");
  c.runs({"softmax", "exp_unnormalized"});
  c.takes({integer_param("n", 20, 2, 256, "pairs stored"), key_width_param(16, 2, 64), value_width_param(8, 1, 64),
           real_param("tau", 4, 1, 1000, "temperature")});
  return measure(c, [](Points &points, Seed seed, int n, int d, int dv, double tau) {
    const auto ratios = [&](const char *variant, bool column_normaliser = false) {
      return split_ratios(variant, n, d, dv, tau, column_normaliser, seed);
    };
    const Vector without = ratios("exp_unnormalized");
    // The rounding errors of both reads: exponents of size |k|^2 / tau, inner products of d terms, and sums of n terms.
    points.rounding(8.0 * (2.0 * d / tau * (d + 4) + n) * max_abs(without));
    points.obligation("$SNR^-1$ of every memory with the softmax normaliser, against $SNR^-1$ without it",
                      ratios("softmax"), without);
    points.wrong_system("a normaliser for every key instead of every query", ratios("exp_unnormalized", true), without);
  });
}

enum class Components { gaussian, signs, all_the_same };

/// Mean of (x.y)^2 over 16 vectors x and 16 vectors y, read from one linear memory that stores every x with a unit
/// vector as value.
Vector squared_products(int d, Components kind, std::uint64_t seed, size_t first, size_t count) {
  const int half = 16;
  Sequence s = of_shape({int(count), 1, 2 * half, d, half});
  const size_t rows = size_t(half) * d;
  const Vector drawn = Stream(seed, "products").normals(2 * count * rows, 2 * first * rows);
  s.k.assign(2 * count * rows, 0.0), s.q = s.k, s.v.assign(count * 2 * half * half, 0.0);
  for (size_t m = 0; m < count; ++m) {
    for (size_t i = 0; i < rows; ++i)
      for (Vector *into : {&s.k, &s.q}) {
        const size_t part = into == &s.k ? 0 : rows;
        const double x = drawn[2 * m * rows + part + (kind == Components::all_the_same ? i / d * d : i)];
        (*into)[2 * m * rows + part + i] = kind == Components::signs ? (x > 0 ? 1 : -1) : x;
      }
    for (int i = 0; i < half; ++i) s.v[(m * 2 * half + i) * half + i] = 1;
  }
  const Vector o = run("linear", s).o;
  Vector means;
  for (size_t m = 0; m < count; ++m) {
    const double *products = &o[(2 * m + 1) * half * half];
    means.push_back(inner(products, products, half * half) / (half * half));
  }
  return means;
}

Claim dot_variance() {
  ClaimBuilder c("dot-variance", "000 §2.1.1, Exp Kernel");
  c.says("The inner product x.y has variance $d_k$ if the components of x and y are independent, with mean zero and "
         "unit variance.");
  c.exactly("The variance is exactly the width $d$.");
  c.because("The components must be independent: equal components give $d^2$.");
  c.runs({"linear"}), c.takes({integer_param("d", 16, 2, 32, "width")}), c.at({{}, {{"d", 4}}});
  return measure(c, [](Points &points, const Protocol &protocol, int d) {
    const double wanted = wanted_sensitivity(protocol, d, {d - 1.0});
    const auto variance = [&](Components kind) { // the mean is 0 by symmetry
      const auto draw = [&, kind](size_t first, size_t count) {
        return squared_products(d, kind, protocol.seed, first, count);
      };
      return sample_mean(wanted, 100, 20000, in_blocks(cached_block(64 * d), draw));
    };
    points.obligation("variance of x.y for Gaussian components: d", variance(Components::gaussian), d)
        .but_not("$d - 1$ in place of $d$", d - 1)
        .but_not("$d + 1$ in place of $d$", d + 1);
    points.obligation("variance of x.y for components +-1: d", variance(Components::signs), d);
    points.wrong_system("vectors whose components are all equal",
                        mean_of(squared_products(d, Components::all_the_same, protocol.seed, 0, 500)), d);
  });
}
} // namespace

std::vector<Claim> footnote_4_exp_kernel() { return {snr_norm_invariant(), dot_variance()}; }
} // namespace recollect::theory
