// SPDX-License-Identifier: Apache-2.0
// 004 Proposition 3 and §4.3: which pairs are read exactly after one pass, and how many pairs a d x d state holds.
#include "theory/support/delta_recursion.hpp"
#include "theory/support/sampling.hpp"
#include "theory/variational/associations.hpp"

namespace recollect::theory {
namespace {
constexpr int dv = 3;
Vector values_of(const Pairs &x) { return transpose(x.V).data; }
Vector reads(const Dense &S, const Pairs &x) { return (S * transpose(x.K)).data; }
Vector vla_reads(const Pairs &x, const Dense &U, double lambda0) { return reads(written(x, U, lambda0).S, x); }

const std::vector<ParamSpec> few{integer_param("n", 6, 2, 64, "keys, at most d"), width_param(), penalty_param()};

Claim exact_recovery() {
  ClaimBuilder c("vla-prop3-exact-recovery", "004 Proposition 3, §4.3");
  c.says(
      "For $n <= d$ linearly independent unit keys, the state after one pass satisfies $S_n k_i = v_i$ for every $i$.");
  c.exactly("After step $t$, $S_t k_t = v_t - (1 - c_t) e_t$ with $c_t = a_t.k_t$ and the residual $e_t = v_t - "
            "S_{t-1} k_t$: even the last pair is not recovered unless $a_t = k_t$.");
  c.because("The note to Table 9 restricts the guarantee to orthogonal keys (vla_prop3_orthogonal_keys). Classical "
            "least squares does recover independent keys as its penalty tends to 0. VLA does not, because its write "
            "direction has length 1.");
  c.is_refuted(
      asserted("Proposition 3: 'Let the keys be linearly independent with $n <= d_h$. After processing all $n$ pairs, "
               "$S_n k_i = v_i$ for all $i$.'",
               "linearly independent unit keys, $n <= d_h$",
               "§6.4 builds on the proposition; the note to Table 9, in an appendix, quotes it 'for orthogonal keys'.",
               "Table 9's note has the case that we rely on: orthogonal keys with $u$ along $k$ are recovered exactly, "
               "and trained keys are close to orthogonal. For independent keys the least-squares objective recovers "
               "all values in the limit of a small penalty; the recursion of Eq 10 only comes near."));
  c.runs({"vla", "rls"}), c.takes(few);
  return measure(c, [](Points &points, Seed seed, int n, int d, double lambda0) {
    if (n > d) usage_error("n must be at most d, so that the keys are linearly independent");
    const Pairs x = unit_pairs(n, d, dv, seed, "proposition 3");
    const Dense other = unit_pairs(n, d, dv, seed, "proposition 3, other directions").K;
    // The read of the newest pair differs from its value by (1 - c) e, where c = a.k and e is the residual before the
    // write.
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
    const auto recursion_recalls = [&](double penalty) { // a ridge r changes reads by r |v| / (least singular value)^2
      return exact_point(reads(least_squares_state(x, penalty), x), values_of(x),
                         1e-9 / epsilon_of(Real::f64) * max_abs(x.V.data) * n * condition * condition);
    };
    points.rounding(pair_units(x, lambda0));
    points.statement("$u = k$: $S_n k_i = v_i$", vla_reads(x, x.K, lambda0), values_of(x));
    points.statement("random u: $S_n k_i = v_i$", vla_reads(x, other, lambda0), values_of(x));
    points.obligation("read of the last key: $S_t k_t = v_t - (1 - c_t) e_t$", measured, missed)
        .but_not("$S_t k_t = v_t - c_t e_t$", written_part);
    points.obligation("recursive least squares with penalty 1e-9: $S_n k_i = v_i$", recursion_recalls(1e-9));
    points.wrong_system("recursive least squares with penalty 1: $S_n k_i = v_i$", recursion_recalls(1));
  });
}

Claim orthogonal_keys() {
  ClaimBuilder c("vla-prop3-orthogonal-keys", "004 Table 9, note");
  c.says("For $n <= d$ orthogonal keys, exact recovery ($S_n k_i = v_i$) is guaranteed.");
  c.exactly("Recovery is exact if $u_t$ is parallel to $k_t$, whatever the length of $u_t$, or if $A_t$ is a multiple "
            "of $I$: then $a_t = k_t$. With a generic learned $u$ it is not exact.");
  c.because("In the authors' favour: their note restricts Proposition 3 to orthogonal keys. But the penalty direction "
            "must also be along the key, which a learned $W_u$ does not give by itself.");
  c.holds_under("$u_t$ is parallel to $k_t$, or $A_t$ a multiple of I");
  c.runs({"vla"});
  c.takes({integer_param("n", 24, 2, 64, "orthonormal keys, at most d"), width_param(32), penalty_param()});
  return measure(c, [](Points &points, Seed seed, int n, int d, double lambda0) {
    if (n > d) usage_error("n must be at most d, so that the keys can be orthonormal");
    const Pairs x = orthonormal_pairs(n, d, dv, seed, "orthogonal keys");
    Pairs leaning = x; // keys with cosine 0.01 to the previous key
    for (int i = 1; i < n; ++i)
      for (int c = 0; c < d; ++c) leaning.K(i, c) = std::sqrt(1 - 1e-4) * x.K(i, c) + 0.01 * leaning.K(i - 1, c);
    normalise_rows(leaning.K.data, d);
    Vector lengths;
    for (int i = 0; i < n; ++i) lengths.push_back(0.3 + i);
    const Dense parallel = scale_rows(x.K, lengths);
    const Dense learned = unit_pairs(n, d, dv, seed, "orthogonal keys, learned directions").K;
    points.rounding(step_units(n, d, lambda0, (n + 0.3) * (n + 0.3)) * (1 + max_abs(x.V.data)));
    points.statement("generic u: $S_n k_i = v_i$", vla_reads(x, learned, lambda0), values_of(x));
    points.condition("$u = k$: $S_n k_i = v_i$ for orthogonal keys", vla_reads(x, x.K, lambda0), values_of(x));
    points.condition("u parallel to k, of lengths $0.3 + i$: $S_n k_i = v_i$", vla_reads(x, parallel, lambda0),
                     values_of(x));
    points.condition("$u = 0$, A a multiple of I: $S_n k_i = v_i$", vla_reads(x, Dense(n, d), lambda0), values_of(x));
    const Vector apart = vla_reads(leaning, leaning.K, lambda0);
    points.wrong_system("$u = k$, keys whose cosine with the key before is 0.01: $S_n k_i = v_i$", apart,
                        values_of(leaning));
  });
}

/// S_2 k_2 if k_1 = e1, k_2 = (e1 + e2) / sqrt 2, v = 1 and u = k. Then a_2 is along (lambda0, 1 + lambda0).
double second_read(double lambda0) {
  const double c = (1 + 2 * lambda0) / std::sqrt(2 * (lambda0 * lambda0 + (1 + lambda0) * (1 + lambda0)));
  return std::sqrt(0.5) + (1 - std::sqrt(0.5)) * c;
}

Claim smallest_case() {
  ClaimBuilder c("vla-prop3-min-counterexample", "004 Proposition 3");
  c.says("$S_2 k_2 = v_2$ for two linearly independent unit keys.");
  c.exactly("Let $k_1 = e1$, $k_2 = (e1 + e2)/sqrt 2$, $v = 1$ and $u = k$. Then $S_2 k_2$ is .932 at $lambda0 = .1$, "
            "and $(2 - 1/sqrt 2)/sqrt 2 = .914$ as $lambda0 -> 0$.");
  c.because("This is the smallest case: $d = 2$, $n = 2$. Neither pair is recovered: at $lambda0 = .1$ the read of the "
            "first is 1.027, that of the second .932.");
  c.is_refuted(asserted("Proposition 3, its smallest case: $d = 2$, $n = 2$.",
                        "linearly independent unit keys, $n <= d_h$", "As for vla_prop3_exact_recovery.",
                        "Two keys at 45 degrees are far from orthogonal; the note to Table 9 restricts the guarantee "
                        "to orthogonal keys, for which it holds."));
  c.runs({"vla"}), c.takes({penalty_param()}), c.at({{}, {{"lambda0", 0.01}}, {{"lambda0", 1e-4}}});
  return measure(c, [](Points &points, double lambda0) {
    const double root = std::sqrt(0.5), units = step_units(2, 2, lambda0);
    Vla memory(2, 1, lambda0);
    memory.step({1, 0}, {1, 0}, {1});
    memory.step({root, root}, {root, root}, {1});
    const double read = times(memory.S, {root, root})[0], first = times(memory.S, {1, 0})[0],
                 first_law = 1 + (1 - root) * lambda0 / std::hypot(lambda0, 1 + lambda0);
    Vla fixed(2, 1, lambda0); // with u = 0, A stays I / lambda0: the delta rule, which stores the last pair exactly
    fixed.step({1, 0}, {0, 0}, {1});
    fixed.step({root, root}, {0, 0}, {1});
    points.rounding(units).statement("two keys at 45 degrees: $S_2 k_2 = v_2$", read, 1);
    points.obligation("$S_2 k_2$ by the closed form", read, second_read(lambda0))
        .but_not("$1/sqrt 2$, the read of the first write alone", root)
        .but_not("the limit $(2 - 1/sqrt 2)/sqrt 2$", (2 - root) * root);
    points.obligation("$S_2 k_1$ by the closed form", first, first_law).but_not("$S_2 k_1 = v_1$", 1);
    points.wrong_system("$A_t$ fixed: $S_2 k_2$", times(fixed.S, {root, root})[0], second_read(lambda0));
  });
}

Claim ridge_law() {
  ClaimBuilder c("rls-exact-recovery-law", "004 Proposition 3, read for classical RLS");
  c.says("Recursive least squares recovers linearly independent keys exactly.");
  c.exactly("$V - S K = lambda0 V (K^T K + lambda0 I)^{-1}$, where $K$ and $V$ have one pair per column. Recovery "
            "becomes exact as $lambda0 -> 0$; the error is of first order in $lambda0 / sigma_min^2$, where "
            "$sigma_min$ is the least singular value of $K$.");
  c.because("In the limit $lambda0 -> 0$ Proposition 3 holds for recursive least squares, which VLA generalises.");
  c.holds_asymptotically(), c.runs({"rls"}), c.takes(few);
  return measure(c, [](Points &points, const Protocol &protocol, const Params &p, int n, int d, double lambda) {
    const Vector own = protocol.point ? Vector{lambda} : Vector{0.1, 0.01};
    if (n > d) usage_error("n must be at most d, so that the keys are linearly independent");
    const Pairs x = unit_pairs(n, d, dv, protocol.seed, "least squares law");
    const Dense gram = x.K * transpose(x.K), VT = transpose(x.V);
    for (double lambda0 : own) {
      const Vector measured = reads(least_squares_state(x, lambda0), x);
      points.at(Params(p).set("lambda0", lambda0))
          .rounding(pair_units(x, lambda0))
          .statement("recursive least squares recovers all values: $S K = V$", measured, VT.data);
      const Dense gain = inverse(gram + lambda0 * Dense::identity(n));
      points.limit("$S K = V - lambda0 V (K^T K + lambda0 I)^{-1}$", measured, (VT - lambda0 * VT * gain).data)
          .but_not("first order: $S K = V - lambda0 V (K^T K)^{-1}$", (VT - lambda0 * VT * inverse(gram)).data)
          .but_not("$lambda0^2$ for the factor $lambda0$", (VT - lambda0 * lambda0 * VT * gain).data);
    }
  });
}

/// For draws first ... first + count - 1: the share of |V|^2 that the least-squares memory of n random pairs does not
/// fit.
Vector shares_left(int n, int d, Seed seed, size_t first, size_t count) {
  const int values = 64; // value channels; they are independent draws for the same keys
  const Variant &rls = find_variant("rls");
  Vector keys, numbers, shares;
  for (size_t i = first; i < first + count; ++i) {
    append_row(keys, Stream(seed, "capacity/keys", i).normals(size_t(n) * d));
    append_row(numbers, Stream(seed, "capacity/values", i).normals(size_t(n) * values));
  }
  const Sequence s = stored({int(count), 1, n, d, values}, keys, numbers);
  const Output out = forward(rls, s, {"chunked", Real::f64, 64, variant_params(rls, {{"ridge", "1e-8"}})});
  for (size_t i = 0; i < count; ++i) {
    const Dense K(n, d, row(keys, int(i), n * d)), V(n, values, row(numbers, int(i), n * values)),
        S = rows_of(row(out.state, int(i), int(out.state.size() / count)), values, d), left = V - K * transpose(S);
    shares.push_back(inner(left.data, left.data) / inner(V.data, V.data));
  }
  return shares;
}

Claim rank_limit() {
  ClaimBuilder c("vla-capacity-rank", "004 §4.3, §8");
  c.says("A state of $d$ x $d$ numbers holds at most $d$ associations exactly; this bound is the same for linear "
         "attention, DeltaNet and VLA.");
  c.exactly("For $n > d$ random pairs the best linear memory leaves the share $1 - d / n$ of $|V|^2$ as squared error; "
            "for $n <= d$ it leaves none. No layer with such a state leaves a smaller error, because least squares "
            "minimises it.");
  c.runs({"rls"});
  c.takes({integer_param("n", 48, 2, 512, "random pairs, more than d"), integer_param("d", 32, 2, 128, "width")});
  return measure(c, [](Points &points, const Protocol &protocol, int n, int d) {
    if (n <= d) usage_error("n must be above d: up to d pairs are recalled exactly");
    const auto law = [&](double d) { return 1 - d / n; };
    const double wanted = wanted_sensitivity(protocol, law(d), {law(d - 1), law(d + 1)});
    const auto mean = [&](int n) {
      const auto draw = [&](size_t first, size_t count) { return shares_left(n, d, protocol.seed, first, count); };
      return sample_mean(wanted, 16, 2000, in_blocks(cached_block(n * d), draw));
    };
    const Mean left = mean(n);
    // For n <= d pairs the error is below ridge / (least singular value)^2; at n = d / 2 this is far below the rounding
    // of the values.
    const Pairs half = unit_pairs(d / 2, d, dv, protocol.seed, "capacity"),
                over = unit_pairs(d + d / 2, d, dv, protocol.seed, "capacity");
    points.statement("share of $|V|^2$ that the best linear memory leaves as error: $1 - d/n$", left, law(d))
        .but_not("$1 - (d - 1)/n$", law(d - 1))
        .but_not("$1 - (d + 1)/n$", law(d + 1));
    points.wrong_system("twice the pairs: share of $|V|^2$ left as error, $1 - d/n$", mean(2 * n), law(d));
    const auto recalled = [](const Pairs &x) { return reads(least_squares_state(x, 1e-8), x); };
    points.rounding(100 * 1e-8 / epsilon_of(Real::f64));
    points.statement("$d / 2$ pairs are recalled exactly", recalled(half), values_of(half));
    points.wrong_system("$1.5 d$ pairs are recalled exactly", recalled(over), values_of(over));
  });
}
} // namespace

std::vector<Claim> proposition_3() {
  return {exact_recovery(), orthogonal_keys(), smallest_case(), ridge_law(), rank_limit()};
}
} // namespace recollect::theory
