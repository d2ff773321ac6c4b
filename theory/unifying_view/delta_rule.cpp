// SPDX-License-Identifier: Apache-2.0
// 002 §3-5: what one write does to the reads, layer by layer, from a random state S [Dv,Dk] of the variants themselves.
#include "harness/core/registry.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/support/claims.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

constexpr int Dk = 8, Dv = 5;

struct Write {
  std::vector<double> k, v;
  double beta = 1, alpha = 1;
};

/// The state after the writes, one step each, from S.
Dense after(const std::string &variant, const Dense &S, const std::vector<Write> &writes) {
  Sequence s;
  s.shape = {1, 1, int(writes.size()), S.columns, S.rows};
  s.state = S.data;
  for (const Write &w : writes) {
    s.k.insert(s.k.end(), w.k.begin(), w.k.end());
    s.v.insert(s.v.end(), w.v.begin(), w.v.end());
    s.beta.push_back(w.beta), s.alpha.push_back(w.alpha);
  }
  s.q = s.k;
  return Dense(S.rows, S.columns, forward(find_variant(variant), s).state);
}

std::vector<double> read(const Dense &S, const std::vector<double> &k) { return (S * Dense(S.columns, 1, k)).data; }

/// a x + b y + c z
std::vector<double> mix(double a, const std::vector<double> &x, double b, const std::vector<double> &y, double c = 0,
                        const std::vector<double> &z = {}) {
  std::vector<double> sum(x.size());
  for (size_t i = 0; i < x.size(); ++i) sum[i] = a * x[i] + b * y[i] + (z.empty() ? 0 : c * z[i]);
  return sum;
}

double product(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Random state, unit keys and a value; `other` has the given cosine with `key`.
struct Setting {
  Dense S;
  std::vector<double> key, other, value;
};

Setting setting(std::uint64_t seed, double cosine = 0) {
  Setting x{Dense(Dv, Dk, Stream(seed, 91).normals(Dv * Dk)), Stream(seed, 92).normals(Dk),
            Stream(seed, 93).normals(Dk), Stream(seed, 94).normals(Dv)};
  normalise_rows(x.key, Dk);
  x.other = mix(1, x.other, -product(x.other, x.key), x.key);
  normalise_rows(x.other, Dk);
  x.other = mix(std::sqrt(1 - cosine * cosine), x.other, cosine, x.key);
  return x;
}

std::vector<double> scaled(std::vector<double> x, double factor) {
  for (double &value : x) value *= factor;
  return x;
}

/// Largest difference over the size of what is compared; a read of width Dk loses a few Dk units.
Point same(const std::vector<double> &measured, const std::vector<double> &predicted, double scale, const Params &p,
           const std::string &tier = "exact") {
  return at(exact_point(max_difference(measured, predicted) / scale, 0, 8 * Dk, 1e-3), tier, p);
}

double size_of(const Setting &x) { return spectral_norm(x.S) + std::sqrt(product(x.value, x.value)); }

std::vector<Point> gradient(const Protocol &protocol, double sign) {
  const Setting x = setting(protocol.seed);
  const double beta = 0.6;
  const auto loss = [&](const Dense &S) {
    const std::vector<double> residual = mix(1, x.value, -1, read(S, x.key));
    return 0.5 * product(residual, residual);
  };
  const Dense claimed = -sign * outer(mix(1, x.value, -1, read(x.S, x.key)), x.key);
  Dense difference(Dv, Dk);
  const double h = 1e-3; // the loss is quadratic: central differences have no error but rounding, eps loss / h
  for (int i = 0; i < Dv; ++i)
    for (int j = 0; j < Dk; ++j) {
      Dense up = x.S, down = x.S;
      up(i, j) += h, down(i, j) -= h;
      difference(i, j) = (loss(up) - loss(down)) / (2 * h);
    }
  const Dense step = x.S - beta * claimed;
  const Dense product_form = x.S * (Dense::identity(Dk) - beta * outer(x.key, x.key)) + beta * outer(x.value, x.key);
  const double units = 64 * (loss(x.S) + 1) / h;
  return {at(exact_point(max_difference(difference.data, claimed.data), 0, units, 1e-3), "exact",
             labels({{"quantity", txt("-(v - S k) k^T against finite differences")}})),
          same(step.data, product_form.data, size_of(x),
               labels({{"quantity", txt("one step against S (I - beta k k^T) + beta v k^T")}})),
          same(step.data, after("delta_net", x.S, {{x.key, x.value, beta, 1}}).data, size_of(x),
               labels({{"quantity", txt("one step against delta_net")}}))};
}

/// `variant` is delta_net, or the control: linear attention, which does not erase.
std::vector<Point> overwrite(const Protocol &protocol, const std::string &variant) {
  std::vector<Point> points;
  for (double beta : {0.3, 1.0, 1.5})
    for (double norm : {1.0, 0.7}) {
      const Setting x = setting(protocol.seed);
      const std::vector<double> k = scaled(x.key, norm), old = read(x.S, k);
      const double step = beta * norm * norm;
      points.push_back(same(read(after(variant, x.S, {{k, x.value, beta, 1}}), k), mix(1 - step, old, step, x.value),
                            size_of(x), labels({{"beta", num(beta)}, {"norm", num(norm)}})));
    }
  return points;
}

std::vector<Point> orthogonal(const Protocol &protocol, double cosine) {
  std::vector<Point> points;
  for (double beta : {0.3, 1.0, 1.7})
    for (double norm : {1.0, 2.0}) {
      const Setting x = setting(protocol.seed, cosine);
      points.push_back(same(read(after("delta_net", x.S, {{scaled(x.key, norm), x.value, beta, 1}}), x.other),
                            read(x.S, x.other), 4 * size_of(x),
                            labels({{"beta", num(beta)}, {"norm", num(norm)}, {"cosine", num(cosine)}})));
    }
  return points;
}

/// The factor on S is read off a write of v = 0 to S = I.
std::vector<Point> shrink(const Protocol &protocol) {
  std::vector<Point> points;
  for (double beta : {0.3, 1.0, 1.5}) {
    const Setting x = setting(protocol.seed);
    const Dense factor = after("delta_net", Dense::identity(Dk), {{x.key, std::vector<double>(Dk, 0.0), beta, 1}});
    const std::vector<double> spectrum = symmetric_eigenvalues(factor);
    const Params p = labels({{"beta", num(beta)}});
    points.push_back(at(exact_point(spectrum.front(), 1 - beta, 8 * Dk, 1e-3), "exact",
                        Params(p).set("quantity", "eigenvalue along k")));
    points.push_back(
        at(exact_point(spectrum[1], 1, 8 * Dk, 1e-3), "exact", Params(p).set("quantity", "smallest of the others")));
    points.push_back(
        at(exact_point(spectrum.back(), 1, 8 * Dk, 1e-3), "exact", Params(p).set("quantity", "largest of the others")));
    points.push_back(
        same(read(factor, x.key), scaled(x.key, 1 - beta), 1, Params(p).set("quantity", "the key itself")));
    points.push_back(same(read(factor, x.other), x.other, 1, Params(p).set("quantity", "an orthogonal key")));
  }
  return points;
}

/// 002 §4 and, with alpha, §5: the read at an old key after a new one. `sign` = -1 is the control.
std::vector<Point> old_key(const Protocol &protocol, bool gated, double sign) {
  std::vector<Point> points;
  for (double cosine : {0.0, 0.4, 0.9})
    for (double alpha : {0.8, 1.0}) {
      if ((!gated && alpha < 1) || (sign < 0 && cosine == 0)) continue;
      const double beta = 0.6;
      const Setting x = setting(protocol.seed, cosine);
      const Dense S = after(gated ? "gated_delta_net" : "delta_net", x.S, {{x.key, x.value, beta, alpha}});
      const Params p = labels({{"cosine", num(cosine)}, {"alpha", num(alpha)}, {"beta", num(beta)}});
      points.push_back(
          same(read(S, x.other),
               mix(alpha, read(x.S, x.other), -sign * alpha * beta * cosine, read(x.S, x.key), beta * cosine, x.value),
               size_of(x), Params(p).set("read", "old key")));
      if (gated && sign > 0)
        points.push_back(same(read(S, x.key), mix(alpha * (1 - beta), read(x.S, x.key), beta, x.value), size_of(x),
                              Params(p).set("read", "new key")));
    }
  return points;
}

std::vector<Point> write_twice(const Protocol &protocol) {
  std::vector<Point> points;
  for (double step : {1.0, 0.5, 1.5, 2.0, 2.5}) { // beta |k|^2
    const Setting x = setting(protocol.seed);
    const Write w{scaled(x.key, std::sqrt(2.0)), x.value, step / 2, 1};
    const Dense once = after("delta_net", x.S, {w}), twice = after("delta_net", x.S, {w, w});
    points.push_back(at(exact_point(frobenius_norm(twice - once) / frobenius_norm(once - x.S), std::fabs(1 - step),
                                    64 * Dk * size_of(x) / frobenius_norm(once - x.S), 1e-3),
                        "exact", labels({{"beta_k2", num(step)}, {"quantity", txt("second write over the first")}})));
  }
  return points;
}

/// Two writes of one pair to an empty state, read at the key, over v; `variant` delta_net is the control.
std::vector<Point> linear_doubles(const Protocol &protocol, const std::string &variant) {
  std::vector<Point> points;
  for (double norm : {1.0, 1.5}) {
    const Setting x = setting(protocol.seed);
    const std::vector<double> k = scaled(x.key, norm);
    points.push_back(same(read(after(variant, Dense(Dv, Dk), {{k, x.value}, {k, x.value}}), k),
                          scaled(x.value, 2 * norm * norm), size_of(x), labels({{"norm", num(norm)}})));
  }
  return points;
}

/// Amplitude of v after `writes` writes of one pair under the decay alpha.
double amplitude(const Setting &x, double alpha, int writes) {
  const std::vector<Write> all(writes, Write{x.key, x.value, 1, alpha});
  return product(read(after("gated_linear", Dense(Dv, Dk), all), x.key), x.value) / product(x.value, x.value);
}

std::vector<Point> mamba2_doubles(const Protocol &protocol) {
  std::vector<Point> points;
  const Setting x = setting(protocol.seed);
  points.push_back(at(exact_point(amplitude(x, 0.9, 2), 2, 8 * Dk, 1e-3), "paper",
                      labels({{"alpha", num(0.9)}, {"writes", num(2)}})));
  for (double alpha : {0.5, 0.9, 1.0})
    points.push_back(at(exact_point(amplitude(x, alpha, 2), 1 + alpha, 8 * Dk, 1e-3), "corrected",
                        labels({{"alpha", num(alpha)}, {"writes", num(2)}})));
  for (double alpha : {0.5, 0.9}) // 1000 writes: alpha^1000 is below 1e-45
    points.push_back(at(exact_point(amplitude(x, alpha, 1000), 1 / (1 - alpha), 8 * Dk / std::pow(1 - alpha, 2), 1e-3),
                        "corrected", labels({{"alpha", num(alpha)}, {"writes", num(1000)}})));
  return points;
}

/// Orthonormal keys: the read at k_j is v_j times the decays after step j. The control drops one of them.
std::vector<Point> unrolled(const Protocol &protocol, int first_decay) {
  std::vector<Point> points;
  const Stream draw(protocol.seed, 95);
  std::vector<Write> writes;
  for (int t = 0; t < Dk; ++t) {
    Write w{std::vector<double>(Dk, 0.0), std::vector<double>(1, draw.normal(t)), 1, 0.5 + 0.5 * draw.uniform(100 + t)};
    w.k[t] = 1;
    writes.push_back(w);
  }
  const Dense S = after("gated_linear", Dense(1, Dk), writes);
  for (int j = 0; j + 1 < Dk; ++j) {
    double weight = 1;
    for (int l = j + first_decay; l < Dk; ++l) weight *= writes[l].alpha;
    points.push_back(at(exact_point(S(0, j) / writes[j].v[0], weight, 4 * Dk, 1e-3), "exact",
                        labels({{"j", num(j + 1)}, {"t", num(Dk)}})));
  }
  return points;
}

} // namespace

std::vector<Claim> delta_rule() {
  const auto with = [](Claim c, std::vector<std::string> variants,
                       std::function<std::vector<Point>(const Protocol &)> control = nullptr) {
    c.variants = std::move(variants), c.control = std::move(control);
    return c;
  };
  return {
      with(ledger_row("blog-delta-gradient", "002 §4",
                      "The gradient of |v - S k|^2 / 2 is -(v - S k) k^T; one step of size beta is S (I - beta k k^T) "
                      "+ beta v k^T.",
                      "Identity.", [](const Protocol &p) { return gradient(p, 1); }),
           {"delta_net"}, [](const Protocol &p) { return gradient(p, -1); }),
      with(ledger_row("blog-overwrite", "002 §4", "With |k| = 1, S_t k_t = (1 - beta) v_old + beta v_t.",
                      "In general (1 - beta |k|^2) v_old + beta |k|^2 v_t.",
                      [](const Protocol &p) { return overwrite(p, "delta_net"); }),
           {"delta_net"}, [](const Protocol &p) { return overwrite(p, "linear"); }),
      with(ledger_row("blog-orthogonal-untouched", "002 §4", "A key orthogonal to k_t reads as before.",
                      "For every beta and |k|.", [](const Protocol &p) { return orthogonal(p, 0); }),
           {"delta_net"}, [](const Protocol &p) { return orthogonal(p, 0.3); }),
      with(ledger_row(
               "blog-shrink", "002 §4", "I - beta k k^T shrinks the component along k by 1 - beta and leaves the rest.",
               "Eigenvalues 1 - beta |k|^2, once, and 1; for beta in (1, 2) the component changes sign.", shrink),
           {"delta_net"}),
      with(ledger_row("blog-kold-readout", "002 §4", "S_t k_old = S k_old - beta (S k_new) cos + beta v cos.",
                      "Identity with cos := k_new . k_old; no unit norm is needed.",
                      [](const Protocol &p) { return old_key(p, false, 1); }),
           {"delta_net"}, [](const Protocol &p) { return old_key(p, false, -1); }),
      with(ledger_row("blog-gated-kold", "002 §5", "S_t k_old = alpha S k_old - alpha beta (S k_new) cos + beta v cos.",
                      "Identity; at k_new it is alpha (1 - beta) v_old + beta v, and an orthogonal key is scaled by "
                      "alpha, no longer untouched.",
                      [](const Protocol &p) { return old_key(p, true, 1); }),
           {"gated_delta_net"}, [](const Protocol &p) { return old_key(p, true, -1); }),
      with(ledger_row("blog-write-twice", "002 §4", "Writing the same pair twice is a near no-op in DeltaNet.",
                      "The second write is |1 - beta |k|^2| of the first: nothing exactly at beta |k|^2 = 1, half at "
                      "0.5, as large at 2, growing beyond.",
                      write_twice),
           {"delta_net"}),
      with(ledger_row("blog-linear-doubles", "002 §3-4",
                      "In linear attention the second write doubles the stored value.", "The read is 2 |k|^2 v.",
                      [](const Protocol &p) { return linear_doubles(p, "linear"); }),
           {"linear"}, [](const Protocol &p) { return linear_doubles(p, "delta_net"); }),
      with(refuted_row("blog-mamba2-doubles", Scope::boundary, "002 §5, Mamba2",
                       "Seeing (k, v) twice still doubles the value.",
                       "It adds up to 1 + alpha times the value, twice only at alpha = 1; for ever repeated, to 1 / (1 "
                       "- alpha).",
                       mamba2_doubles),
           {"gated_linear"}),
      with(ledger_row("blog-mamba2-unrolled", "002 §5",
                      "A write at step j contributes with weight alpha_{j+1} ... alpha_t.",
                      "Identity; exponential decay only while alpha stays below some bound < 1.",
                      [](const Protocol &p) { return unrolled(p, 1); }),
           {"gated_linear"}, [](const Protocol &p) { return unrolled(p, 2); })};
}

} // namespace recollect::theory
