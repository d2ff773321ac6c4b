// SPDX-License-Identifier: Apache-2.0
// 004 Proposition 3 and §4.3: after one pass, which associations can be read back exactly, and how many a d x d state
// holds.
#include "harness/core/error.hpp"
#include "theory/support/sampling.hpp"
#include "theory/variational/associations.hpp"

namespace recollect::theory {
namespace {

constexpr int dv = 3;
const ParamSpec start = real_param("lambda0", 0.1, 1e-4, 10, "penalty at the start");

Vector values_of(const Pairs &x) { return transpose(x.V).data; }
Vector reads(const Dense &S, const Pairs &x) { return (S * transpose(x.K)).data; }
Vector vla_reads(const Pairs &x, const Dense &U, double lambda0) { return reads(written(x, U, lambda0).S, x); }

// ---- The proposition -----------------------------------------------------------------------------------------------------

const std::vector<ParamSpec> few{integer_param("n", 6, 2, 64, "keys, at most d"), integer_param("d", 8, 2, 64, "width"),
                                 start};

std::vector<Point> recovery(const Protocol &p) {
  const Params at = point_of(p, few);
  const int n = at.integer("n"), d = at.integer("d");
  if (n > d) usage_error("n <= d, for linearly independent keys");
  const double lambda0 = at.real("lambda0");
  const Pairs x = unit_pairs(n, d, dv, p.seed, "proposition 3");
  const Dense other = unit_pairs(n, d, dv, p.seed, "proposition 3, other directions").K;
  const double units = pair_units(x, lambda0);
  // The pair just written is missed by (1 - c) e, c = a.k and e the residual before the write.
  Vla memory(d, dv, lambda0);
  Vector measured, missed, written_part;
  for (int t = 0; t < n; ++t) {
    const Vector k = x.k(t), e = combine(1, x.v(t), -1, times(memory.S, k));
    memory.step(k, row(other.data, t, d), x.v(t));
    const double c = inner(memory.a, k);
    append_row(measured, times(memory.S, k));
    append_row(missed, combine(1, x.v(t), c - 1, e)), append_row(written_part, combine(1, x.v(t), -c, e));
  }
  const double condition = singular_values(x.K).front() / singular_values(x.K).back();
  const auto recursion_recalls = [&](double penalty) { // ridge r misses a value by r |v| / (least singular value)^2
    return exact_point(reads(least_squares_state(x, penalty), x), values_of(x),
                       1e-9 / epsilon_of(Real::f64) * max_abs(x.V.data) * n * condition * condition);
  };
  return {as_statement(exact_point(vla_reads(x, x.K, lambda0), values_of(x), units), at, "u = k: S_n k_i = v_i"),
          as_statement(exact_point(vla_reads(x, other, lambda0), values_of(x), units), at, "random u: S_n k_i = v_i"),
          as_obligation(exact_point(measured, missed, units), at, "S_t k_t = v_t - (1 - c_t) e_t"),
          rival_law(exact_point(measured, written_part, units), at, "S_t k_t = v_t - c_t e_t"),
          as_obligation(recursion_recalls(1e-9), at, "recursive least squares with penalty 1e-9: S_n k_i = v_i"),
          rival_system(recursion_recalls(1), at, "recursive least squares with penalty 1")};
}

Claim vla_prop3_exact_recovery() {
  return at_parameters(
      running(
          explained(
              refuted_row(
                  "vla-prop3-exact-recovery",
                  asserted(
                      "Proposition 3: 'Let the keys be linearly independent with $n <= d_h$. After processing all $n$ "
                      "pairs, $S_n k_i = v_i$ for all $i$.'",
                      "linearly independent unit keys, $n <= d_h$",
                      "§6.4 builds on it; the note to Table 9, an appendix later, quotes it 'for orthogonal keys'.",
                      "Table 9's note has the case that we rely on: orthogonal keys with $u$ along $k$ are recovered "
                      "exactly, and trained keys are close to it. For independent keys the least-squares objective has "
                      "the property in the limit of a small penalty; the recursion of Eq 10 only approaches it."),
                  "004 Proposition 3, §4.3",
                  "For $n <= d$ linearly independent unit keys $S_n k_i = v_i$ for every $i$ after one pass.",
                  "$S_t k_t = v_t - (1 - c_t) e_t$ with $c_t = a_t.k_t$: even the last pair is missed unless "
                  "$a_t = k_t$.",
                  recovery),
              "The note to Table 9 restricts the guarantee to orthogonal keys (row vla-prop3-orthogonal-keys). "
              "Classical least squares does recover independent keys as its penalty vanishes; the unit length of "
              "the write direction is what breaks it."),
          {"vla", "rls"}),
      few);
}

// ---- Orthogonal keys -----------------------------------------------------------------------------------------------------

const std::vector<ParamSpec> orthogonal{integer_param("n", 24, 2, 64, "orthonormal keys, at most d"),
                                        integer_param("d", 32, 2, 64, "width"), start};

std::vector<Point> orthogonal_keys(const Protocol &p) {
  const Params at = point_of(p, orthogonal);
  const int n = at.integer("n"), d = at.integer("d");
  if (n > d) usage_error("at most d keys are orthonormal");
  const double lambda0 = at.real("lambda0");
  const Pairs x = orthonormal_pairs(n, d, dv, p.seed, "orthogonal keys");
  Pairs leaning = x; // cosine 0.01 with the key before
  for (int i = 1; i < n; ++i)
    for (int c = 0; c < d; ++c) leaning.K(i, c) = std::sqrt(1 - 1e-4) * x.K(i, c) + 0.01 * leaning.K(i - 1, c);
  Pairs unit_leaning = leaning;
  normalise_rows(unit_leaning.K.data, d);
  Dense parallel = x.K; // of any length
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < d; ++c) parallel(i, c) *= 0.3 + i;
  const Dense learned = unit_pairs(n, d, dv, p.seed, "orthogonal keys, learned directions").K;
  const double units = step_units(n, d, lambda0, (n + 0.3) * (n + 0.3)) * (1 + max_abs(x.V.data));
  const auto recalls = [&](const Pairs &x, const Dense &U) {
    return exact_point(vla_reads(x, U, lambda0), values_of(x), units);
  };
  return {as_statement(recalls(x, learned), at, "generic u"), as_condition(recalls(x, x.K), at, "u = k"),
          as_condition(recalls(x, parallel), at, "u parallel to k, of lengths 0.3 + i"),
          as_condition(recalls(x, Dense(n, d)), at, "u = 0: A a multiple of I"),
          rival_system(recalls(unit_leaning, unit_leaning.K), at, "keys of cosine 0.01 with the one before, u = k")};
}

Claim vla_prop3_orthogonal_keys() {
  return at_parameters(
      running(
          explained(
              under("u_t is parallel to k_t, or A_t a multiple of I",
                    ledger_row("vla-prop3-orthogonal-keys", "004 Table 9, note",
                               "For orthogonal keys and $n <= d$ exact recovery is guaranteed.",
                               "Exact where $u_t$ is parallel to $k_t$, of any length, or $A$ is a multiple of $I$: "
                               "then $a_t = k_t$. With a generic learned $u$ it is not.",
                               orthogonal_keys)),
              "Owed to the authors: their note restricts Proposition 3 to orthogonal keys. It needs the penalty "
              "direction along the key too, which a learned $W_u$ does not give by itself."),
          {"vla"}),
      orthogonal);
}

// ---- The smallest counter-example ----------------------------------------------------------------------------------------

const std::vector<ParamSpec> penalties{start};

/// What S_2 reads at k_2 for k_1 = e1, k_2 = (e1 + e2) / sqrt 2, v = 1 and u = k: a_2 ~ (lambda0, 1 + lambda0).
double second_read(double lambda0) {
  const double c = (1 + 2 * lambda0) / std::sqrt(2 * (lambda0 * lambda0 + (1 + lambda0) * (1 + lambda0)));
  return std::sqrt(0.5) + (1 - std::sqrt(0.5)) * c;
}

std::vector<Point> smallest_counter_example(const Protocol &p) {
  std::vector<Point> points;
  const double root = std::sqrt(0.5);
  for (const Params &at : points_of(
           p, {labels({{"lambda0", num(0.1)}}), labels({{"lambda0", num(0.01)}}), labels({{"lambda0", num(1e-4)}})})) {
    const double lambda0 = at.real("lambda0"), units = step_units(2, 2, lambda0);
    Vla memory(2, 1, lambda0);
    memory.step({1, 0}, {1, 0}, {1});
    memory.step({root, root}, {root, root}, {1});
    const double read = times(memory.S, {root, root})[0], first = times(memory.S, {1, 0})[0],
                 first_law =
                     1 + (1 - root) * lambda0 / std::hypot(lambda0, 1 + lambda0); // a_2 ~ (lambda0, 1 + lambda0)
    Vla fixed(2, 1, lambda0); // A = I / lambda0 throughout: the delta rule, which keeps the last pair
    fixed.step({1, 0}, {0, 0}, {1});
    fixed.step({root, root}, {0, 0}, {1});
    append(points,
           {as_statement(exact_point(read, 1, units), at, "S_2 k_2 = v_2"),
            as_obligation(exact_point(read, second_read(lambda0), units), at, "S_2 k_2"),
            as_obligation(exact_point(first, first_law, units), at, "S_2 k_1"),
            rival_law(exact_point(first, 1, units), at, "the first pair recovered"),
            rival_system(exact_point(times(fixed.S, {root, root})[0], second_read(lambda0), units), at, "A_t fixed"),
            rival_law(exact_point(read, root, units), at, "the first write's read 1/sqrt 2"),
            rival_law(exact_point(read, (2 - root) * root, units), at, "the limit (2 - 1/sqrt 2)/sqrt 2")});
  }
  return points;
}

Claim vla_prop3_min_counterexample() {
  return at_parameters(
      running(explained(
                  refuted_row("vla-prop3-min-counterexample",
                              asserted("Proposition 3, its smallest case: $d = 2$, $n = 2$.",
                                       "linearly independent unit keys, $n <= d_h$", "As for vla_prop3_exact_recovery.",
                                       "Two keys at 45 degrees are far from orthogonal; the note to Table 9 "
                                       "restricts the guarantee to orthogonal keys, and there it holds."),
                              "004 Proposition 3", "$S_2 k_2 = v_2$ for two linearly independent unit keys.",
                              "$k_1 = e1$, $k_2 = (e1 + e2)/sqrt$ 2, $v = 1$, $u = k$: .932 at $lambda0 = .1$ and "
                              "($2 - 1/sqrt$ 2)/$sqrt$ $2 = .914$ as $lambda0 -> 0$.",
                              smallest_counter_example),
                  "The smallest case: $d = 2$, $n = 2$. Neither pair is recovered: at $lambda0 = .1$ the first reads "
                  "1.027, the second .932."),
              {"vla"}),
      penalties);
}

// ---- Classical least squares ---------------------------------------------------------------------------------------------

std::vector<Point> least_squares_law(const Protocol &p) {
  const std::vector<double> own =
      p.point ? std::vector<double>{p.point->real("lambda0")} : std::vector<double>{0.1, 0.01};
  const Params sizes = point_of(p, few);
  const int n = sizes.integer("n"), d = sizes.integer("d");
  if (n > d) usage_error("n <= d, for linearly independent keys");
  const Pairs x = unit_pairs(n, d, dv, p.seed, "least squares law");
  const Dense gram = x.K * transpose(x.K), VT = transpose(x.V);
  std::vector<Point> points;
  for (double lambda0 : own) {
    Params at = sizes;
    at.set("lambda0", lambda0);
    const double units = pair_units(x, lambda0);
    const Vector measured = reads(least_squares_state(x, lambda0), x);
    const auto law = [&](const Dense &missed) { return exact_point(measured, (VT - missed).data, units); };
    append(points,
           {as_statement(exact_point(measured, VT.data, units), at, "S K = V"),
            as_limit(law(lambda0 * VT * inverse(gram + lambda0 * Dense::identity(n))), at,
                     "V - lambda0 V (K^T K + lambda0 I)^{-1}"),
            rival_law(law(lambda0 * VT * inverse(gram)), at, "first order, V - lambda0 V (K^T K)^{-1}"),
            rival_law(law(lambda0 * lambda0 * VT * inverse(gram + lambda0 * Dense::identity(n))), at, "lambda0^2")});
  }
  return points;
}

Claim rls_exact_recovery_law() {
  return at_parameters(
      running(explained(asymptotic(
                            ledger_row("rls-exact-recovery-law", "004 Proposition 3, read for classical RLS",
                                       "Recursive least squares recovers linearly independent keys exactly.",
                                       "$V - S K = lambda0 V (K^T K + lambda0 I)^{-1}$ with columns of pairs: exact as "
                                       "$lambda0 -> 0$, the miss being of first order in $lambda0 / sigma_min^2$.",
                                       least_squares_law)),
                        "What the proposition says holds for the recursion that it generalises, in this limit."),
              {"rls"}),
      few);
}

// ---- Capacity ------------------------------------------------------------------------------------------------------------

const std::vector<ParamSpec> crowd{integer_param("n", 48, 2, 512, "random pairs, more than d"),
                                   integer_param("d", 32, 2, 128, "width")};

/// Share of |V|^2 that the least-squares memory of n random pairs leaves, in each of `count` draws from number `first` on.
Vector shares_left(int n, int d, std::uint64_t seed, size_t first, size_t count) {
  const int values = 64; // channels are independent draws for the same keys
  const Variant &rls = find_variant("rls");
  Sequence s;
  s.shape = {int(count), 1, n, d, values};
  for (size_t i = first; i < first + count; ++i) {
    append_row(s.k, Stream(seed, "capacity/keys", i).normals(size_t(n) * d));
    append_row(s.v, Stream(seed, "capacity/values", i).normals(size_t(n) * values));
  }
  s.q = s.k;
  const Output out = forward(rls, s, {"chunked", Real::f64, 64, variant_params(rls, {{"ridge", "1e-8"}})});
  const size_t size = out.state.size() / count;
  Vector shares;
  for (size_t i = 0; i < count; ++i) {
    const Dense K(n, d, row(s.k, int(i), n * d)), V(n, values, row(s.v, int(i), n * values)),
        S(values, d, {&out.state[i * size], &out.state[i * size] + size_t(values) * d});
    const Dense left = V - K * transpose(S);
    shares.push_back(inner(left.data, left.data) / inner(V.data, V.data));
  }
  return shares;
}

std::vector<Point> capacity(const Protocol &p) {
  const Params at = point_of(p, crowd);
  const int n = at.integer("n"), d = at.integer("d");
  if (n <= d) usage_error("n > d pairs; up to d are recalled exactly");
  const auto law = [&](double d) { return 1 - d / n; };
  const double wanted = wanted_sensitivity(p, law(d), {law(d - 1), law(d + 1)});
  const auto mean = [&](int n, std::uint64_t seed) {
    return sample_mean(wanted, 16, 2000,
                       [&](size_t first, size_t count) { return shares_left(n, d, seed, first, count); });
  };
  const Mean left = mean(n, p.seed);
  // Up to d pairs the miss is below ridge / (least singular value)^2, far below rounding of the values at n = d / 2.
  const Pairs half = unit_pairs(d / 2, d, dv, p.seed, "capacity"),
              over = unit_pairs(d + d / 2, d, dv, p.seed, "capacity");
  const auto recalls = [&](const Pairs &x) {
    return exact_point(reads(least_squares_state(x, 1e-8), x), values_of(x), 100 * 1e-8 / epsilon_of(Real::f64));
  };
  return {as_statement(sampled_point(left, law(d)), at, "share of |V|^2 that the best linear memory leaves"),
          rival_system(sampled_point(mean(2 * n, p.seed), law(d)), at, "twice the pairs"),
          rival_law(sampled_point(left, law(d - 1)), at, "1 - (d - 1)/n"),
          rival_law(sampled_point(left, law(d + 1)), at, "1 - (d + 1)/n"),
          as_statement(recalls(half), at, "d / 2 pairs are recalled exactly"),
          rival_system(recalls(over), at, "1.5 d pairs are recalled exactly")};
}

Claim vla_capacity_rank() {
  return at_parameters(
      running(
          ledger_row(
              "vla-capacity-rank", "004 §4.3, §8",
              "A $d$ x $d$ state holds at most $d$ associations exactly; the bound is the same for linear attention, "
              "DeltaNet and VLA.",
              "The best linear memory of $n > d$ random pairs leaves $1 - d / n$ of $|V|^2$, and none for $n <= d$. No "
              "layer with such a state does better, since least squares is the best.",
              capacity),
          {"rls"}),
      crowd);
}

} // namespace

std::vector<Claim> proposition_3() {
  return {vla_prop3_exact_recovery(), vla_prop3_orthogonal_keys(), vla_prop3_min_counterexample(),
          rls_exact_recovery_law(), vla_capacity_rank()};
}

} // namespace recollect::theory
