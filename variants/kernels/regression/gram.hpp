// SPDX-License-Identifier: Apache-2.0
// The matrices that least-squares layers solve with, in float64 on the CPU, and estimates of their condition numbers.
#pragma once
#include "harness/core/variant.hpp"
#include "harness/numerics/element_response.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::variants {

/// The matrices M_t = r_t I + G_t and B_t of every step t. G_t and B_t are the sums over i <= t of beta_i k_i k_i^T and
/// beta_i v_i k_i^T. Unless `weighs`, beta is 1. If `decays`, both sums decay by alpha. The ridge r_t decays by alpha
/// if `ridge_decays`.
struct Gram {
  double ridge;
  bool decays, ridge_decays, weighs = false;

  double alpha(const Sequence &s, size_t step) const { return decays && !s.alpha.empty() ? s.alpha[step] : 1; }
  double beta(const Sequence &s, size_t step) const { return weighs && !s.beta.empty() ? s.beta[step] : 1; }

  /// Calls visit(t, M_t, B_t) for every prefix of a head.
  template <class Visit> void each_prefix(const Sequence &s, size_t head, const Visit &visit) const {
    const Shape &n = s.shape;
    Dense G = (ridge_decays ? ridge : 0) * Dense::identity(n.Dk), B(n.Dv, n.Dk);
    const Dense constant = (ridge_decays ? 0 : ridge) * Dense::identity(n.Dk);
    for (int t = 0; t < n.T; ++t) {
      const size_t step = head * n.T + t;
      const std::vector<double> k = row(s.k, step, n.Dk);
      G = alpha(s, step) * G + beta(s, step) * outer(k, k);
      B = alpha(s, step) * B + beta(s, step) * outer(row(s.v, step, n.Dv), k);
      visit(t, G + constant, B);
    }
  }
  static std::vector<double> row(const std::vector<double> &x, size_t step, int width) {
    return std::vector<double>(x.begin() + step * width, x.begin() + (step + 1) * width);
  }
};

/// Sensitivity of the outputs o_t = B_t M_t^{-1} q_t to relative changes of M_t's elements with random signs: the
/// change of o_t divided by the largest |o|, per relative change. Returns the largest value over heads and steps;
/// infinite if some M_t is singular.
inline double gram_response(const Sequence &s, const Gram &gram) {
  double change = 0, scale = 0;
  for (size_t head = 0; head < s.shape.heads(); ++head)
    gram.each_prefix(s, head, [&](int t, const Dense &M, const Dense &B) {
      const ElementResponse read = element_response(M, B, Gram::row(s.q, head * s.shape.T + t, s.shape.Dk));
      change = std::max(change, read.change), scale = std::max(scale, read.size);
    });
  return change == 0 ? 0 : change / scale;
}

/// Upper bound of the condition numbers of the head's M_t: the largest 1 + trace / ridge over t.
inline double most_condition(const Sequence &s, const Gram &gram, size_t head) {
  double most = 1, ridge = gram.ridge, trace = 0;
  for (int t = 0; t < s.shape.T; ++t) {
    const size_t step = head * s.shape.T + t;
    const double *k = s.k.data() + step * s.shape.Dk;
    if (gram.ridge_decays) ridge *= gram.alpha(s, step);
    trace = gram.alpha(s, step) * trace + gram.beta(s, step) * inner(k, k, s.shape.Dk);
    most = std::max(most, 1 + trace / ridge);
  }
  return most;
}

/// Variant::worst_condition for these matrices, of which only those of steps 0, 1, 3, 7 ... and of the last step are
/// examined.
inline Conditioned gram_condition(const Sequence &s, const Gram &gram, double least) {
  Conditioned worst;
  for (size_t head = 0; head < s.shape.heads(); ++head) {
    if (most_condition(s, gram, head) <= least) continue;
    gram.each_prefix(s, head, [&](int t, const Dense &M, const Dense &) {
      if ((t & (t + 1)) != 0 && t + 1 < s.shape.T) return;
      const std::vector<double> values = symmetric_eigenvalues(M);
      const double number = values.front() > 0 ? values.back() / values.front() : HUGE_VAL;
      if (number > least && number > worst.number) worst = {number, head, t};
    });
  }
  return worst;
}

/// Sets the descriptor fields of a layer that solves with these matrices.
template <class GramOf> void solves_with(Variant &v, const GramOf &gram) {
  v.solved_condition = [gram](const Sequence &s, const Params &p) { return gram_response(s, gram(p)); };
  v.worst_condition = [gram](const Sequence &s, const Params &p, double least) {
    return gram_condition(s, gram(p), least);
  };
}

} // namespace recollect::variants
