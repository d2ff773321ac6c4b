// SPDX-License-Identifier: Apache-2.0
// The sequential form of 003's Vignettes 1 and 2: least squares of every prefix by Woodbury updates, weighted or not,
// and what the start of the recursion leaves behind. S [Dv,Dk] is the solution, P [Dk,Dk] the inverse Gram matrix, S
// above P in the state.
#include "harness/numerics/inputs.hpp"
#include "theory/support/one_head.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

const Shape small{1, 1, 12, 4, 3};
const int start_rows = 8;

/// Gram matrix and V^T K of what came before the sequence.
struct Start {
  Dense gram, cross;
};
Start no_data(double ridge) { return {ridge * Dense::identity(small.Dk), Dense(small.Dv, small.Dk)}; }
Start some_data(std::uint64_t seed) {
  const Dense K = gaussian(start_rows, small.Dk, seed, 111), V = gaussian(start_rows, small.Dv, seed, 112);
  return {transpose(K) * K, transpose(V) * K};
}
double condition(const Dense &gram) {
  const std::vector<double> s = singular_values(gram);
  return s.front() / s.back();
}

Sequence gaussian_steps(std::uint64_t seed) { return random_sequence(small, seed, Keys::gaussian); }

/// Hands the recursion S and P of the start.
Sequence starting_at(Sequence s, const Start &start) {
  const Dense P = inverse(start.gram), S = start.cross * P;
  s.state = S.data;
  s.state.insert(s.state.end(), P.data.begin(), P.data.end());
  return s;
}

/// The batch solution of every prefix: pair i weighs the product of the decays after it, the start that of all of them.
Output batch(const Sequence &s, const Start &start, const std::vector<double> &decay) {
  Sequence fresh = s;
  fresh.state.clear();
  return stepped(fresh, [&](const Dense &, const Dense &, const Dense &, int t) {
    Dense gram = start.gram, cross = start.cross;
    double weight = 1;
    for (int j = 0; j <= t; ++j) weight *= decay[j];
    gram = weight * gram, cross = weight * cross;
    for (int i = 0; i <= t; ++i) {
      weight = 1;
      for (int j = i + 1; j <= t; ++j) weight *= decay[j];
      const Dense k = column(s.k, i, small.Dk);
      gram = gram + weight * (k * transpose(k)), cross = cross + weight * (column(s.v, i, small.Dv) * transpose(k));
    }
    return cross * inverse(gram);
  });
}

std::vector<Point> sequential_is_batch(const Protocol &p, bool slip) {
  const Sequence s = gaussian_steps(p.seed);
  const std::vector<double> ones(small.T, 1);
  const Start data = some_data(p.seed), ridge = no_data(0.5);
  Sequence from_data = starting_at(s, data);
  if (slip)
    from_data = starting_at(s, {Dense::identity(small.Dk), data.cross * inverse(data.gram)}); // right S, wrong P
  return {same(batch(s, data, ones), "rls", from_data, {}, "exact",
               labels({{"start", txt("least squares of 8 pairs")}}), condition(data.gram)),
          same(batch(s, slip ? no_data(1) : ridge, ones), "rls", s, {{"ridge", "0.5"}}, "exact",
               labels({{"start", txt("I / delta: the ridge solution")}}), condition(ridge.gram))};
}

std::vector<Point> weighted_is_batch(const Protocol &p, bool slip) {
  const Sequence s = gaussian_steps(p.seed); // alpha in (0.8, 1)
  const std::vector<double> decay = slip ? std::vector<double>(small.T, 1) : s.alpha;
  const Start data = some_data(p.seed), ridge = no_data(0.5);
  // Forgetting shrinks the start's weight: the Gram matrix is at worst 0.8^-T times as badly conditioned.
  const double forgotten = std::pow(0.8, -small.T);
  return {same(batch(s, data, decay), "weighted_rls", starting_at(s, data), {}, "exact",
               labels({{"start", txt("least squares of 8 pairs")}}), condition(data.gram) * forgotten),
          same(batch(s, ridge, decay), "weighted_rls", s, {{"ridge", "0.5"}}, "exact",
               labels({{"start", txt("I / delta, forgotten too")}}), forgotten)};
}

std::vector<Point> printed_update(const Protocol &p) {
  std::vector<Point> points;
  const Dense K = gaussian(small.T, small.Dk, p.seed, 113);
  const auto prefix = [&](int t) { return rows_of(K.data, t, small.Dk); };
  const Dense before = prefix(small.T - 1), last = column(K.data, small.T - 1, small.Dk);
  const Params label = labels({{"t", num(small.T)}});
  // K_{t-1}^T K_t sums over t - 1 columns on the left and t rows on the right.
  points.push_back(at(exact_point(transpose(before).columns, prefix(small.T).rows, 0, 0.5), "paper", label));
  const Dense gram = transpose(K) * K, mended = transpose(before) * before + last * transpose(last);
  points.push_back(at(exact_point(max_difference(mended.data, gram.data), 0, 4.0 * small.T * max_abs(gram.data), 1e-2),
                      "corrected", label));
  return points;
}

std::vector<Point> start_bias(const Protocol &p) {
  std::vector<Point> points;
  for (int t : {3, 20}) { // fewer and more pairs than the five channels
    Sequence s = random_sequence({1, 1, t, 5, 3}, p.seed, Keys::gaussian);
    const Dense K = rows_of(s.k, t, 5), V = rows_of(s.v, t, 3), best = transpose(V) * transpose(pseudo_inverse(K)),
                gram = transpose(K) * K;
    for (double delta : {1.0, 1e-2, 1e-4}) {
      const Dense gap = memory(run("rls", s, {{"ridge", number(delta)}}), s.shape) - best;
      const Dense law = -delta * (best * inverse(gram + delta * Dense::identity(5)));
      const double size = frobenius_norm(law);
      const Params label = labels({{"t", num(t)}, {"delta", num(delta)}});
      if (delta == 1) points.push_back(at(exact_point(frobenius_norm(gap) / size, 0, 64, 0.1), "paper", label));
      // P starts at I / delta and must come down to about 1 / lambda: |K|^2 / delta units over t steps of five
      // channels, and `best` loses the square of K's condition number.
      const std::vector<double> values = singular_values(K);
      const double lost = frobenius_norm(gram) / delta + std::pow(values.front() / values.back(), 2);
      points.push_back(
          at(exact_point(frobenius_norm(gap - law) / size, 0, 5.0 * t * lost * frobenius_norm(best) / size, 0.1),
             "limit", label));
    }
  }
  return points;
}

} // namespace

std::vector<Claim> recursive_least_squares() {
  Claim bias =
      ledger_row("rls-ridge-init-bias", "003 Vignette 1, its start", "RLS from P_0 = I/delta reproduces Eq 11.",
                 "M_delta - M = -delta M (K^T K + delta I)^{-1}, of size delta/lambda_min: least squares for t >= Dk, "
                 "the minimum-norm interpolant for t < Dk, "
                 "as delta -> 0. Equality with ridge regression is exact.",
                 start_bias);
  bias.expected = Verdict::holds_asymptotically;
  bias.variants = {"rls"};
  return {
      refuted_row("rls-eq-typo-ktm1kt", Scope::typo, "003 Vignette 1, efficient computation",
                  "K_t^T K_t = K_{t-1}^T K_t + k_t k_t^T.",
                  "K_{t-1}^T K_{t-1} + k_t k_t^T; the printed product is of t - 1 columns with t rows.",
                  printed_update),
      identity_row("rls-woodbury-equals-batch", "003 Vignette 1",
                   "The sequential form equals least squares at each prefix.",
                   "Identity from a start of full rank; from P_0 = I/delta it equals ridge regression.", {"rls"},
                   sequential_is_batch),
      bias,
      identity_row(
          "weighted-rls-woodbury", "003 Vignette 2", "Geometrically weighted RLS equals the weighted batch solution.",
          "Identity for gamma > 0; the start is forgotten at the same rate.", {"weighted_rls"}, weighted_is_batch),
  };
}

} // namespace recollect::theory
