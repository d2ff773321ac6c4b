// SPDX-License-Identifier: Apache-2.0
// 004 §7.4: repeated inputs. Every pass writes the same n pairs with unit keys; |e_t| = |v_t - S_{t-1} k_t| is the size
// of a write, for three layers.
#include "theory/variational/vla_steps.hpp"

namespace recollect::theory {
namespace {
constexpr double lambda0 = 0.1;

/// Keys [n,d] and values [passes n,d], as rows.
struct Pairs {
  int n, d;
  Vector keys, values;
  Vector k(int t) const { return row(keys, t % n, d); }
  Vector v(int t) const { return row(values, t, d); }
  int steps() const { return int(values.size()) / d; }
  Vector all_keys() const { return repeated(keys, steps() / n); }
};

Vector means_by_pass(const Vector &errors, int n) {
  Vector means(errors.size() / n, 0.0);
  for (size_t t = 0; t < errors.size(); ++t) means[t / n] += errors[t] / n;
  return means;
}
Vector vla_errors(const Pairs &x) {
  Vla layer(x.d, x.d, lambda0);
  const Vector keys = x.all_keys();
  return layer.run(keys, keys, x.values);
}
Vector algebra_errors(const Pairs &x) {
  VlaAlgebra run(x.d, x.d, lambda0);
  Vector errors;
  for (int t = 0; t < x.steps(); ++t) {
    errors.push_back(norm(combine(1, x.v(t), -1, times(run.S, x.k(t)))));
    run.step(x.k(t), x.k(t), x.v(t));
  }
  return errors;
}
/// The errors |v_t - S_{t-1} k_t| of a layer with the input beta, computed from its reads S_{t-1} k_t.
Vector delta_errors(const char *layer, const Pairs &x, double beta) {
  const int T = x.steps();
  Sequence s = stored({1, 1, T, x.d, x.d}, x.all_keys(), x.values, beta);
  s.q.assign(s.k.begin() + x.d, s.k.end()), s.q.resize(s.k.size());
  const Vector reads = forward(find_variant(layer), s).o;
  Vector errors{norm(x.v(0))};
  for (int t = 1; t < T; ++t) errors.push_back(norm(combine(1, x.v(t), -1, row(reads, t - 1, x.d))));
  return errors;
}
/// The mean |e| over one pass of S <- beta S + e k^T when S has become periodic. One pass maps S to S Phi + Gamma, so
/// the periodic S solves S = S Phi + Gamma.
double gated_fixed_point(const Pairs &x, double beta) {
  Dense Phi = Dense::identity(x.d), Gamma(x.d, x.d);
  for (int t = 0; t < x.n; ++t) {
    const Dense step = beta * Dense::identity(x.d) - outer(x.k(t), x.k(t));
    Phi = Phi * step, Gamma = Gamma * step + outer(x.v(t), x.k(t));
  }
  Dense S = Gamma * inverse(Dense::identity(x.d) - Phi);
  double mean = 0;
  for (int t = 0; t < x.n; ++t) {
    const Vector e = combine(1, x.v(t), -1, times(S, x.k(t)));
    mean += norm(e) / x.n, S = beta * S + outer(e, x.k(t));
  }
  return mean;
}

Claim redundant_inputs() {
  ClaimBuilder c("vla-redundant-inputs", "004 §7.4");
  c.says("Long sequences of repeated or redundant inputs, padding and noise add progressively less to VLA's state. "
         "This is true neither of DeltaNet, whose gate decays what is stored, nor of linear attention.");
  c.exactly("True if one $S$ fits all repeated pairs. A pair that is repeated at once writes exactly 0. With $n <= d$ "
            "pairs, each late pass over the pairs multiplies the write of pair $i$ by $1 - 1/sqrt((G^{-1})_ii)$, where "
            "$G$ is the Gram matrix of the keys. A write of one of 8 pairs at $d = 32$ has a norm of about 1.1, 0.08, "
            "0.01, 0.001 in successive passes. The statement does not hold for noise: if every value is new (unit "
            "values), $|e|^2$ of the residual $e$ stays at 2.");
  c.because(
      "In the authors' favour: Eq 4 with $beta = 0.9$ continues to write two thirds of each value, and linear "
      "attention the whole value. The delta rule (DeltaNet, $beta = 1$) writes less and less, as VLA does, but its "
      "writes shrink five times more slowly per pass. Writes shrink because $e_t$ is small, not because $A_t$ is.");
  c.holds_under("one S fits the repeated pairs");
  c.runs({"vla", "delta_net", "scalar_gated_delta"});
  c.takes({integer_param("d", 32, 4, 64, "head width"), integer_param("n", 8, 2, 32, "pairs")});
  return measure(c, [](Points &points, Seed seed, int d, int n) {
    const int passes = 5, late = 60;
    const double gate = 0.9;
    if (n > d / 2) usage_error("n must be at most d / 2: more random keys need not be well conditioned");
    const Pairs once{n, d, random_units(n, d, Stream(seed, "repeats/keys")),
                     random_units(n, d, Stream(seed, "repeats/values"))};
    const auto again = [&](int passes) { return Pairs{n, d, once.keys, repeated(once.values, passes)}; };
    const Pairs same = again(passes),
                fresh{n, d, once.keys, random_units(n * passes, d, Stream(seed, "repeats/fresh"))};
    const Pairs one_pair{1, d, once.k(0), repeated(once.v(0), 2)};
    // After many passes a_i is the dual vector of k_i divided by its length, and in each pass the error of pair i falls
    // by a factor of 1 - 1 / sqrt((G^-1)_ii), where G is the Gram matrix of the keys. After finitely many passes the
    // factor differs from this by at most n (1 + lambda0) / (passes seen * least eigenvalue of G). In this run S_0
    // reads 1 at every key, and the values are 0.
    const double seen = 1e6;
    const Dense K(n, d, once.keys), G = K * transpose(K), dual = inverse(G);
    Vla settled(d, 1, lambda0);
    settled.A = inverse(lambda0 * Dense::identity(d) + seen * (transpose(K) * K));
    settled.S = Dense(1, n, Vector(n, 1.0)) * dual * K;
    settled.run(once.keys, once.keys, Vector(n));
    const Vector factors = settled.run(once.keys, once.keys, Vector(n));
    Vector settled_law, delta_law;
    for (int i = 0; i < n; ++i)
      settled_law.push_back(1 - 1 / std::sqrt(dual(i, i))), delta_law.push_back(1 - 1 / dual(i, i));
    const double off = n * (1 + lambda0) / (seen * symmetric_eigenvalues(G).front()) / epsilon_of(Real::f64),
                 units = step_units(passes * n, d, lambda0);
    const Vector law = means_by_pass(algebra_errors(same), n);
    points.rounding(units).statement("new values in every pass: $|e|$ by pass is that of repeated pairs",
                                     means_by_pass(vla_errors(fresh), n), law);
    points.condition("the same pairs in every pass: $|e|$ by pass, by dense algebra",
                     means_by_pass(vla_errors(same), n), law);
    points.wrong_system("delta rule, the same pairs in every pass: $|e|$ by pass as VLA's",
                        means_by_pass(delta_errors("delta_net", same, 1), n), law);
    points.rounding(off);
    points
        .condition("factor of each pair's write per pass, after many passes: $1 - 1/sqrt((G^{-1})_ii)$", factors,
                   settled_law)
        .but_not("$1 - 1 / (G^{-1})_ii$, the delta rule's", delta_law);
    points.obligation("one pair written twice in a row: $|e|$ is $|v|$, then 0",
                      exact_point(vla_errors(one_pair), {norm(once.v(0)), 0}, units));
    points.rounding(units);
    const Vector gated = means_by_pass(delta_errors("scalar_gated_delta", again(late), gate), n);
    points
        .obligation("Eq 4 with $beta = 0.9$: $|e|$ in the last pass by its fixed point", gated.back(),
                    gated_fixed_point(once, gate))
        .but_not("Eq 4 with $beta = 0.9$: $|e|$ in the last pass is VLA's", law.back());
  });
}

/// For each probe: a pair with the value `value` is written, then m pairs with value 0; returns the read at the key of
/// the first pair. S starts at 0, after many keys have updated A_t.
Vector left_after(int d, int m, int probes, Seed seed, double value = 1) {
  Vla memory(d, 1, 0.1);
  const Stream keys(seed, "recent/keys", std::uint64_t(d));
  const int burn = 500 * d;
  memory.update_inverse(random_units(burn, d, keys));
  Vector reads;
  for (int i = 0; i < probes; ++i) {
    const Vector rows = random_units(m + 1, d, keys, size_t(burn) + size_t(i) * size_t(m + 1));
    Vector values(size_t(m) + 1, 0.0);
    values[0] = value, memory.S = Dense(1, d);
    memory.run(rows, rows, values);
    reads.push_back(times(memory.S, row(rows, 0, d))[0]);
  }
  return reads;
}

Claim most_recent_window() {
  ClaimBuilder c("vla-most-recent-window", "004 §7.4");
  c.says("Stricter reading: the $d_h$ latest pairs are kept, and older pairs are not.");
  c.exactly("With random unit keys and $u$ along $k$, the share $(1 - 1/d)^m$ of a pair is left after $m$ later pairs. "
            "So pairs fade with a time constant of $d_h$ pairs; there is no sharp limit.");
  c.because("If $d_h$ is read as a time constant, the sentence is right: after $d_h$ later pairs about $1/e$ of a pair "
            "is left, as in the delta rule.");
  c.is_refuted(stricter(
      "§7.4: 'a fixed-size, numerically stable summary of the $d_h$ most recently reinforced associations'.",
      "constant memory; up to $d_h$ independent associations",
      "'It cannot serve as a general-purpose unlimited memory': a summary is claimed, not a window with an edge."));
  c.runs({"vla"}), c.takes({integer_param("d", 8, 4, 16, "head width"), integer_param("m", 7, 2, 24, "later pairs")});
  c.at({{}, {{"m", 16}}});
  return measure(c, [](Points &points, const Protocol &protocol, int d, int m) {
    const int probes = protocol.full() ? 20000 : 4000;
    const Mean found = mean_of(left_after(d, m, probes, protocol.seed)),
               twice = mean_of(left_after(d, m, probes, protocol.seed, 2));
    const auto law = [&](double d) { return std::pow(1 - 1 / d, m); };
    const double off = 2.0 / 500; // after t = 500 d steps, 1 - a.k is about (d - 1) / (2 t), in each of the m writes
    const auto held = [&](double value) { return sampled_point(found, value, (m + 1) * off * law(d) / 2); };
    points.statement("share left of a pair: 1 if fewer than d later pairs, otherwise 0", held(m < d ? 1 : 0));
    points.obligation("share left of a pair after $m$ later pairs: $(1 - 1/d)^m$", held(law(d)))
        .but_not("$(1 - 2/d)^m$", law(d / 2.0))
        .but_not("1, the whole pair", 1);
    points.wrong_system("a value of 2 for 1: share left after $m$ later pairs, $(1 - 1/d)^m$",
                        sampled_point(twice, law(d), (m + 1) * off * law(d) / 2));
  });
}
} // namespace

std::vector<Claim> section_7_4_repeated_inputs() { return {most_recent_window(), redundant_inputs()}; }
} // namespace recollect::theory
