// SPDX-License-Identifier: Apache-2.0
// How an average over heads that share keys and values changes the noise (000 footnote 7). Let r_h be the noise of head
// h, h = 1 ... n_h. Then E|mean r_h|^2 / E|r_h|^2 is
//   the same query in every head                1
//   q_h = k_i + sigma xi_h, linear kernel       (1 + sigma^2 / n_h) / (1 + sigma^2)
//   independent queries, linear kernel          1 / n_h, and the signal is lost as well
//   independent queries, exp at tau = sqrt d    1/n_h + (1 - 1/n_h) f, where f = ((1 - 2/d)/(1 - 4/d))^(-d/2)
//                                               tends to 1/e as d grows
//   own keys in every head                      1 / n_h
//
// With the linear kernel all of these are quadratic in keys, values and xi_h. Rows of Hadamard matrices have the first
// two moments of the Gaussian, so sums over these rows give the expectations exactly.
#include "theory/associative_memory/noise/noise_quadrature.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
enum class Queries { the_key, noisy, independent, own_keys };

/// E|mean r_h|^2 / E|r_h|^2, and the mean signal along v_i divided by |k_i|^2.
struct Averaged {
  double noise, signal;
};

/// Row b of a Hadamard matrix gives all xi_h; there is one memory for every row. The keys other than k_i are all rows
/// of a second Hadamard matrix, so sum_j k_j k_j^T is a multiple of I. If every head has its own keys, they are these
/// rows times the signs of xi_h.
Averaged average_heads(int heads, int d, int dv, Queries queries, double sigma) {
  const int n = hadamard_order(d) + 1, memories = hadamard_order(heads * d + 1);
  const Stored stored = gaussian_pairs(n, dv, only(1));
  const int noise = stored.others.columns, channels = noise + 1; // the last channel is for v_i = 1
  Sequence s = of_shape({memories, heads, n, d, channels});
  for (int b = 0; b < memories; ++b)
    for (int h = 0; h < heads; ++h) {
      // Without the constant column, every xi_h has mean 0.
      const auto xi = [&](int c) { return hadamard(b, h * d + c + 1); };
      const auto sign = [&](int c) { return queries == Queries::own_keys ? xi(c) : 1; };
      for (int j = 0; j + 1 < n; ++j) {
        for (int c = 0; c < d; ++c) s.k.push_back(hadamard(j, c) * sign(c));
        const double *v = &stored.others.data[size_t(j) * noise];
        s.v.insert(s.v.end(), v, v + noise), s.v.push_back(0);
      }
      s.v.insert(s.v.end(), channels, 0.0), s.v.back() = 1;
      s.q.resize(s.k.size(), 0.0);
      for (int c = 0; c < d; ++c) {
        s.k.push_back(c % 3 ? 1 : -1); // the probe, with |k_i|^2 = d
        s.q.push_back(queries == Queries::independent ? xi(c) : s.k.back() + sigma * xi(c));
      }
    }
  const Vector o = run("linear", s).o;
  double together = 0, apart = 0, signal = 0;
  for (int b = 0; b < memories; ++b) {
    Vector mean(channels, 0.0);
    for (int h = 0; h < heads; ++h) {
      const double *read = &o[(size_t(b * heads + h + 1) * n - 1) * channels];
      for (int c = 0; c < channels; ++c) mean[c] += read[c] / heads;
      apart += inner(read, read, noise) / heads;
    }
    together += inner(mean.data(), mean.data(), noise), signal += mean.back() / d / memories;
  }
  return {together / apart, signal};
}

/// E[kappa(k,q) kappa(k,q')] of the exp kernel at tau = sqrt(d) over k, q, q' ~ N(0, I): the product depends on k.(q +
/// q') only. |q + q'| is distributed as sqrt(2) |x| if q and q' are independent, and as 2 |x| if q' = q, where x ~ N(0,
/// I). The choice of q - q' has no effect.
Integral mean_product(int d, bool same, std::uint64_t seed) {
  const double tau = std::sqrt(d), stretch = same ? 2 : std::sqrt(2);
  const Rule lengths = length_rule(d, 0, -stretch * stretch / (2 * d)); // E over k is exp(|q + q'|^2 / (2 tau^2))
  const Vector along = unit_vector(d, seed);
  Vector across = Stream(seed, "shared heads/difference").normals(d);
  const double leak = inner(across, along);
  for (int c = 0; c < d; ++c) across[c] = same ? 0 : across[c] - leak * along[c];
  return lengths.integral([&](double x) {
    const double length = stretch * x;
    const Rule z = normal_rule(length / tau);
    const int nodes = int(z.nodes.size()), T = nodes + 2; // the last two steps write nothing and read with q and q'
    Sequence s = of_shape({1, 1, T, d, nodes});
    s.k.assign(size_t(T) * d, 0.0), s.q = s.k, s.v.assign(size_t(T) * nodes, 0.0);
    for (int j = 0; j < nodes; ++j) {
      for (int c = 0; c < d; ++c) s.k[size_t(j) * d + c] = z.nodes[j] * along[c] + 0.1 * across[c];
      s.v[size_t(j) * nodes + j] = 1;
    }
    for (int c = 0; c < d; ++c) {
      s.q[size_t(T - 2) * d + c] = length / 2 * along[c] + across[c];
      s.q[size_t(T - 1) * d + c] = length / 2 * along[c] - across[c];
    }
    const Vector o = run("exp_unnormalized", s, {{"scale", number(1 / tau)}}).o;
    std::vector<Integral> products;
    for (int j = 0; j < nodes; ++j) {
      const double product = o[size_t(T - 2) * nodes + j] * o[size_t(T - 1) * nodes + j];
      const double units = 8.0 * (d + 4) * (1 + std::fabs(z.nodes[j]) * length / tau);
      products.push_back({product, units * epsilon_of(Real::f64) * product});
    }
    return z.sum(products);
  });
}
Integral shared_of_exp(int d, std::uint64_t seed) { return mean_product(d, false, seed) / mean_product(d, true, seed); }

Claim footnote_7() {
  ClaimBuilder c("footnote7-mqa-noise", "000 footnote 7 (to §2.1.2, Multihead)");
  c.says("In multi-query attention with shared keys and values, where $W_O$ averages $n_h$ heads, the variance of the "
         "noise term falls by a factor of $n_h$ compared with one head of the same key and value widths.");
  c.is_refuted(asserted("Footnote 7: 'in Multi-Query Attention, if $W_O$ learns to compute a simple average over $n_h$ "
                        "heads with shared keys and values, the variance of the noise term is reduced by a factor of "
                        "$n_h$ compared to a single-head attention with the same key/value dimensionality'.",
                        "$W_O$ averages; keys and values shared; the same widths",
                        "No later sentence limits the footnote.",
                        "The heads' queries differ, and we assume that the noises of different queries are "
                        "independent, as in the usual argument about the variance of an average. The footnote "
                        "illustrates an intuition ('from an intuitive perspective'); it is not used later."));
  c.exactly("The query that retrieves $v_i$ is $k_i$ in every head. Then all heads have the same noise, and averaging "
            "does not change its variance. For noisy queries $q_h = k_i + sigma xi_h$ the variance is multiplied by "
            "$(1 + sigma^2/n_h)/(1 + sigma^2)$.");
  c.because("The factor $1/n_h$ needs heads with independent noises. Heads with separate keys have them. With "
            "independent queries the linear kernel has independent noises, but the signal is lost as well. With the "
            "exp kernel at $tau = sqrt(d)$ the heads share $1/e$ of the noise even if their queries are independent, "
            "so that the variance falls to $1/n_h + (1 - 1/n_h)/e$ at best.");
  c.runs({"linear", "exp_unnormalized"}),
      c.takes({integer_param("heads", 8, 3, 32, "heads"),
               real_param("sigma", 1, 0.5, 4, "standard deviation of the noise in each head's query"),
               key_width_param(16, 8, 64), value_width_param(8, 1, 64)});
  c.also([](Points &points, const Protocol &protocol) {
    Vector h;
    std::vector<Integral> share;
    for (int width : {16, 24, 32, 48, 64})
      h.push_back(1.0 / width), share.push_back(shared_of_exp(width, protocol.seed));
    points.at({{"largest d", 64}})
        .obligation("share of the noise that heads with independent queries have in common, exp kernel, as d grows",
                    limit_of(h, share), std::exp(-1))
        .but_not("$1/2$ in place of $1/e$", 0.5);
  });
  return measure(c, [](Points &points, Seed seed, double heads, double sigma, double d, double dv) {
    const double partial = (1 + sigma * sigma / heads) / (1 + sigma * sigma);
    if (heads * d > 256) usage_error("heads times d is at most 256");
    const auto average = [&](Queries queries, double noise) {
      return average_heads(int(heads), int(d), int(dv), queries, noise);
    };
    const std::string noise = "noise of the average over heads / noise of one head, ",
                      signal = "signal of the average over heads / $|k_i|^2$, ";
    const Averaged same = average(Queries::the_key, 0), noisy = average(Queries::noisy, sigma),
                   apart = average(Queries::independent, 0), own = average(Queries::own_keys, 0);
    points.rounding(64 * heads * d * (1 + sigma * sigma)); // sums of heads * d terms of size 1 + sigma^2
    points.statement(noise + "query $k_i$ in every head", same.noise, 1 / heads);
    points.obligation(noise + "query $k_i$ in every head", same.noise, 1)
        .but_not("$1/sqrt(n_h)$", 1 / std::sqrt(heads));
    points.obligation(signal + "query $k_i + sigma xi_h$ in head h", noisy.signal, 1);
    points.obligation(noise + "query $k_i + sigma xi_h$ in head h", noisy.noise, partial)
        .but_not("$1/n_h$, as for independent noises", 1 / heads)
        .but_not("1, no gain", 1);
    points.wrong_system("independent queries in all heads", apart.noise, partial);
    points.obligation(noise + "independent queries in all heads", apart.noise, 1 / heads);
    points.obligation(signal + "independent queries in all heads", apart.signal, 0);
    points.wrong_system("queries $k_i + sigma xi_h$ in place of independent ones", noisy.signal, 0);
    points.obligation(noise + "own keys in every head", own.noise, 1 / heads)
        .but_not("$1/(n_h - 1)$ in place of $1/n_h$", 1 / (heads - 1));
    points
        .obligation("share of the noise that heads with independent queries have in common, exp kernel",
                    shared_of_exp(int(d), seed), std::pow((1 - 2 / d) / (1 - 4 / d), -d / 2))
        .but_not("exponent $-(d-1)/2$ in place of $-d/2$", std::pow((1 - 2 / d) / (1 - 4 / d), -(d - 1) / 2));
  });
}
} // namespace

std::vector<Claim> footnote_7_shared_heads() { return {footnote_7()}; }
} // namespace recollect::theory
