// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 1, Efficient computation: recursive least squares, the effect of the initial value, and the layers that
// solve the regression exactly. The state of `rls` is the solution S [Dv,Dk] above the inverse Gram matrix P [Dk,Dk].
#include "theory/test_time_regression/decays.hpp"

namespace recollect::theory {
namespace {
/// The sequence, starting from the S and P of earlier pairs.
Sequence continued(Sequence s, const Dense &S, const Dense &P) {
  s.state = S.data;
  s.state.insert(s.state.end(), P.data.begin(), P.data.end());
  return s;
}
/// Earlier pairs, enough to make K^T K well conditioned.
Pairs before(const Shape &shape, Seed seed) {
  return {normal_matrix(2 * shape.Dk + 3, shape.Dk, seed, "003/earlier keys"),
          normal_matrix(2 * shape.Dk + 3, shape.Dv, seed, "003/earlier values")};
}

Claim printed_update() {
  ClaimBuilder c("rls-eq-typo-ktm1kt", "003 Vignette 1, Efficient computation");
  c.says("The inverse is updated by $(K_t^T K_t)^{-1} = (K_{t-1}^T K_t + k_t k_t^T)^{-1}$.");
  c.exactly(
      "$(K_{t-1}^T K_{t-1} + k_t k_t^T)^{-1} = P - P k k^T P / (1 + k^T P k)$, where $P$ is the previous inverse.");
  c.because("An index is wrong. The printed product $K_{t-1}^T K_t$ does not exist, because one factor has $t - 1$ "
            "columns and the other $t$ rows. So the two nearest corrections are measured. With $K_t$ in both places "
            "the newest pair would count twice; with $K_{t-1}$ in both places the equation is right.");
  c.is_refuted(slip("Efficient computation: $(K_t^T K_t)^{-1} = (K_{t-1}^T K_t + k_t k_t^T)^{-1}$.", "none",
                    "The Woodbury recursion that follows is that of $K_{t-1}^T K_{t-1} + k_t k_t^T$."));
  c.runs({"rls", "weighted_rls"});
  c.takes({integer_param("t", 9, 2, 256, "pairs"), integer_param("Dk", 5, 1, 32, "key width")});
  return measure(c, [](Points &points, Seed seed, int t, int Dk) {
    if (t <= Dk) usage_error("t must be above Dk: the inverse before the update needs t - 1 >= Dk pairs");
    const Pairs x(Shape{1, 1, t, Dk, 1}, seed), past = x.some(0, t - 1);
    const Dense P = inverse(past.gram()), k = column(x.K.data, t - 1, Dk), Pk = P * k;
    const Sequence last = continued(x.some(t - 1, t).sequence(), past.best(), P);
    const Vector state = run("rls", last).state, updated(state.begin() + Dk, state.end());
    const double kPk = (transpose(k) * Pk)(0, 0),
                 units = 64.0 * Dk * Dk * std::pow(condition(past.K), 2) * max_abs(P.data);
    const Vector twice = inverse(x.gram() + write(k, k)).data;
    points.rounding(units).statement("updated inverse: $(K_t^T K_t + k_t k_t^T)^{-1}$, the index $t$ in both places",
                                     updated, twice);
    points.obligation("updated inverse: $(K_{t-1}^T K_{t-1} + k_t k_t^T)^{-1}$", updated,
                      inverse(past.gram() + write(k, k)).data);
    points
        .obligation("updated inverse: $P - P k k^T P / (1 + k^T P k)$, Woodbury's identity", updated,
                    (P - 1 / (1 + kPk) * write(Pk, Pk)).data)
        .but_not("the 1 dropped from the denominator", (P - 1 / kPk * write(Pk, Pk)).data)
        .but_not("$k_t$ not added", P.data);
    Sequence faded = last;
    faded.alpha = {0.9};
    const Vector weak = run("weighted_rls", faded).state;
    points.wrong_system("a decay of 0.9: the inverse is $(K_t^T K_t)^{-1}$",
                        exact_point({weak.begin() + Dk, weak.end()}, inverse(x.gram()).data, units));
  });
}

double seen(int i, int t) { return i <= t; }

Claim sequential_is_batch() {
  ClaimBuilder c("rls-woodbury-equals-batch", "003 Vignette 1, Efficient computation");
  c.says("The inverses can be computed one after the other by the Woodbury identity (recursive least squares). Or "
         "$M_t$ can be computed for all $t$ in parallel, as a batch of $T$ independent solves.");
  c.exactly("The recursion and the batch of solves agree at every step, both for least squares that starts from pairs "
            "of full rank and for ridge regression that starts from the inverse $P_0 = I / delta$.");
  c.because("The recursion must start from an invertible matrix, given by $t >= Dk$ pairs or by a ridge.");
  c.runs({"rls"}), c.takes(one_head_params({1, 1, 12, 4, 3}));
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = random_sequence(shape, seed, Keys::gaussian);
    const int Dk = s.shape.Dk;
    const Pairs past = before(s.shape, seed);
    const Dense G = past.gram(), C = past.cross(), none(s.shape.Dv, Dk), I = Dense::identity(Dk);
    const Sequence from_data = continued(s, past.best(), inverse(G));
    const double factor = std::pow(condition(past.K), 2);
    const Measured layer = measured("rls", from_data), ridge = measured("rls", s, {{"ridge", "0.5"}});
    const auto by = [&](double (*weight)(int, int)) { return layer.against(solutions(s, G, C, weight), factor); };
    points.statement("recursion from pairs of full rank: least squares", by(seen))
        .but_not("the newest pair counted twice", by([](int i, int t) { return (i <= t) + (i == t) * 1.0; }))
        .but_not("the newest pair not yet in", by([](int i, int t) { return 1.0 * (i < t); }))
        .but_not("one update skipped", by([](int i, int t) { return 1.0 * (i <= t && i != 1); }));
    const Measured other = measured("rls", continued(s, past.best(), I));
    points.wrong_system("recursion from $P = I$: least squares", other.against(solutions(s, G, C, seen), factor));
    points.statement("recursion from $P = I / delta$: ridge regression with ridge $delta$",
                     ridge.against(solutions(s, 0.5 * I, none, seen)));
    points.wrong_system("recursion with another ridge",
                        measured("rls", s, {{"ridge", "0.6"}}).against(solutions(s, 0.5 * I, none, seen)));
  });
}

/// M_delta = M - b delta M (K^T K + c delta I)^{-1}.
struct Bias {
  double b = 1, c = 1;
  Dense memory(const Pairs &x, double delta) const {
    const Dense best = x.best(), I = Dense::identity(x.K.columns);
    return best - b * delta * (best * inverse(x.gram() + c * delta * I));
  }
};

Claim start_bias() {
  ClaimBuilder c("rls-ridge-init-bias", "003 Vignette 1, its start");
  c.says("Recursive least squares, started from $P_0 = I / delta$, gives Eq 11.");
  c.exactly("For every $delta$ the recursion gives exactly the ridge solution $M_delta$. It differs from the solution "
            "$M$ of Eq 11 by $M_delta - M = -delta M (K^T K + delta I)^{-1}$. As $delta$ goes to 0, $M_delta$ tends to "
            "the least-squares solution, and for $t < Dk$ to the solution of smallest norm.");
  c.because("The paper does not specify the start. For a finite ridge $delta$ the difference is of the order of "
            "$delta$ divided by the smallest eigenvalue of $K^T K$.");
  c.holds_asymptotically(), c.runs({"rls", "mesa"});
  c.takes(pair_params({1, 1, 20, 5, 3}), {real_param("delta", 0.1, 1e-5, 10, "ridge at the start")});
  c.at({{}, {{"delta", 1e-3}}, {{"t", 3}}, {{"t", 3}, {"delta", 1e-3}}});
  return measure(c, [](Points &points, Seed seed, const Shape &shape, double delta) {
    const Pairs x(shape, seed);
    const Sequence s = x.sequence();
    const Assignments set{{"ridge", number(delta)}};
    const Dense S = memory(run("rls", s, set), s.shape);
    const Vector values = singular_values(x.K);
    // P decreases from 1 / delta to its final size; the rounding error of the reference solution is proportional to the
    // square of the condition number of K.
    points.rounding(rounding_units("rls", s, set) + solved_units(x.K, x.best()) * std::pow(1 + values.front(), 2));
    points.statement("RLS from $P_0 = I / delta$ is Eq 11", S, x.best());
    auto distance = points.limit("RLS minus Eq 11 is $-delta M (K^T K + delta I)^{-1}$", S, Bias{}.memory(x, delta))
                        .but_not("twice this difference", Bias{2, 1}.memory(x, delta));
    const Dense other = memory(run("mesa", s, {{"ridge", number(2 * delta)}}), s.shape) *
                        inverse(x.gram() + 2 * delta * Dense::identity(x.K.columns));
    points.wrong_system("RLS with twice the ridge: the same difference", other, Bias{}.memory(x, delta));
    if (x.K.rows >= x.K.columns) distance.but_not("without $delta$ in the inverse", Bias{1, 0}.memory(x, delta));
  });
}

Claim regression_layers() {
  ClaimBuilder c("mesa-intention-rls", "003 Vignette 1, Efficient computation; Fig 1");
  c.says("Linear regression as a layer, the exact solution of Eq 10, has been explored under the names intention and "
         "mesa-layer.");
  c.exactly("Both layers have a ridge $lambda$: they use $V^T K (K^T K + lambda I)^{-1}$, the mesa-layer at every "
            "prefix, intention for the whole set of pairs. Their memory differs from the solution $M$ of Eq 11 by "
            "$lambda M (K^T K + lambda I)^{-1}$, which goes to 0 with $lambda$.");
  c.because("Because of the ridge the first steps, $t < Dk$, have a unique solution too.");
  c.holds_asymptotically(), c.runs({"mesa", "intention", "linear"});
  c.takes(pair_params({1, 1, 20, 8, 3}), {real_param("lambda", 0.1, 1e-5, 0.5, "ridge; rounding hides a smaller one")});
  c.at({{}, {{"lambda", 1e-3}}});
  return measure(c, [](Points &points, Seed seed, int t, int Dk, int Dv, double lambda) {
    const Pairs x({1, 1, t, Dk, Dv}, seed);
    const Dense Q = normal_matrix(t, Dk, seed, "003/queries"), I = Dense::identity(Dk);
    const Sequence s = x.sequence(Q);
    const Assignments set{{"ridge", number(lambda)}};
    /// The reads of the solutions V^T K (K^T K + ridge I)^{-1} of all prefixes.
    const auto reads = [&](double ridge) {
      Vector o;
      for (int i = 1; i <= t; ++i) {
        const Pairs prefix = x.some(0, i);
        const Dense M = ridge > 0 ? prefix.cross() * inverse(prefix.gram() + ridge * I) : prefix.best(),
                    read = M * column(Q.data, i - 1, Dk);
        o.insert(o.end(), read.data.begin(), read.data.end());
      }
      return o;
    };
    const auto layer = [&](const std::string &variant, const Vector &expected) {
      return exact_point(run(variant, s, set).o, expected, rounding_units(variant, s, set));
    };
    const Vector ridged = reads(lambda), squared = reads(lambda * lambda);
    points.statement("mesa: Eq 11 at every prefix", layer("mesa", reads(0)));
    points.limit("mesa: the ridge solution of every prefix", layer("mesa", ridged))
        .but_not("a ridge of $lambda^2$", layer("mesa", squared));
    points.rounding(rounding_units("mesa", s, set)).wrong_system("linear attention", run("linear", s).o, ridged);
    // Intention in the paper solves once, for the whole set of pairs. So only the reads of the last step are compared.
    const double units = rounding_units("intention", s, set);
    const auto whole = [&](const std::string &variant, const Dense &expected) {
      const Vector o = run(variant, s, set).o;
      return exact_point({o.end() - Dv, o.end()}, expected.data, units);
    };
    const Dense q = column(Q.data, t - 1, Dk), M = x.cross() * inverse(x.gram() + lambda * I);
    points.limit("intention: the ridge solution of the whole set", whole("intention", M * q))
        .but_not("the solution of a prefix", whole("intention", x.some(0, t - 1).best() * q));
    // for t < Dk the inverse below would lose a factor of 1 / lambda
    if (t < Dk) return;
    const Dense gram = x.gram() + lambda * I, P = inverse(gram), state = memory(run("intention", s, set), s.shape) * P;
    const double kappa = frobenius_norm(gram) * frobenius_norm(P);
    points.rounding(4.0 * (t + Dk) * kappa * frobenius_norm(x.cross()) * frobenius_norm(P));
    const auto off_by = [&](double factor) { return Bias{factor / lambda, 1}.memory(x, lambda); };
    points.limit("intention's difference from Eq 11: $lambda M (K^T K + lambda I)^{-1}$", state, off_by(lambda))
        .but_not("$lambda^2$ in place of $lambda$", off_by(lambda * lambda))
        .but_not("$sqrt(lambda)$ in place of $lambda$", off_by(std::sqrt(lambda)));
  });
}
} // namespace

std::vector<Claim> vignette_1_recursive_form() {
  return {printed_update(), sequential_is_batch(), start_bias(), regression_layers()};
}
} // namespace recollect::theory
