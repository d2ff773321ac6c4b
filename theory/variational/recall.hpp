// SPDX-License-Identifier: Apache-2.0
// Recall without training: n pairs are written once, then every key is read, and each read is decoded to the nearest
// value.
#pragma once
#include "theory/variational/vla_steps.hpp"

namespace recollect::theory {
/// Independent memories: unit keys and unit values [count,n,d].
struct Memories {
  int count, n, d;
  Vector keys, values;
  Dense K(int m) const { return part(keys, m); }
  Dense V(int m) const { return part(values, m); }

private:
  Dense part(const Vector &rows, int m) const { return {n, d, row(rows, m, n * d)}; }
};
enum class KeyKind { unit, features, orthonormal };
inline Memories make_memories(KeyKind kind, int count, int n, int d, Seed seed) {
  Memories x{count, n, d, Stream(seed, "recall/keys", n).normals(size_t(count) * n * d),
             random_units(count * n, d, Stream(seed, "recall/values", n))};
  if (kind == KeyKind::features)
    for (double &k : x.keys) k = elu1(k);
  if (kind == KeyKind::orthonormal)
    for (int m = 0; m < count; ++m) {
      const Dense K = x.K(m), rows = inverse(cholesky(K * transpose(K))) * K;
      std::copy(rows.data.begin(), rows.data.end(), &x.keys[size_t(m) * n * d]);
    }
  normalise_rows(x.keys, d);
  return x;
}

enum class Rule { additive, delta, ridge, variational };
struct Reader {
  const char *name, *variant;
  Rule rule;
  double parameter = 1; // beta of the rule `delta`, weight of the ridge, or |u| of VLA
  bool random_u = false;
};
const double lambda0_of_recall = 0.1, ridge_of_recall = 0.01;
inline const Reader linear_reader{"linear attention", "linear", Rule::additive},
    delta_reader{"DeltaNet with $beta = 1$", "delta_net", Rule::delta},
    gated_reader{"Eq 4 with $beta = 0.9$", "scalar_gated_delta", Rule::delta, 0.9},
    vla_reader{"VLA, unit $u = k$", "vla", Rule::variational}, rls_reader{"RLS", "rls", Rule::ridge, ridge_of_recall};
/// short_u_reader is VLA with the |u| of Algorithm 1; random_u_reader is VLA with u independent of the key.
inline Reader short_u_reader(int d) {
  return {"VLA, $u = k / sqrt d$", "vla", Rule::variational, 1 / std::sqrt(double(d))};
}
inline const Reader random_u_reader{"VLA, random unit u", "vla", Rule::variational, 1, true};

inline Vector penalties_of(const Memories &x, const Reader &r, Seed seed) {
  return scaled(r.parameter,
                r.random_u ? random_units(x.count * x.n, x.d, Stream(seed, "recall/penalties", x.n)) : x.keys);
}

/// S k_i at the end of the layer's pass, [count,n,d].
inline Vector layer_reads(const Memories &x, const Reader &r, Seed seed) {
  const double beta = r.rule == Rule::delta ? r.parameter : 1;
  Sequence s = stored({x.count, 1, x.n, x.d, x.d}, x.keys, x.values, beta);
  Assignments settings;
  if (r.rule == Rule::ridge) settings = {{"ridge", number(r.parameter)}};
  if (r.rule == Rule::variational) {
    settings = {{"phi", "identity"}, {"refresh", "0"}, {"u_norm", "0"}, {"lambda0", number(lambda0_of_recall)}};
    s.w = penalties_of(x, r, seed);
  }
  const Output out = run(r.variant, s, settings);
  Vector reads;
  for (int m = 0; m < x.count; ++m) {
    const Vector own = row(out.state, m, int(out.state_shape.size()));
    append_row(reads, (x.K(m) * transpose(rows_of(own, x.d, x.d))).data);
  }
  return reads;
}

/// The reads of layer_reads(), computed by dense algebra.
inline Vector algebra_reads(const Memories &x, const Reader &r, Seed seed) {
  Vector reads;
  const Vector penalties = r.rule == Rule::variational ? penalties_of(x, r, seed) : Vector();
  for (int m = 0; m < x.count; ++m) {
    const Dense K = x.K(m), V = x.V(m), G = K * transpose(K);
    Dense written = V; // row i: u_i of S = sum_i u_i k_i^T
    if (r.rule == Rule::ridge)
      written = inverse(G + r.parameter * Dense::identity(x.n)) * V;
    else if (r.rule == Rule::delta) {
      for (int t = 0; t < x.n; ++t)
        for (int i = t - 1, age = 0; i >= 0; --i, ++age)
          for (int c = 0; c < x.d; ++c) written(t, c) -= std::pow(r.parameter, age) * G(t, i) * written(i, c);
      for (int i = 0; i < x.n; ++i)
        for (int c = 0; c < x.d; ++c) written(i, c) *= std::pow(r.parameter, x.n - 1 - i);
    } else if (r.rule == Rule::variational) {
      VlaAlgebra run(x.d, x.d, lambda0_of_recall);
      for (int t = 0; t < x.n; ++t)
        run.step(row(K.data, t, x.d), row(penalties, m * x.n + t, x.d), row(V.data, t, x.d));
      append_row(reads, (K * transpose(run.S)).data);
      continue;
    }
    append_row(reads, (G * written).data);
  }
  return reads;
}
inline double recall_units(const Memories &x, const Reader &r) {
  const double lambda = r.rule == Rule::ridge ? r.parameter : lambda0_of_recall;
  return 4 * step_units(x.n, x.d, lambda, std::max(1.0, r.parameter * r.parameter));
}

/// The accuracy over the first `asked` pairs of every memory (0: all pairs). A pair is recalled if its read has a
/// larger inner product with its own unit value than with any other value.
inline double accuracy(const Vector &reads, const Memories &x, int asked = 0) {
  if (asked == 0) asked = x.n;
  int right = 0;
  for (int m = 0; m < x.count; ++m) {
    const Dense V = x.V(m);
    for (int i = 0; i < asked; ++i) {
      const Vector scores = times(V, row(reads, m * x.n + i, x.d));
      right += std::max_element(scores.begin(), scores.end()) - scores.begin() == i;
    }
  }
  return double(right) / (x.count * asked);
}

/// The accuracy of a layer's reads, and the points that compare the reads and the accuracy with dense algebra.
struct Recalled {
  double accuracy = 0;
  std::vector<Point> points;
};
inline Recalled recalled(const Memories &x, const Reader &r, const Params &at, Seed seed) {
  const Vector reads = layer_reads(x, r, seed), predicted = algebra_reads(x, r, seed);
  const double found = accuracy(reads, x);
  return {found,
          {as_obligation(exact_point(found, accuracy(predicted, x), 4), at, std::string(r.name) + ": accuracy"),
           as_obligation(exact_point(reads, predicted, recall_units(x, r)), at, std::string(r.name) + ": reads")}};
}
} // namespace recollect::theory
