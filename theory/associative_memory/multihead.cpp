// SPDX-License-Identifier: Apache-2.0
// Several heads (000 Eq 19-23, footnote 7): the output projection as a sum over heads, and what averaging heads does to
// the noise.
//
// Footnote 7's heads share keys and values and are averaged. With r_h the noise of head h, E|mean r_h|^2 over E|r_1|^2
// is
//   the same query in every head                1
//   q_h = k_i + sigma xi_h, linear kernel       (1 + sigma^2 / n_h) / (1 + sigma^2)
//   independent queries, linear kernel          1 / n_h, and the signal goes with it
//   independent queries, exp at tau = sqrt d    1/n_h + (1 - 1/n_h) ((1 - 2/d)/(1 - 4/d))^(-d/2), tending to e^-1 + (1
//   - e^-1)/n_h
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/statistics.hpp"
#include "theory/associative_memory/noise_quadrature.hpp"
#include "theory/support/claims.hpp"

namespace recollect::theory {
namespace {

using Vector = std::vector<double>;

/// Two heads of width 3 sliced out of width 6, values of width 2 each, W_O [5,4].
std::vector<Point> projection(const Protocol &protocol, double sign) {
  const int T = 12, heads = 2, d = 3, dv = 2, out = 5;
  const Dense W(out, heads * dv, Stream(protocol.seed, 251).normals(out * heads * dv));
  Sequence s;
  s.shape = {1, heads, T, d, dv};
  s.q = Stream(protocol.seed, 252).normals(heads * T * d), s.k = Stream(protocol.seed, 253).normals(heads * T * d);
  s.v = Stream(protocol.seed, 254).normals(heads * T * dv);
  std::vector<Point> points;
  for (const char *variant : {"softmax", "linear"}) {
    const Vector o = forward(find_variant(variant), s).o;
    Dense joined(T, heads * dv), summed(T, out); // [o_1; o_2], and the sum of W_O's blocks on single heads
    for (int h = 0; h < heads; ++h) {
      Sequence one = s;
      one.shape.H = 1;
      one.q = Vector(s.q.begin() + h * T * d, s.q.begin() + (h + 1) * T * d),
      one.k = Vector(s.k.begin() + h * T * d, s.k.begin() + (h + 1) * T * d);
      one.v = Vector(s.v.begin() + h * T * dv, s.v.begin() + (h + 1) * T * dv);
      const Dense alone(T, dv, forward(find_variant(variant), one).o);
      Dense block(out, dv);
      for (int i = 0; i < out; ++i)
        for (int c = 0; c < dv; ++c) block(i, c) = (h ? sign : 1) * W(i, h * dv + c);
      summed = summed + alone * transpose(block);
      for (int t = 0; t < T; ++t)
        for (int c = 0; c < dv; ++c) joined(t, h * dv + c) = o[(h * T + t) * dv + c];
    }
    const double size = frobenius_norm(W) * max_abs(o) + 1;
    points.push_back(
        at(exact_point(max_difference((joined * transpose(W)).data, summed.data), 0, 32.0 * heads * dv * size, 1e-3),
           "exact", labels({{"variant", txt(variant)}, {"quantity", txt("W_O [o_1; o_2] - sum of per-head blocks")}})));
  }
  // Linear kernel, slices of one key, the same value in every head, averaged: a single head over n_h.
  Sequence whole = s, slices = s;
  whole.shape = {1, 1, T, heads * d, dv}, whole.v.resize(T * dv);
  for (int h = 0; h < heads; ++h) {
    std::copy_n(whole.v.begin(), T * dv, slices.v.begin() + h * T * dv);
    for (int t = 0; t < T; ++t)
      for (int c = 0; c < d; ++c) {
        slices.q[(h * T + t) * d + c] = whole.q[(t * heads + h) * d + c];
        slices.k[(h * T + t) * d + c] = whole.k[(t * heads + h) * d + c];
      }
  }
  const Vector single = forward(find_variant("linear"), whole).o, several = forward(find_variant("linear"), slices).o;
  Vector mean(T * dv);
  for (int i = 0; i < T * dv; ++i) mean[i] = (several[i] + sign * several[T * dv + i]) / heads - single[i] / heads;
  points.push_back(at(exact_point(max_abs(mean), 0, 32.0 * T * heads * d * (max_abs(single) + 1), 1e-3), "exact",
                      labels({{"variant", txt("linear")}, {"quantity", txt("mean of heads - single head / n_h")}})));
  return points;
}

struct Averaged {
  Mean ratio;  // mean |mean of r_h|^2 over the exact E|r_1|^2
  Mean signal; // mean of <mean of c_h v_i, v_i> / (d |v_i|^2)
};

/// Linear memories with shared keys and values; the first pair is the probe, and its value fills the second half of the
/// channels.
Averaged average_heads(int heads, double sigma, bool independent, int memories, std::uint64_t seed) {
  const int n = 10, d = 16, dv = 8;
  const Vector keys = Stream(seed, 261).normals(size_t(memories) * n * d),
               values = Stream(seed, 262).normals(size_t(memories) * n * dv);
  const Stream noise(seed, 263);
  Sequence s;
  s.shape = {memories, heads, n, d, 2 * dv};
  for (int m = 0; m < memories; ++m)
    for (int h = 0; h < heads; ++h) {
      s.k.insert(s.k.end(), &keys[size_t(m) * n * d], &keys[size_t(m) * n * d] + n * d);
      for (int j = 0; j < n; ++j)
        for (int c = 0; c < 2 * dv; ++c)
          s.v.push_back((c < dv) == (j > 0) ? values[(size_t(m) * n + j) * dv + c % dv] : 0.0);
      s.q.resize(s.k.size(), 0.0);
      for (int c = 0; c < d; ++c) {
        const double xi = noise.normal((size_t(m) * heads + h) * d + c), key = keys[size_t(m) * n * d + c];
        s.q[s.q.size() - d + c] = independent ? xi : key + sigma * xi;
      }
    }
  const Vector o = forward(find_variant("linear"), s).o;
  const double single = (n - 1.0) * dv * d * (independent ? 1 : 1 + sigma * sigma);
  Vector ratios, signals;
  for (int m = 0; m < memories; ++m) {
    double square = 0, signal = 0, length = 0;
    for (int c = 0; c < dv; ++c) {
      double r = 0, probe = 0;
      for (int h = 0; h < heads; ++h) {
        const double *read = &o[((size_t(m) * heads + h + 1) * n - 1) * 2 * dv];
        r += read[c] / heads, probe += read[dv + c] / heads;
      }
      const double v = values[size_t(m) * n * dv + c];
      square += r * r, signal += probe * v, length += v * v;
    }
    ratios.push_back(square / single), signals.push_back(signal / length / d);
  }
  return {mean_of(ratios), mean_of(signals)};
}

/// E[kappa(k,q) kappa(k,q')] over k, q, q' ~ N(0, I), relative to E kappa^2(k,q): kappas are read at the nodes of rules
/// along q + q' and in |q + q'|^2 = 2 chi^2_d, the densities tilted by the weight exp(k.(q + q') / tau) as in
/// noise_quadrature.hpp.
Integral exp_correlation(int d, std::uint64_t seed) {
  const double tau = std::sqrt(d);
  const auto joint = [&](int nodes, bool same) { // |q + q'|^2 = spread X with X ~ Gamma(d/2): 8 X for q' = q, else 4 X
    const double spread = same ? 8 : 4, rate = spread / (2 * tau * tau), scale = 1 / (1 - rate);
    const Quadrature outer = gamma_quadrature(nodes, d / 2.0), rule = normal_quadrature(nodes);
    double mean = 0;
    for (int m = 0; m < nodes; ++m) {
      const double x = scale * outer.nodes[m], length = std::sqrt(spread * x), centre = length / tau;
      const Vector direction = Stream(seed, 271).normals(d), side = Stream(seed, 272).normals(d);
      Sequence s;
      const int T = nodes + 2; // the last two steps write nothing and read with q and q'
      s.shape = {1, 1, T, d, nodes};
      s.k = Stream(seed, 273).normals(size_t(T) * d), s.q.assign(size_t(T) * d, 0.0),
      s.v.assign(size_t(T) * nodes, 0.0);
      const double norm = std::sqrt(inner(direction.data(), direction.data(), d));
      const double leak = same ? 0 : inner(side.data(), direction.data(), d) / (norm * norm);
      for (int c = 0; c < d; ++c) {
        const double half = length / 2 * direction[c] / norm, across = same ? 0 : side[c] - leak * direction[c];
        s.q[(T - 2) * d + c] = half + across, s.q[(T - 1) * d + c] = half - across;
      }
      for (int j = 0; j < nodes; ++j) {
        double *key = &s.k[size_t(j) * d];
        const double shift = (rule.nodes[j] + centre) / norm - inner(key, direction.data(), d) / (norm * norm);
        for (int c = 0; c < d; ++c) key[c] += shift * direction[c];
        s.v[size_t(j) * nodes + j] = 1;
      }
      const Variant &variant = find_variant("exp_unnormalized");
      const Vector o =
          forward(variant, s, {"recurrent", Real::f64, 1, variant_params(variant, {{"scale", number(1 / tau)}})}).o;
      const double log_density = d / 2.0 * std::log(scale) - (scale - 1) * outer.nodes[m];
      for (int j = 0; j < nodes; ++j) {
        const double product = o[size_t(T - 2) * nodes + j] * o[size_t(T - 1) * nodes + j];
        mean += outer.weights[m] * std::exp(log_density) * rule.weights[j] *
                std::exp(-centre * rule.nodes[j] - centre * centre / 2) * product;
      }
    }
    return mean;
  };
  const double fine = joint(12, false) / joint(12, true), coarse = joint(8, false) / joint(8, true);
  return {fine, std::fabs(fine - coarse) + 64 * epsilon_of(Real::f64) * d * d * fine};
}

Params place(int heads, const std::string &queries, const std::string &quantity) {
  return labels({{"heads", num(heads)}, {"queries", txt(queries)}, {"quantity", txt(quantity)}});
}

std::vector<Point> averaged_noise(const Protocol &protocol) {
  std::vector<Point> points;
  const int memories = protocol.full() ? 20000 : 2500;
  const std::string noise = "E|mean r_h|^2 / E|r_1|^2", signal = "mean signal over a single head's at k_i";
  for (int heads : {2, 8}) {
    const Averaged same = average_heads(heads, 0, false, memories, protocol.seed);
    if (heads == 8)
      points.push_back(at(sampled_point(same.ratio.mean, 1.0 / heads, same.ratio.standard_error, 0.4), "paper",
                          place(heads, "k_i in every head", noise)));
    points.push_back(at(sampled_point(same.ratio.mean, 1, same.ratio.standard_error, 0.4), "corrected",
                        place(heads, "k_i in every head", noise)));
    const double partial = (1 + 1.0 / heads) / 2;
    const Averaged noisy = average_heads(heads, 1, false, memories, protocol.seed);
    points.push_back(at(sampled_point(noisy.ratio.mean, partial, noisy.ratio.standard_error, 0.4 * partial),
                        "corrected", place(heads, "k_i + xi_h", noise)));
    points.push_back(at(sampled_point(noisy.signal.mean, 1, noisy.signal.standard_error, 0.2), "corrected",
                        place(heads, "k_i + xi_h", signal)));
    const Averaged independent = average_heads(heads, 0, true, memories, protocol.seed);
    points.push_back(
        at(sampled_point(independent.ratio.mean, 1.0 / heads, independent.ratio.standard_error, 0.4 / heads),
           "corrected", place(heads, "independent", noise)));
    points.push_back(at(sampled_point(independent.signal.mean, 0, independent.signal.standard_error, 0.2), "corrected",
                        place(heads, "independent", signal)));
  }
  Vector h, shares, error;
  for (int d = 16; d <= 256; d *= 2) {
    const Integral share = exp_correlation(d, protocol.seed);
    const double exact = std::pow((1 - 2.0 / d) / (1 - 4.0 / d), -d / 2.0);
    points.push_back(
        at(integral_point(share, exact, 1e-3), "corrected",
           place(0, "independent, exp kernel", "E[kappa kappa'] / E kappa^2 at d = " + std::to_string(d))));
    h.push_back(1.0 / d), shares.push_back(share.value), error.push_back(share.error);
  }
  points.push_back(
      at(limit_point(h, shares, error, std::exp(-1), 0.01), "corrected",
         place(0, "independent, exp kernel", "E[kappa kappa'] / E kappa^2, extrapolated to d = infinity")));
  return points;
}

} // namespace

std::vector<Claim> multihead() {
  Claim forms = ledger_row("multihead-forms", "000 Eq 19-23", "o = W_O [o_1; ...; o_h] is the sum of per-head blocks.",
                           "Identity. With the linear kernel, sliced keys, one value for all heads and W_O averaging, "
                           "it is the single head over n_h. Control: a block's sign flipped.",
                           [](const Protocol &p) { return projection(p, +1); });
  forms.control = [](const Protocol &p) { return projection(p, -1); };
  return {
      running(forms, {"softmax", "linear"}),
      running(refuted_row("footnote7-mqa-noise", Scope::paper, "000 footnote 7",
                          "In MQA with shared keys and values, averaging n_h heads lowers the noise variance by n_h.",
                          "A query that retrieves k_i is the same in every head, and so is its noise: nothing is "
                          "gained. Queries k_i + sigma xi_h gain (1 + sigma^2/n_h)/(1 + sigma^2); independent "
                          "queries 1/n_h with the linear kernel, but lose the signal, and with the exp kernel only "
                          "down to a share that tends to e^-1. 1/n_h needs independent noise, as from "
                          "keys of each head's own.",
                          averaged_noise),
              {"linear", "exp_unnormalized"}),
  };
}

} // namespace recollect::theory
