// SPDX-License-Identifier: Apache-2.0
// 002 §2: softmax attention under a causal mask, the factoring of a kernel into a state, and the table of A_t and b_t.
#include "harness/core/registry.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/pipeline/conditioning.hpp"
#include "theory/support/claims.hpp"
#include "theory/support/delta_recursion.hpp"
#include <algorithm>

namespace recollect::theory {
namespace {

const Shape shape{1, 1, 40, 8, 5};

double relative(const std::vector<double> &a, const std::vector<double> &b) {
  return max_difference(a, b) / max_abs(b);
}

/// softmax(q k^T * M) V with M = 1 on and below the diagonal, 0 above: masked logits become 0 and keep the weight e^0.
Dense multiplied_mask(const Dense &q, const Dense &k, const Dense &v) {
  Dense weights = q * transpose(k);
  for (int t = 0; t < weights.rows; ++t)
    for (int i = 0; i < weights.columns; ++i) weights(t, i) = std::exp(i <= t ? weights(t, i) : 0);
  return normalise_sums(weights) * v;
}

Dense added_mask(const Dense &q, const Dense &k, const Dense &v) {
  return normalise_sums(causal_weights(k, q, exp_kernel, Triangle::with_diagonal)) * v;
}

std::vector<Point> mask(const Protocol &protocol) {
  const Dense one(2, 1, {1, 1}), v(2, 1, {1, 2}); // o_1 must be v_1 = 1
  std::vector<Point> points{at(exact_point(multiplied_mask(one, one, v)(0, 0), 1, 8, 1e-3), "paper",
                               labels({{"mask", txt("multiplied")}, {"T", num(2)}})),
                            at(exact_point(added_mask(one, one, v)(0, 0), 1, 8, 1e-3), "corrected",
                               labels({{"mask", txt("added")}, {"T", num(2)}}))};
  const Sequence s = random_sequence(shape, protocol.seed);
  const Variant &softmax = find_variant("softmax");
  const Params params = variant_params(softmax, {{"scale", "1"}});
  const Dense o = added_mask(head_rows(s.q, shape, 0, shape.Dk), head_rows(s.k, shape, 0, shape.Dk),
                             head_rows(s.v, shape, 0, shape.Dv));
  const double units = accumulated_terms(shape, 1) * input_condition(softmax, s, params, 2);
  points.push_back(
      at(exact_point(relative(o.data, forward(softmax, s, {"recurrent", Real::f64, 1, params}).o), 0, units, 1e-3),
         "corrected", labels({{"mask", txt("added, against softmax")}, {"T", num(shape.T)}})));
  return points;
}

/// elu(x) + 1 of every number.
std::vector<double> elu_plus_one(std::vector<double> x) {
  for (double &value : x) value = value > 0 ? value + 1 : std::exp(value);
  return x;
}

/// Numerator and denominator of Eq "S phi / (z . phi)" by the variant `linear`, z as the state row of a value that
/// is 1.
struct Factored {
  std::vector<double> numerator, denominator; // [T,Dv], [T]
};

Factored factored(const std::vector<double> &q, const std::vector<double> &k, const std::vector<double> &v) {
  Sequence s;
  s.shape = {1, 1, shape.T, shape.Dk, shape.Dv + 1};
  s.q = q, s.k = k;
  for (int t = 0; t < shape.T; ++t) {
    s.v.insert(s.v.end(), v.begin() + t * shape.Dv, v.begin() + (t + 1) * shape.Dv);
    s.v.push_back(1);
  }
  const std::vector<double> o = forward(find_variant("linear"), s, {"chunked", Real::f64, 16, {}}).o;
  Factored f;
  for (int t = 0; t < shape.T; ++t) {
    f.numerator.insert(f.numerator.end(), o.begin() + t * s.shape.Dv, o.begin() + t * s.shape.Dv + shape.Dv);
    f.denominator.push_back(o[t * s.shape.Dv + shape.Dv]);
  }
  return f;
}

std::vector<Point> factoring(const Protocol &protocol, bool divide) {
  const Sequence s = random_sequence(shape, protocol.seed, Keys::gaussian);
  const std::vector<double> q = elu_plus_one(s.q), k = elu_plus_one(s.k);
  Factored f = factored(q, k, s.v);
  if (divide)
    for (size_t i = 0; i < f.numerator.size(); ++i) f.numerator[i] /= f.denominator[i / shape.Dv];
  const Dense weights = normalise_sums(causal_weights(
      head_rows(k, shape, 0, shape.Dk), head_rows(q, shape, 0, shape.Dk), linear_kernel, Triangle::with_diagonal));
  const Dense o =
      weights * head_rows(s.v, shape, 0, shape.Dv); // a convex average: T + Dk terms, no cancellation in weights
  const double units = 4 * accumulated_terms(shape, 1) * max_abs(s.v) / max_abs(o.data);
  std::vector<Point> points{
      at(exact_point(relative(f.numerator, o.data), 0, units, 1e-3), "exact",
         labels({{"phi", txt("elu + 1")}, {"quantity", txt("S phi / (z . phi) against the sum")}}))};
  if (!divide) return points;
  const double lowest = *std::min_element(f.denominator.begin(), f.denominator.end());
  points.push_back(at(bounded_point(lowest, Point::at_least, 0, 0, 0.01), "exact",
                      labels({{"phi", txt("elu + 1")}, {"quantity", txt("smallest z . phi")}})));
  const Factored identity = factored(s.q, s.k, s.v);
  const double sign = *std::min_element(identity.denominator.begin(), identity.denominator.end());
  points.push_back(at(bounded_point(sign, Point::at_most, 0, 0, 0.01), "boundary",
                      labels({{"phi", txt("identity")}, {"quantity", txt("smallest z . phi: it changes sign")}})));
  return points;
}

/// Eigenvalues of a Gram matrix that stand clear of rounding, which is m eps of the largest.
int numerical_rank(const Dense &gram) {
  const std::vector<double> values = symmetric_eigenvalues(gram);
  int rank = 0;
  for (double value : values) rank += value > 10 * gram.rows * epsilon_of(Real::f64) * values.back();
  return rank;
}

/// m points on a circle of radius 2 in the plane.
std::vector<double> circle(int m) {
  std::vector<double> x;
  for (int i = 0; i < m; ++i) {
    const double angle = 2 * M_PI * i / m;
    x.push_back(2 * std::cos(angle)), x.push_back(2 * std::sin(angle));
  }
  return x;
}

std::vector<Point> infinite_features(const Protocol &) {
  std::vector<Point> points;
  const auto label = [](const std::string &kernel, int m) {
    return labels({{"kernel", txt(kernel)}, {"points", num(m)}, {"d", num(2)}, {"quantity", txt("rank of the Gram")}});
  };
  for (int m : {4, 8, 16, 96}) {
    const Dense x(m, 2, circle(m)), phi(m, 2, elu_plus_one(circle(m)));
    Dense gram = x * transpose(x);
    for (double &value : gram.data) value = std::exp(value);
    if (m < 96)
      points.push_back(at(exact_point(numerical_rank(gram), m, 0, 1), "exact", label("exp", m)));
    else // rounding hides the rest: the eigenvalues fall faster than any power
      points.push_back(
          at(bounded_point(numerical_rank(gram), Point::at_most, m - 1, 0, 1), "boundary", label("exp", m)));
    points.push_back(at(exact_point(numerical_rank(phi * transpose(phi)), 2, 0, 1), "exact", label("elu + 1", m)));
  }
  return points;
}

/// S_t = S_{t-1} A_t + b_t k_t^T, A_t and b_t as the table lists them, against a variant: reads and final state.
std::vector<Point> table_rows(const Protocol &protocol, double erase_sign) {
  std::vector<Point> points;
  for (const std::string name : {"linear", "gated_linear", "delta_net", "gated_delta_net"}) {
    const bool erases = name == "delta_net" || name == "gated_delta_net",
               decays = name == "gated_linear" || name == "gated_delta_net";
    Sequence s = random_sequence(shape, protocol.seed);
    s.lambda.clear();
    if (erase_sign < 0 && !erases) continue;
    Dense S(shape.Dv, shape.Dk), O(shape.T, shape.Dv);
    for (int t = 0; t < shape.T; ++t) {
      const auto row = [t](const std::vector<double> &x, int width) {
        return std::vector<double>(x.begin() + t * width, x.begin() + (t + 1) * width);
      };
      const std::vector<double> k = row(s.k, shape.Dk);
      Dense A = Dense::identity(shape.Dk);
      if (erases) A = A - erase_sign * s.beta[t] * outer(k, k);
      if (decays) A = s.alpha[t] * A;
      std::vector<double> b = row(s.v, shape.Dv);
      for (double &x : b) x *= erases ? s.beta[t] : 1;
      S = S * A + outer(b, k);
      const Dense o = S * Dense(shape.Dk, 1, row(s.q, shape.Dk));
      std::copy(o.data.begin(), o.data.end(), O.data.begin() + t * shape.Dv);
    }
    const Variant &variant = find_variant(name);
    const Params params = variant_params(variant);
    const Deviation apart = deviation({O.data, S.data, {}}, forward(variant, s, {"chunked", Real::f64, 16, params}));
    const double units = accumulated_terms(shape, 16) * input_condition(variant, s, params, 2);
    points.push_back(at(exact_point(apart.largest(), 0, units, 1e-3), "exact", labels({{"variant", txt(name)}})));
  }
  return points;
}

} // namespace

std::vector<Claim> attention_forms() {
  Claim mask_claim = refuted_row(
      "blog-mask", Scope::typo, "002 §2, first display", "O = softmax(Q K^T (.) M) V is the causal sum.",
      "softmax(Q K^T + M) with M = 0 on and below the diagonal and -inf above; a mask that is multiplied leaves "
      "weight e^0 on future tokens.",
      mask);
  mask_claim.variants = {"softmax"};
  Claim factor =
      ledger_row("blog-kernel-factoring", "002 §2; 000 Eq 3, 8-9",
                 "sum_j phi(q).phi(k_j) v_j / sum_l phi(q).phi(k_l) = S_t phi(q) / (z_t . phi(q)).",
                 "Identity; with phi = elu + 1 the denominator is positive, with phi = identity it changes sign.",
                 [](const Protocol &p) { return factoring(p, true); });
  factor.control = [](const Protocol &p) { return factoring(p, false); };
  factor.variants = {"linear"};
  Claim infinite = ledger_row(
      "blog-exp-infinite", "002 §2", "The feature map of the exp kernel is infinite-dimensional.",
      "Its Gram matrix has rank m for any m distinct points, that of elu + 1 at most d. In float64 rounding hides "
      "the smallest eigenvalues from some m on.",
      infinite_features);
  Claim table = ledger_row("blog-table-forms", "002 Fig 1, table",
                           "The listed layers are S_t = S_{t-1} A_t + b_t k_t^T with the listed A_t and b_t.",
                           "Identity, for linear attention (on features), Mamba2, DeltaNet and Gated DeltaNet.",
                           [](const Protocol &p) { return table_rows(p, 1); });
  table.control = [](const Protocol &p) { return table_rows(p, -1); };
  table.variants = {"linear", "gated_linear", "delta_net", "gated_delta_net"};
  return {mask_claim, factor, infinite, table};
}

} // namespace recollect::theory
