// SPDX-License-Identifier: Apache-2.0
// 000 Table 2, DeltaNet + Momentum, and Eq 75-76: C_t = eta_t C_{t-1} + v_t k_t^T with B_t = I - k_t k_t^T. The layer
// delta_momentum runs with one eta for all steps, and with a different eta at every step.
#include "theory/associative_memory/objectives/quadratic.hpp"

namespace recollect::theory {
namespace {
const std::vector<ParamSpec> parameters{real_param("eta", 0.7, 0.01, 0.99, "momentum of the write"),
                                        steps_param(20, 2, 60), key_width_param(8, 1, 32), value_width_param(4, 1, 32)};
Sequence story(const Shape &shape, Seed seed) {
  Sequence s = random_sequence(shape, seed, Keys::gaussian);
  s.alpha.clear(); // without alpha, eta is the same at every step
  return s;
}
/// The sequence with eta_t uniform in 0.4 ... 0.95, given as alpha. The layer multiplies alpha by its parameter eta,
/// which must then be 1.
Sequence uneven(Sequence s, Seed seed) {
  s.alpha = Stream(seed, "table 2/eta").uniforms(size_t(s.shape.T), 0.4, 0.95);
  return s;
}
Vector key(const Sequence &s, int t) { return steps_of(s.k, s.shape, t, t + 1); }
Vector value(const Sequence &s, int t) { return steps_of(s.v, s.shape, t, t + 1); }
Assignments of_eta(double eta) { return {{"eta", number(eta)}}; }

/// prod_{j=i+1..t} eta_j for i <= t.
double weight(const Vector &eta, int t, int i) {
  double product = 1;
  for (int j = i + 1; j <= t; ++j) product *= eta[size_t(j)];
  return product;
}

/// The objective L_t(S) of step t = 0 ... T-1.
using ObjectiveOfStep = std::function<double(const Dense &S, int t)>;

double read_square(const Dense &S, const Vector &k) {
  const Vector read = times(S, k);
  return inner(read, read);
}
ObjectiveOfStep as_in_table_2(const Sequence &s, const Vector &eta) {
  return [&s, eta](const Dense &S, int t) {
    double recall = 0;
    for (int i = 0; i <= t; ++i) recall += weight(eta, t, i) * inner(times(S, key(s, i)), value(s, i));
    return read_square(S, key(s, t)) / 2 - recall;
  };
}
ObjectiveOfStep wrong_pair_of_eq_76(const Sequence &s, const Vector &eta) {
  return [&s, eta](const Dense &S, int t) {
    double weights = 0;
    for (int i = 0; i <= t; ++i) weights += weight(eta, t, i);
    return read_square(S, key(s, t)) / 2 - weights * inner(times(S, key(s, t)), value(s, t));
  };
}
ObjectiveOfStep of_delta_net(const Sequence &s) {
  return
      [&s](const Dense &S, int t) { return read_square(S, key(s, t)) / 2 - inner(times(S, key(s, t)), value(s, t)); };
}

/// Reads and last S of a memory whose step is -dL_t/dS plus `heavy` times the previous step (heavy ball).
Vector descend(const Sequence &s, const ObjectiveOfStep &L, double heavy = 0) {
  Vector all;
  Dense S(s.shape.Dv, s.shape.Dk), step = S;
  for (int t = 0; t < s.shape.T; ++t) {
    step = heavy * step - gradient(S, [&](const Dense &M) { return L(M, t); });
    S = S + step;
    const Vector read = times(S, steps_of(s.q, s.shape, t, t + 1));
    all.insert(all.end(), read.begin(), read.end());
  }
  all.insert(all.end(), S.data.begin(), S.data.end());
  return all;
}

/// Bound on the rounding errors of the layer and of T gradients. The rounding error of a gradient is relative to the
/// objective, for states as large as the layer's results.
double units(const Sequence &s, const Assignments &set) {
  const double S = s.shape.Dk * max_abs(results_of("delta_momentum", s, set)) + 1;
  return rounding_units("delta_momentum", s, set) + 8.0 * s.shape.T * s.shape.Dk * s.shape.Dv * S * S;
}

Claim momentum_row() {
  ClaimBuilder c("table2-momentum", "000 Table 2, Appendix B.2");
  c.says("DeltaNet with momentum, $A = I$, $B = I - k_t k_t^T$, $C_t = eta_t C_{t-1} + v_t k_t^T$ with $eta_t$ in "
         "(0,1), is one gradient step on $1/2 ||S k_t||^2 - sum_{i<=t} (prod_{j=i+1..t} eta_j) v_i^T S k_i$.");
  c.exactly("An identity.");
  c.because(
      "The momentum acts only on the write. It is not heavy-ball momentum on the gradient of DeltaNet's objective.");
  c.runs({"delta_momentum", "delta_net"}), c.takes(parameters);
  return measure(c, [](Points &points, Seed seed, double eta, const Shape &shape) {
    const Sequence s = story(shape, seed), other = uneven(s, seed);
    const Vector same(shape.T, eta), expected = descend(s, as_in_table_2(s, same));
    points.rounding(units(s, of_eta(eta)))
        .statement("reads and $S_T$ against gradient steps on the objective of Table 2",
                   results_of("delta_momentum", s, of_eta(eta)), expected)
        .but_not("heavy-ball momentum on the gradient of DeltaNet's objective", descend(s, of_delta_net(s), eta))
        .but_not("$<S k_t, v_t>$ inside the sum, as in Eq 76", descend(s, wrong_pair_of_eq_76(s, same)));
    points.wrong_system("DeltaNet, which has no momentum", results_of("delta_net", s), expected);
    points.rounding(units(other, of_eta(1)))
        .statement("another $eta$ at every step, uniform in 0.4 ... 0.95: reads and $S_T$ against gradient steps on "
                   "the objective of Table 2",
                   results_of("delta_momentum", other, of_eta(1)), descend(other, as_in_table_2(other, other.alpha)))
        .but_not("the same $eta$ at every step", expected);
  });
}

Claim momentum_as_printed() {
  ClaimBuilder c("eq76-momentum", "000 Eq 76");
  c.says("With momentum the objective is $1/2 ||S k_t||^2 - sum_{i<=t} (prod_{j=i+1..t} eta_j) <S k_t, v_t>$.");
  c.is_refuted(slip("Eq 76: $<S k_t, v_t>$ inside a sum over $i$.", "none", "Table 2 has $<S k_i, v_i>$."));
  c.exactly("The pair in the sum should have index $i$, $<S k_i, v_i>$, as in Table 2. The printed objective generates "
            "$C_t$ = (sum of the weights) $v_t k_t^T$.");
  c.because("The index in Eq 76 is wrong, and Table 2 is right. In the smallest case the keys are 1 and 1, the values "
            "are 1 and 2, and $eta = 3/4$. Then the recurrence gives $C_2 = 11/4$, the printed objective $7/2$.");
  c.runs({"delta_momentum"}), c.takes(parameters);
  c.first([](Points &points, const Protocol &) {
    const Sequence s = stored({1, 1, 2, 1, 1}, {1, 1}, {1, 2});
    const double eta = 0.75;
    points.at({{"eta", eta}, {"T", 2}, {"d", 1}, {"dv", 1}}).rounding(units(s, of_eta(eta)));
    points.statement("$S_2$ against gradient steps on the objective of Eq 76, keys 1 and 1, values 1 and 2",
                     results_of("delta_momentum", s, of_eta(eta)), descend(s, wrong_pair_of_eq_76(s, {eta, eta})));
  });
  return measure(c, [](Points &points, Seed seed, double eta, const Shape &shape) {
    const Sequence s = story(shape, seed);
    const Vector same(shape.T, eta), squares(shape.T, eta * eta),
        measured = results_of("delta_momentum", s, of_eta(eta));
    points.rounding(units(s, of_eta(eta)));
    points.statement("reads and $S_T$ against gradient steps on the objective of Eq 76", measured,
                     descend(s, wrong_pair_of_eq_76(s, same)));
    points
        .obligation("reads and $S_T$ against gradient steps on Eq 76 with $<S k_i, v_i>$ in the sum", measured,
                    descend(s, as_in_table_2(s, same)))
        .but_not("DeltaNet's objective, without the sum", descend(s, of_delta_net(s)))
        .but_not("$eta^2$ in place of $eta$", descend(s, as_in_table_2(s, squares)));
  });
}

/// sum_{i >= first} (prod_{j=i+shift..t} eta_j) v_i k_i^T, i counted from 0.
Vector weighted_sum(const Sequence &s, const Vector &eta, int first, int shift) {
  Dense C(s.shape.Dv, s.shape.Dk);
  for (int i = first; i < s.shape.T; ++i) {
    double kept = 1;
    for (int j = i + shift; j < s.shape.T; ++j) kept *= eta[j];
    C = C + kept * outer(value(s, i), key(s, i));
  }
  return C.data;
}

Claim momentum_sum() {
  ClaimBuilder c("table2-momentum-eq75", "000 Eq 75");
  c.says("The recurrence $C_t = eta_t C_{t-1} + v_t k_t^T$ with $C_0 = 0$ gives $C_t = sum_{i<=t} (prod_{j=i+1..t} "
         "eta_j) v_i k_i^T$.");
  c.exactly("An identity; the empty product at $i = t$ is 1.");
  c.runs({"delta_momentum"}), c.takes(parameters);
  return measure(c, [](Points &points, Seed seed, double eta, const Shape &shape) {
    const Sequence s = story(shape, seed), other = uneven(s, seed);
    const int T = shape.T;
    const auto second_half = [](const Sequence &given, double own_eta) { // the layer's C_T
      const Vector state = run("delta_momentum", given, of_eta(own_eta)).state;
      return Vector(state.begin() + std::ptrdiff_t(state.size() / 2), state.end());
    };
    const Vector same = weighted_sum(s, Vector(T, eta), 0, 1), C = second_half(other, 1);
    points.rounding(4.0 * T * frobenius_norm(Dense(T, shape.Dk, s.k)) * frobenius_norm(Dense(T, shape.Dv, s.v)));
    points.statement("$C_T$ of the layer against the weighted sum", second_half(s, eta), same);
    points
        .statement("$C_T$ of the layer against the weighted sum, another $eta$ at every step, uniform in 0.4 ... 0.95",
                   C, weighted_sum(s, other.alpha, 0, 1))
        .but_not("the product from $j = i$", weighted_sum(s, other.alpha, 0, 0))
        .but_not("the first write left out", weighted_sum(s, other.alpha, 1, 1))
        .but_not("the same $eta$ at every step", same);
  });
}

Claim momentum_helps() {
  ClaimBuilder c("momentum-helps", "000 §2.2, DeltaNet; footnote 8");
  c.says("First-order momentum on the writes improved the performance of a model close to DeltaNet. The text quotes "
         "this finding from reference [2].");
  c.exactly("This is an observation on trained models, and the text gives no set-up.");
  c.because("The authors say themselves that the model of [2] is not strictly DeltaNet. We trained small models "
            "(suites/trained_momentum.toml: five seeds, 8 pairs in 8 heads of 4 channels), each at the best of four "
            "learning rates. A delta rule with step size 1 recalls .96 of the values on average (.79 for one of the "
            "seeds). With momentum .9 times a learned factor per token it recalls .998, which is significantly more "
            "($p = .02$). DeltaNet, whose step size is learned, recalls .9995 without momentum. The claim "
            "momentum_reduced measures a reduced form.");
  return c.is_not_tested(Reason::needs_training);
}
} // namespace

std::vector<Claim> table_2_momentum() {
  return {momentum_row(), momentum_sum(), momentum_as_printed(), momentum_helps()};
}
} // namespace recollect::theory
