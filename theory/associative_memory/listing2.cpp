// SPDX-License-Identifier: Apache-2.0
// The toy model of 000 Listing 2: the sign of its triangular solve, and what its softmax does with masked entries.
#include "harness/core/registry.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/pipeline/conditioning.hpp"
#include "theory/support/claims.hpp"
#include "theory/support/delta_recursion.hpp"

namespace recollect::theory {
namespace {

const Shape shape{1, 1, 32, 8, 5};

Params labelled(const std::string &quantity, int T) {
  Params p;
  return p.set("quantity", quantity).set("T", T);
}

/// solve_triangular(beta A, alpha v, lower, unitriangular): (I + sign beta tril(A, -1)) u = alpha v, by a general
/// inverse.
std::vector<Point> solve_sign(const Protocol &protocol, double sign) {
  Sequence s = random_sequence(shape, protocol.seed);
  const double alpha = 0.7, beta = 0.4;
  s.alpha.assign(shape.T, alpha), s.beta.assign(shape.T, beta);
  const Dense k = head_rows(s.k, shape, 0, shape.Dk), w = head_rows(s.w, shape, 0, shape.Dk),
              q = head_rows(s.q, shape, 0, shape.Dk), v = head_rows(s.v, shape, 0, shape.Dv);
  const Dense A = causal_weights(k, w, linear_kernel, Triangle::strict),
              system = Dense::identity(shape.T) + sign * beta * A;
  const Dense u = inverse(system) * (alpha * v), recursion = substitute(beta * A, alpha * v);
  const double units = 8.0 * shape.T * frobenius_norm(system) * frobenius_norm(inverse(system));
  const Variant &variant = find_variant("delta_former");
  const std::vector<double> reads = forward(variant, s, {"chunked", Real::f64, 8, variant_params(variant)}).o;
  const Dense by_solve = causal_weights(k, q, linear_kernel, Triangle::with_diagonal) * u;
  return {at(exact_point(max_difference(u.data, recursion.data) / max_abs(recursion.data), 0, units, 1e-3), "exact",
             labelled("u of the solve against Eq 41", shape.T)),
          at(exact_point(max_difference(by_solve.data, reads) / max_abs(reads), 0, shape.T * units, 1e-3), "exact",
             labelled("its reads against delta_former", shape.T))};
}

/// Listing 2 fills masked logits with 0, not -inf, before torch.softmax: each adds e^0 to the row's mass.
Dense softmax_of_zero_filled(const Dense &k) {
  Dense A = causal_weights(k, k, exp_kernel, Triangle::strict);
  for (int t = 0; t < A.rows; ++t) {
    double mass = A.rows - t;
    for (int i = 0; i < t; ++i) mass += A(t, i);
    for (int i = 0; i < t; ++i) A(t, i) /= mass;
  }
  return A;
}

double sum_of_row(const Dense &A, int t) {
  double sum = 0;
  for (int i = 0; i < t; ++i) sum += A(t, i);
  return sum;
}

std::vector<Point> softmax_mask(const Protocol &protocol) {
  std::vector<Point> points;
  Sequence s = random_sequence(shape, protocol.seed);
  s.w = s.k, s.alpha.clear(), s.beta.clear();
  const Dense k = head_rows(s.k, shape, 0, shape.Dk);
  const int t = 1; // the second step: weight of the first is 1 by Eq 94
  Dense two(2, shape.Dk, {k.data.begin(), k.data.begin() + 2 * shape.Dk});
  points.push_back(at(exact_point(sum_of_row(softmax_of_zero_filled(two), t), 1, 8, 1e-3), "paper",
                      labelled("row sum at t = 2 with masked logits 0", 2)));
  // Its row depends on the whole length: e^x / (e^x + T - 1) at the second step.
  const double e_x = std::exp((k * transpose(k))(1, 0));
  for (int T : {2, 32}) {
    const Dense head(T, shape.Dk, {k.data.begin(), k.data.begin() + size_t(T) * shape.Dk});
    points.push_back(at(exact_point(sum_of_row(softmax_of_zero_filled(head), t), e_x / (e_x + T - 1), 64, 1e-3),
                        "corrected", labelled("row sum at t = 2: e^x / (e^x + T - 1)", T)));
  }
  const Dense causal = normalise_sums(causal_weights(k, k, exp_kernel, Triangle::strict));
  points.push_back(at(exact_point(sum_of_row(causal, t), 1, 8, 1e-3), "corrected",
                      labelled("row sum at t = 2 with masked logits -inf", 32)));
  const Variant &variant = find_variant("delta_former");
  const Params softmax = variant_params(variant, {{"kappa1", "softmax"}, {"kappa2", "linear"}});
  const Dense v = head_rows(s.v, shape, 0, shape.Dv), q = head_rows(s.q, shape, 0, shape.Dk);
  const Dense reads = causal_weights(k, q, linear_kernel, Triangle::with_diagonal) * substitute(causal, v);
  const double kappa = input_condition(variant, s, softmax, 2);
  points.push_back(
      at(exact_point(max_difference(forward(variant, s, {"recurrent", Real::f64, 1, softmax}).o, reads.data) /
                         max_abs(reads.data),
                     0, accumulated_terms(shape, 1) * kappa, 1e-3),
         "corrected", labelled("delta_former against the -inf mask", 32)));
  return points;
}

} // namespace

std::vector<Claim> listing2() {
  Claim sign = ledger_row(
      "listing2-solve-sign", "000 Listing 2, solve_triangular",
      "solve_triangular(beta A, alpha v, lower, unitriangular) gives u_t = alpha v_t - beta sum_{i<t} A_ti u_i.",
      "It solves (I + beta tril(A, -1)) u = alpha v: the sign agrees with Eq 41, and what is stored on and "
      "above the diagonal is not read.",
      [](const Protocol &p) { return solve_sign(p, 1); });
  sign.variants = {"delta_former"};
  sign.control = [](const Protocol &p) { return solve_sign(p, -1); };

  Claim mask = refuted_row(
      "listing2-softmax-mask", Scope::paper, "000 Listing 2, kernel_1 = 'softmax'",
      "kernel_1 = softmax is the normalisation of Eq 94.",
      "Masked entries hold 0 and not -inf, so each adds e^0 to the mass: rows sum to less than 1 and depend "
      "on the total length. Listing 1 has the causal normaliser.",
      softmax_mask);
  mask.variants = {"delta_former"};
  return {sign, mask};
}

} // namespace recollect::theory
