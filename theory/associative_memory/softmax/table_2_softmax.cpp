// SPDX-License-Identifier: Apache-2.0
// 000 Table 2, softmax attention with and without its normaliser; Eq 11-12, 77-80. Softmax attention keeps no S. Its
// reads are compared at every step with the reads S_t phi(q_t) of a memory that descends the printed objective, where
// phi are the features of the exp kernel. The features are cut off at the order that float64 can resolve.
#include "theory/associative_memory/objectives/quadratic.hpp"
#include "theory/support/features.hpp"

namespace recollect::theory {
namespace {
constexpr int d = 2, dv = 2; // unit keys and queries in the plane have similarities between 1/e and e
constexpr int order = 18; // highest order of the features; higher orders add less than e / 19! = 2e-17 to a similarity

Sequence plane_sequence(int T, std::uint64_t seed) {
  Sequence s = random_sequence({1, 1, T, d, dv}, seed, Keys::unit);
  normalise_rows(s.q, d);
  return s;
}
Vector reads(const std::string &variant, const Sequence &s) { return run(variant, s, {{"scale", "1"}}).o; }

/// L_t(S) from recall = <S phi(k_t), v_t>.
using ObjectiveOfStep = double (*)(const Dense &S, double recall, int t);
double half_square(const Dense &S) { return inner(S.data, S.data) / 2; }
double unnormalised(const Dense &, double recall, int) { return -recall; }
double normalised(const Dense &S, double recall, int t) { return (half_square(S) - recall) / t; }

/// S_t phi(q_t) at every t, for the memory that descends L_t. If not `constant`, the first feature of the keys is 0.
Vector descended_reads(const Sequence &s, ObjectiveOfStep L, bool constant = true) {
  Vector all;
  Dense S;
  for (int t = 1; t <= s.shape.T; ++t) {
    const auto row = [&](const Vector &array) { return steps_of(array, s.shape, t - 1, t); };
    Vector phi = exp_features(row(s.k), order);
    if (!constant) phi[0] = 0;
    if (t == 1) S = Dense(dv, int(phi.size()));
    S = gradient_step(S, [&](const Dense &M) { return L(M, inner(times(M, phi), row(s.v)), t); });
    const Vector read = times(S, exp_features(row(s.q), order));
    all.insert(all.end(), read.begin(), read.end());
  }
  return all;
}

/// Bound on the rounding error, in units of eps. It is the sum over T gradients of an objective with one product for
/// each feature and value channel; a product is at most (|S| + 1)^2 + (|S| + 1)|phi||v|. A read multiplies the error by
/// |phi(q)|, and |phi|^2 = e for unit vectors.
double units(const Sequence &s) {
  const double phi = std::exp(0.5), features = (order + 1) * (order + 2) / 2.0,
               values = frobenius_norm(Dense(s.shape.T, dv, s.v)), S = values * phi + 1;
  return 8.0 * s.shape.T * features * dv * (S * S + S * phi * values) * phi;
}

Claim softmax_without_norm() {
  ClaimBuilder c("table2-softmax-nonorm", "000 Table 2, Eq 11-12");
  c.says("Softmax attention without its normaliser, $A = B = I$ and $C = v_t phi(k_t)^T$ with $phi$ of Eq 11, is one "
         "gradient step on $-<S phi(k_t), v_t>$.");
  c.exactly("An identity.");
  c.runs({"exp_unnormalized", "softmax"}), c.takes({steps_param(12, 2, 40)});
  return measure(c, [](Points &points, Seed seed, int T) {
    const Sequence s = plane_sequence(T, seed);
    const Vector expected = descended_reads(s, unnormalised);
    const auto rival_sign = [](const Dense &, double recall, int) { return recall; };
    points.rounding(units(s))
        .statement("reads without the normaliser at every step, against $S_t phi(q_t)$", reads("exp_unnormalized", s),
                   expected)
        .but_not("features without their constant", descended_reads(s, unnormalised, false))
        .but_not("$+<S phi, v>$ in place of $-<S phi, v>$", descended_reads(s, rival_sign));
    points.wrong_system("softmax with its normaliser", reads("softmax", s), expected);
  });
}

Claim softmax_with_norm() {
  ClaimBuilder c("table2-softmax-norm", "000 Table 2, Eq 77-80; footnote: t sufficiently large");
  c.says("For large $t$ softmax attention, $A = (t-1)/t I$, $B = I$, $C = v_t phi(k_t)^T / t$, is one gradient step on "
         "$-1/t <S phi(k_t), v_t> + 1/(2t) ||S||_F^2$, read as $S_t phi(q_t) / c(q_t)$.");
  c.exactly("An identity for every $t$, where $c_t(q) = Z_t(q)/t$ is the normaliser divided by its number of terms.");
  c.because("Only the limit in which $c_t(q)$ is independent of $t$ needs a large $t$ (softmax_lln). The step itself "
            "is exact at every $t$.");
  c.runs({"softmax", "exp_unnormalized"}), c.takes({steps_param(12, 2, 40)});
  return measure(c, [](Points &points, Seed seed, int T) {
    const Sequence s = plane_sequence(T, seed);
    const Vector Z = reads("exp_unnormalized", filled(s, &Sequence::v, 1));
    Vector measured = reads("softmax", s), summed = measured;
    for (size_t i = 0; i < measured.size(); ++i) summed[i] *= Z[i], measured[i] = summed[i] / (i / dv + 1);
    const Vector expected = descended_reads(s, normalised);
    const auto rival_identity = [](const Dense &, double recall, int t) { return -recall / t; };
    const auto rival_square = [](const Dense &S, double recall, int t) { return (2 * half_square(S) - recall) / t; };
    const auto rival_share = [](const Dense &S, double recall, int t) { return normalised(S, recall, t + 1); };
    points.rounding(units(s))
        .statement("softmax reads times $c_t(q) = Z_t(q)/t$ at every step, against $S_t phi(q_t)$", measured, expected)
        .but_not("$A = I$, with which nothing shrinks", descended_reads(s, rival_identity))
        .but_not("$||S||^2$ without its $1/2$", descended_reads(s, rival_square))
        .but_not("$1/(t+1)$ in place of $1/t$", descended_reads(s, rival_share));
    points.wrong_system("softmax reads times $Z_t(q)$, which are not normalised", summed, expected);
  });
}
} // namespace

std::vector<Claim> table_2_softmax() { return {softmax_without_norm(), softmax_with_norm()}; }
} // namespace recollect::theory
