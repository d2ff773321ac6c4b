// SPDX-License-Identifier: Apache-2.0
// The effect of one write on the reads (002 §3-5): a layer of the registry starts from a random state S [dv,d].
#pragma once
#include "harness/numerics/inputs.hpp"
#include "theory/support/layer_points.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
/// a x + b y
inline Vector mix(double a, const Vector &x, double b, const Vector &y) {
  Vector sum(x.size());
  for (size_t i = 0; i < x.size(); ++i) sum[i] = a * x[i] + b * y[i];
  return sum;
}
inline Vector scaled(double a, const Vector &x) { return mix(a, x, 0, x); }

struct Write {
  Vector k, v;
  double beta = 1, alpha = 1;
};

/// The layer's state after these writes, one per step, starting from S.
inline Dense after(const std::string &variant, const Dense &S, const std::vector<Write> &writes) {
  Sequence s = of_shape({1, 1, int(writes.size()), S.columns, S.rows});
  s.state = S.data;
  for (const Write &w : writes) {
    s.k.insert(s.k.end(), w.k.begin(), w.k.end());
    s.v.insert(s.v.end(), w.v.begin(), w.v.end());
    s.beta.push_back(w.beta), s.alpha.push_back(w.alpha);
  }
  s.q = s.k;
  return Dense(S.rows, S.columns, forward(find_variant(variant), s).state);
}

/// The delta rule with the sign of its erasure changed: S (I + beta k k^T) + beta v k^T.
inline Write turned(Write w) {
  w.beta = -w.beta, w.v = scaled(-1, w.v);
  return w;
}

/// A random state S, the written key of length `norm`, its value, and another key: a unit vector at the given cosine
/// with the written key.
struct Setting {
  Dense S;
  Vector key, other, value;

  Setting(Seed seed, int d, int dv, double norm = 1, double cosine = 0)
      : S(normal_matrix(dv, d, seed, "002/state")), key(Stream(seed, "002/key").normals(d)),
        other(Stream(seed, "002/other key").normals(d)), value(Stream(seed, "002/value").normals(dv)) {
    normalise_rows(key, S.columns);
    other = mix(1, other, -inner(other, key), key);
    normalise_rows(other, S.columns);
    other = mix(std::sqrt(1 - cosine * cosine), other, cosine, key);
    key = scaled(norm, key);
  }
  Write write(double beta, double alpha = 1) const { return {key, value, beta, alpha}; }
  /// The read at a key after one write.
  Vector read(const std::string &variant, const Write &w, const Vector &at) const {
    return times(after(variant, S, {w}), at);
  }
  Vector old_value() const { return times(S, key); }
  Vector residual() const { return mix(1, value, -1, old_value()); }

  /// Bound on the rounding error of a read after a few writes of strength beta, in units of eps: sums over the widths
  /// of S, times the sizes of S and the value.
  double units(double beta = 1) const {
    const double kk = inner(key, key);
    return 8.0 * S.columns * (1 + std::fabs(beta) * kk) * (spectral_norm(S) + std::sqrt(inner(value, value))) *
           std::max(1.0, std::sqrt(kk));
  }
};

/// The parameters of a claim: the widths and, as far as the claim needs them, beta, norm, cosine and alpha.
inline std::vector<ParamSpec> write_params(const std::vector<ParamSpec> &more = {}) {
  std::vector<ParamSpec> all{integer_param("d", 8, 2, 256, "key width"), integer_param("dv", 4, 1, 256, "value width")};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}
inline ParamSpec beta_param(double own = 0.3) { return real_param("beta", own, 1e-3, 4, "write strength"); }
inline ParamSpec norm_param(double own) { return real_param("norm", own, 1e-2, 4, "length of the key written"); }
inline ParamSpec cosine_param(double own) {
  return real_param("cosine", own, -0.99, 0.99, "$k_new . k_old$, both of length 1");
}
} // namespace recollect::theory
