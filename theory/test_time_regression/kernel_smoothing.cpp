// SPDX-License-Identifier: Apache-2.0
// Local polynomial regression in 003's Vignette 4: softmax attention as a locally constant fit, what query-key
// normalisation has to do with it, and the locally linear fit of Eq 52-54. Weights are s_i = exp(-|k_i - q|^2 / (2 sqrt
// Dk)) unless said otherwise.
#include "harness/numerics/inputs.hpp"
#include "theory/support/one_head.hpp"
#include <cmath>
#include <numeric>

namespace recollect::theory {
namespace {

const Shape small{1, 1, 20, 4, 3};

double square(const Dense &m) { return std::pow(frobenius_norm(m), 2); }
double near(const Dense &k, const Dense &q) { return std::exp(-square(k - q) / (2 * std::sqrt(double(k.rows)))); }

/// s_1 ... s_t for the query of step t.
using Weights = std::vector<double>;
Weights weights_at(const Sequence &s, int t) {
  Weights w;
  for (int i = 0; i <= t; ++i) w.push_back(near(column(s.k, i, s.shape.Dk), column(s.q, t, s.shape.Dk)));
  return w;
}

Dense weighted_mean(const Dense &rows, const Weights &w) {
  Dense mean(rows.columns, 1);
  const double sum = std::accumulate(w.begin(), w.end(), 0.0);
  for (size_t i = 0; i < w.size(); ++i)
    for (int c = 0; c < rows.columns; ++c) mean.data[c] += w[i] / sum * rows(int(i), c);
  return mean;
}

/// Nadaraya-Watson reads of a whole sequence, each weight times extra(k_i).
template <class Extra> Output smoothed(const Sequence &s, Extra extra) {
  Output out;
  for (int t = 0; t < s.shape.T; ++t) {
    Weights w = weights_at(s, t);
    for (int i = 0; i <= t; ++i) w[i] *= extra(column(s.k, i, s.shape.Dk));
    const Dense read = weighted_mean(rows_of(s.v, t + 1, s.shape.Dv), w);
    out.o.insert(out.o.end(), read.data.begin(), read.data.end());
  }
  return out;
}
Output smoothed(const Sequence &s) {
  return smoothed(s, [](const Dense &) { return 1.0; });
}

Sequence with_lengths(Sequence s, double query, const std::vector<double> &key) {
  for (size_t i = 0; i < s.k.size(); ++i) s.q[i] *= query, s.k[i] *= key[i / s.shape.Dk % key.size()];
  return s;
}

std::vector<Point> constant_fit(const Protocol &p, bool slip) {
  const Sequence s = random_sequence(small, p.seed);
  Output minimisers;
  for (int t = 0; t < small.T; ++t) {
    const Weights w = slip ? Weights(t + 1, 1) : weights_at(s, t);
    for (int c = 0; c < small.Dv; ++c) {
      // The loss is a parabola in each channel of M: its minimum follows from three values.
      const auto loss = [&](double m) {
        double sum = 0;
        for (int i = 0; i <= t; ++i) sum += w[i] * std::pow(s.v[i * small.Dv + c] - m, 2) / 2;
        return sum;
      };
      minimisers.o.push_back((loss(-1) - loss(1)) / 2 / (loss(1) + loss(-1) - 2 * loss(0)));
    }
  }
  // Losses of up to |v|^2 a pair are subtracted to find a curvature of one weight a pair.
  return {same(minimisers, "softmax_qknorm", s, {}, "exact", labels({{"slip", num(slip)}}),
               16 * std::pow(1 + max_abs(s.v), 2))};
}

std::vector<Point> gaussian_is_exponential(const Protocol &p, bool slip) {
  std::vector<Point> points;
  const Sequence raw = with_lengths(random_sequence(small, p.seed), 3, {0.5, 2, 4});
  Sequence unit = raw;
  if (!slip) normalise_rows(unit.q, small.Dk), normalise_rows(unit.k, small.Dk);
  points.push_back(same(smoothed(unit), "softmax_qknorm", raw, {}, "exact",
                        labels({{"quantity", txt("layer against Nadaraya-Watson")}})));
  for (int D : {4, 16, 64}) {
    const Sequence s = random_sequence({1, 1, 8, D, 1}, p.seed);
    double worst = 0;
    for (int i = 0; i < 8; ++i) {
      const Dense k = column(s.k, i, D), q = (slip ? 2.0 : 1.0) * column(s.q, i, D);
      const double dot = (transpose(k) * q).data[0];
      worst = std::max(
          worst, std::fabs(near(k, q) / std::exp(dot / std::sqrt(double(D))) * std::exp(1 / std::sqrt(double(D))) - 1));
    }
    points.push_back(at(exact_point(worst, 0, 64 + 8 * D, 1e-2), "ratio e^(-1/sqrt D)", labels({{"D", num(D)}})));
  }
  return points;
}

std::vector<Point> what_must_be_normalised(const Protocol &p) {
  const Sequence base = random_sequence(small, p.seed);
  const Sequence raw_queries = with_lengths(base, 3, {2}), raw_keys = with_lengths(base, 1, {0.5, 2, 4});
  const auto apart = [](const Sequence &s) { return deviation({run("softmax", s).o, {}, {}}, smoothed(s)).outputs; };
  const auto label = [](const char *what) { return labels({{"case", txt(what)}}); };
  return {at(bounded_point(apart(raw_queries), Point::at_least, 0.02, 0, 0.01), "paper",
             label("keys of one length 2, queries of length 3: not a local fit")),
          same(smoothed(raw_queries), "softmax", raw_queries, {}, "corrected",
               label("keys of one length 2, queries of length 3")),
          at(bounded_point(apart(raw_keys), Point::at_least, 0.02, 0, 0.01), "corrected",
             label("unequal keys: not the plain local fit")),
          same(smoothed(raw_keys, [](const Dense &k) { return std::exp(square(k) / (2 * std::sqrt(double(k.rows)))); }),
               "softmax", raw_keys, {}, "corrected",
               label("unequal keys: a local fit with weights exp(|k|^2 / (2 sqrt D)) more"))};
}

/// Eq 52-53 at one query: X has rows (1, k_i - q).
struct LocalData {
  Dense X, V;
  Weights w;
  LocalData(const Sequence &s, int t)
      : X(t + 1, s.shape.Dk + 1), V(rows_of(s.v, t + 1, s.shape.Dv)), w(weights_at(s, t)) {
    for (int i = 0; i <= t; ++i) {
      X(i, 0) = 1;
      for (int c = 0; c < s.shape.Dk; ++c) X(i, 1 + c) = s.k[i * s.shape.Dk + c] - s.q[t * s.shape.Dk + c];
    }
  }
  Dense scaled(Dense m, double power) const {
    for (int i = 0; i < m.rows; ++i)
      for (int c = 0; c < m.columns; ++c) m(i, c) *= std::pow(w[i], power);
    return m;
  }
  Dense gram() const { return transpose(X) * scaled(X, 1); }
  Dense cross() const { return transpose(V) * scaled(X, 1); }
  Dense eq52() const { return cross() * inverse(gram()); } // [Dv, 1 + Dk] = [M0 M1]
  Dense shortest() const { return transpose(pseudo_inverse(scaled(X, 0.5)) * scaled(V, 0.5)); }
  Dense penalised(double slopes, double constant) const {
    Dense G = gram();
    for (int c = 0; c < G.rows; ++c) G(c, c) += c ? slopes : constant;
    return cross() * inverse(G);
  }
  /// |M0 - (vbar - M1 dbar)|, which Eq 54 says is nothing.
  double eq54_gap(const Dense &M) const {
    const Dense mean = weighted_mean(V, w), centre = weighted_mean(X, w);
    double gap = 0;
    for (int i = 0; i < M.rows; ++i) {
      double read = mean.data[i];
      for (int c = 1; c < M.columns; ++c) read -= M(i, c) * centre.data[c];
      gap = std::max(gap, std::fabs(M(i, 0) - read));
    }
    return gap;
  }
  /// Solving the normal equations loses the square of the scaled design's condition number.
  double units(const Dense &M) const {
    const std::vector<double> values = singular_values(scaled(X, 0.5));
    double least = values.front();
    for (double s : values)
      if (s > 1e-9 * values.front()) least = s;
    return 16.0 * X.rows * X.columns * std::pow(values.front() / least, 2) * (1 + frobenius_norm(M)) *
           (1 + max_abs(X.data));
  }
};

/// The layer on every prefix: Eq 52 with a ridge of 0.01 on the slopes, so that the first prefixes have an answer.
Point layer_reads(const Sequence &s, bool slip) {
  Output reads;
  double lost = 1;
  for (int t = 0; t < s.shape.T; ++t) {
    LocalData x(s, t);
    if (slip) x.w.assign(t + 1, 1);
    const Dense M = x.penalised(0.01, 0);
    for (int i = 0; i < M.rows; ++i) reads.o.push_back(M(i, 0));
    Dense G = x.gram();
    for (int c = 1; c < G.rows; ++c) G(c, c) += 0.01;
    const std::vector<double> values = symmetric_eigenvalues(G);
    lost = std::max(lost, values.back() / values.front());
  }
  return same(reads, "local_linear", s, {{"ridge", "0.01"}}, "the layer", labels({{"ridge", num(0.01)}}), lost);
}

std::vector<Point> linear_fit(const Protocol &p, bool slip) {
  std::vector<Point> points;
  const Sequence s = random_sequence(small, p.seed, Keys::gaussian);
  points.push_back(layer_reads(s, slip));
  for (int t : {small.Dk + 3, small.T - 1}) {
    const LocalData x(s, t);
    LocalData used = x;
    if (slip) used.w.assign(t + 1, 1);
    const Dense M = used.eq52();
    const Params label = labels({{"t", num(t + 1)}});
    points.push_back(
        at(exact_point(max_difference(M.data, x.shortest().data), 0, x.units(M), 1e-3), "Eq 52 minimises", label));
    points.push_back(at(exact_point(x.eq54_gap(M), 0, x.units(M), 1e-3), "Eq 54", label));
  }
  return points;
}

std::vector<Point> affine_maps(const Protocol &p, bool slip) {
  std::vector<Point> points;
  Sequence s = random_sequence(small, p.seed);
  const Dense B = gaussian(small.Dv, small.Dk, p.seed, 131), c = gaussian(small.Dv, 1, p.seed, 132);
  for (int i = 0; i < small.T; ++i) {
    Dense v = B * column(s.k, i, small.Dk) + c;
    if (slip)
      v = v + 0.5 * (v + transpose(Dense(1, small.Dv,
                                         {v.data[0] * v.data[0], v.data[1] * v.data[1],
                                          v.data[2] * v.data[2]}))); // no longer affine
    std::copy(v.data.begin(), v.data.end(), s.v.begin() + i * small.Dv);
  }
  const std::vector<double> means = run("softmax_qknorm", s).o;
  for (int t : {small.Dk + 3, small.T - 1}) {
    const LocalData x(s, t);
    const Dense M = x.eq52(), right = B * column(s.q, t, small.Dk) + c, centre = weighted_mean(x.X, x.w);
    Dense M1(small.Dv, small.Dk), dbar(small.Dk, 1), M0(small.Dv, 1);
    for (int j = 0; j < small.Dk; ++j) {
      dbar.data[j] = centre.data[1 + j];
      for (int i = 0; i < small.Dv; ++i) M1(i, j) = M(i, 1 + j), M0.data[i] = M(i, 0);
    }
    const Params label = labels({{"t", num(t + 1)}});
    points.push_back(at(exact_point(max_difference(M0.data, right.data), 0, x.units(M), 1e-3), "M0 = B q + c", label));
    points.push_back(at(exact_point(max_difference(M1.data, B.data), 0, x.units(M), 1e-3), "M1 = B", label));
    const Dense read = column(means, t, small.Dv);
    points.push_back(at(exact_point(max_difference((read - right).data, (B * dbar).data), 0, x.units(M), 1e-3),
                        "p = 0 errs by B dbar", label));
  }
  return points;
}

std::vector<Point> too_few_pairs(const Protocol &p) {
  std::vector<Point> points;
  const Shape shape{1, 1, 24, 6, 3};
  const Sequence s = random_sequence(shape, p.seed, Keys::gaussian);
  int singular = 0;
  for (int t = 0; t < shape.T; ++t) {
    const std::vector<double> values = symmetric_eigenvalues(LocalData(s, t).gram());
    const double ratio = values.front() / values.back();
    singular += ratio < 1e-12;
    if (t == 0 || t == shape.Dk - 1)
      points.push_back(at(bounded_point(ratio, Point::at_least, 1e-12, 0, 1e-12), "paper",
                          labels({{"t", num(t + 1)}, {"Dk", num(6)}})));
  }
  points.push_back(at(exact_point(singular, shape.Dk, 0, 0.5), "corrected",
                      labels({{"quantity", txt("prefixes without an inverse")}, {"Dk", num(6)}})));
  const LocalData few(s, 3);
  const Dense shortest = few.shortest(), slopes = few.penalised(0.1, 0), all = few.penalised(0.1, 0.5);
  points.push_back(at(exact_point(few.eq54_gap(shortest), 0, few.units(shortest), 1e-3), "corrected",
                      labels({{"quantity", txt("Eq 54 by pseudo-inverse")}})));
  points.push_back(at(exact_point(few.eq54_gap(slopes), 0, few.units(slopes), 1e-3), "corrected",
                      labels({{"quantity", txt("Eq 54 with a ridge on the slopes")}})));
  points.push_back(at(bounded_point(few.eq54_gap(all), Point::at_least, 1e-5, 0, 5e-6), "corrected",
                      labels({{"quantity", txt("Eq 54 fails with a penalised constant")}})));
  return points;
}

} // namespace

std::vector<Claim> kernel_smoothing() {
  Claim necessity = refuted_row(
      "qknorm-necessity", Scope::paper, "003 abstract, §1, Eq 51",
      "Query-key normalisation is mathematically necessary for softmax attention to be a local constant regressor.",
      "Only |k_i| = const is needed: the query's norm cancels in the normaliser. Unequal keys give the same regressor "
      "with weights exp(|k|^2 / (2 sqrt D)) more. "
      "Unit norms for both are sufficient.",
      what_must_be_normalised);
  necessity.variants = {"softmax"};
  return {
      identity_row("nadaraya-watson-eq50", "003 Eq 50", "The weighted constant fit is the normalised weighted mean.",
                   "Identity; M0 lies in R^Dv (the paper writes R^Dk).", {"softmax_qknorm"}, constant_fit),
      identity_row("qknorm-eq51", "003 Eq 51",
                   "For unit q and k exp(-|k-q|^2/(2 sqrt D)) is proportional to exp(k.q/sqrt D), and softmax "
                   "attention is Nadaraya-Watson.",
                   "The factor is exp(-1/sqrt D).", {"softmax_qknorm"}, gaussian_is_exponential),
      necessity,
      identity_row("local-linear-eq52-54", "003 Eq 52-54", "[M0 M1] = (V^T W X)(X^T W X)^{-1} and M0 = vbar - M1 dbar.",
                   "Needs positive weights on Dk + 1 affinely independent keys.", {"local_linear"}, linear_fit),
      identity_row("local-linear-affine-exact", "003 §4, p = 1",
                   "The local linear fit reproduces affine maps; the local constant one does not.",
                   "M0 = B q + c and M1 = B; the constant fit errs by B dbar.", {"softmax_qknorm"}, affine_maps),
      refuted_row("local-linear-underdetermined", Scope::boundary, "003 Eq 52 for t < Dk + 1",
                  "Eq 52 can be used on every prefix.",
                  "The first Dk prefixes have no inverse (a quarter of Fig 2). Eq 54 holds for any solution of the "
                  "normal equations, with a ridge on the slopes too, "
                  "but not with a penalised constant.",
                  too_few_pairs),
  };
}

} // namespace recollect::theory
