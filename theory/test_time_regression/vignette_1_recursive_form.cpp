// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 1, Efficient computation: recursive least squares, the effect of its initial value, and the layers that
// solve the regression exactly. S [Dv,Dk] is the solution, P [Dk,Dk] the inverse Gram matrix, S above P in the state of
// `rls`.
#include "theory/test_time_regression/pairs.hpp"

namespace recollect::theory {
namespace {

/// The layer's steps, starting from S and P of the pairs before them.
Sequence continued(Sequence s, const Dense &S, const Dense &P) {
  s.state = S.data;
  s.state.insert(s.state.end(), P.data.begin(), P.data.end());
  return s;
}
/// Enough pairs to make K^T K well conditioned.
Pairs before(const Shape &shape, std::uint64_t seed) {
  return {normal_matrix(2 * shape.Dk + 3, shape.Dk, seed, "003/earlier keys"),
          normal_matrix(2 * shape.Dk + 3, shape.Dv, seed, "003/earlier values")};
}

// ---- The printed update ---------------------------------------------------------------------------------------------

std::vector<Point> printed_update(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {labels({{"t", num(9)}, {"Dk", num(5)}})})) {
    const int t = p.integer("t"), Dk = p.integer("Dk");
    if (t <= Dk) usage_error("the inverse before the update needs t - 1 >= Dk pairs");
    const Pairs x(Shape{1, 1, t, Dk, 1}, protocol.seed), past = x.some(0, t - 1);
    const Dense P = inverse(past.gram()), k = column(x.K.data, t - 1, Dk), Pk = P * k;
    const Sequence last = continued(x.some(t - 1, t).sequence(), past.best(), P);
    const std::vector<double> state = run("rls", last).state, updated(state.begin() + Dk, state.end());
    const double kPk = (transpose(k) * Pk)(0, 0),
                 units = 64.0 * Dk * Dk * std::pow(condition(past.K), 2) * max_abs(P.data);
    const auto is = [&](const Dense &expected) { return exact_point(updated, expected.data, units); };
    points.push_back(
        as_statement(is(inverse(x.gram() + write(k, k))), p, "K_t with k_t added: as the indices are printed"));
    points.push_back(as_obligation(is(inverse(past.gram() + write(k, k))), p, "K_{t-1} with k_t added: K_t^T K_t"));
    points.push_back(as_obligation(is(P - 1 / (1 + kPk) * write(Pk, Pk)), p, "by Woodbury's identity"));
    Sequence faded = last;
    faded.alpha = {0.9};
    const std::vector<double> other = run("weighted_rls", faded).state;
    points.push_back(rival_system(exact_point({other.begin() + Dk, other.end()}, inverse(x.gram()).data, units), p,
                                  "a decay of 0.9"));
    points.push_back(rival_law(is(P - 1 / kPk * write(Pk, Pk)), p, "the 1 dropped from the denominator"));
    points.push_back(rival_law(is(P), p, "k_t not added"));
  }
  return points;
}

Claim printed_claim() {
  return explained(
      at_parameters(
          running(refuted_row("rls-eq-typo-ktm1kt",
                              slip("Efficient computation: $(K_t^T K_t)^{-1} = (K_{t-1}^T K_t + k_t k_t^T)^{-1}$.",
                                   "none", "The Woodbury recursion that follows is the one of $K_{t-1}^T K_{t-1}$."),
                              "003 Vignette 1, Efficient computation",
                              "$(K_t^T K_t)^{-1} = (K_{t-1}^T K_t + k_t k_t^T)^{-1}$.",
                              "$(K_{t-1}^T K_{t-1} + k_t k_t^T)^{-1} = P - P k k^T P / (1 + k^T P k)$, $P$ the "
                              "inverse before.",
                              printed_update),
                  {"rls", "weighted_rls"}),
          {integer_param("t", 9, 2, 256, "pairs"), integer_param("Dk", 5, 1, 32, "key width")}),
      "A slip in an index. The printed product has $t - 1$ columns on one side and $t$ rows on the other, so that only "
      "its "
      "nearest mends can be measured: with $K_t$ for both, the newest pair would count twice; with $K_{t-1}$ it is "
      "right.");
}

// ---- Sequential is batch --------------------------------------------------------------------------------------------

/// Reads and last memory of M_t = cross_t gram_t^{-1} over the pairs before and the first ones of the sequence: pair i
/// of the sequence counts weight(i, t) times at step t.
template <class Weight> Output batch(const Sequence &s, const Dense &gram, const Dense &cross, const Weight &weight) {
  Sequence fresh = s;
  fresh.state.clear();
  return stepped(fresh, [&](const Dense &, const Dense &, const Dense &, int t) {
    Dense G = gram, C = cross;
    for (int i = 0; i < s.shape.T; ++i) {
      const Dense k = column(s.k, i, s.shape.Dk), v = column(s.v, i, s.shape.Dv);
      G = G + weight(i, t) * write(k, k), C = C + weight(i, t) * write(v, k);
    }
    return C * inverse(G);
  });
}
double seen(int i, int t) { return i <= t; }

std::vector<Point> sequential_is_batch(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {params_of({1, 1, 12, 4, 3})})) {
    const Sequence s = random_sequence(shape_of(p), protocol.seed, Keys::gaussian);
    const int Dk = s.shape.Dk;
    const Pairs past = before(s.shape, protocol.seed);
    const Dense G = past.gram(), C = past.cross(), none(s.shape.Dv, Dk), I = Dense::identity(Dk);
    const Sequence from_data = continued(s, past.best(), inverse(G));
    const double factor = std::pow(condition(past.K), 2);
    const Measured layer = measured("rls", from_data), ridge = measured("rls", s, {{"ridge", "0.5"}});
    points.push_back(as_statement(layer.against(batch(s, G, C, seen), factor), p, "from full rank: least squares"));
    points.push_back(rival_system(measured("rls", continued(s, past.best(), I)).against(batch(s, G, C, seen), factor),
                                  p, "P = I at the start"));
    points.push_back(
        as_statement(ridge.against(batch(s, 0.5 * I, none, seen)), p, "from P = I / delta: ridge regression"));
    points.push_back(rival_system(measured("rls", s, {{"ridge", "0.6"}}).against(batch(s, 0.5 * I, none, seen)), p,
                                  "another ridge"));
    const auto rival = [&](const std::string &name, double (*weight)(int, int)) {
      points.push_back(rival_law(layer.against(batch(s, G, C, weight), factor), p, name));
    };
    rival("the newest pair counted twice", [](int i, int t) { return (i <= t) + (i == t) * 1.0; });
    rival("the newest pair not yet in", [](int i, int t) { return 1.0 * (i < t); });
    rival("one update skipped", [](int i, int t) { return 1.0 * (i <= t && i != 1); });
  }
  return points;
}

Claim sequential_claim() {
  return explained(
      at_parameters(
          running(ledger_row("rls-woodbury-equals-batch", "003 Vignette 1, Efficient computation",
                             "The inverses can be computed one after the other by the Woodbury identity (recursive "
                             "least squares), or $M_t$ for all $t$ in parallel as a batch of $T$ independent solves.",
                             "Identity at every prefix from a start of full rank; from $P_0 = I / delta$, of ridge "
                             "regression.",
                             sequential_is_batch),
                  {"rls"}),
          one_head_params({1, 1, 12, 4, 3})),
      "The recursion needs an invertible start, which $t >= Dk$ pairs or a ridge provide.");
}

// ---- What the start leaves behind -----------------------------------------------------------------------------------

/// M_delta = M - b delta M (K^T K + c delta I)^{-1}.
struct Bias {
  double b = 1, c = 1;
  Dense memory(const Pairs &x, double delta) const {
    const Dense best = x.best(), I = Dense::identity(x.K.columns);
    return best - b * delta * (best * inverse(x.gram() + c * delta * I));
  }
};

std::vector<Point> start_bias(const Protocol &protocol) {
  std::vector<Point> points;
  const auto own = [](int t, double delta) { return pair_point(t, 5, 3).set("delta", delta); };
  for (const Params &p : points_of(protocol, {own(20, 0.1), own(20, 1e-3), own(3, 0.1), own(3, 1e-3)})) {
    const Pairs x(pair_shape(p), protocol.seed);
    const Sequence s = x.sequence();
    const double delta = p.real("delta");
    const Assignments set{{"ridge", number(delta)}};
    const Dense S = memory(run("rls", s, set), s.shape);
    const std::vector<double> values = singular_values(x.K);
    // P falls from 1 / delta to its end, and the host's solution loses the square of K's condition number.
    const double units = rounding_units("rls", s, set) + solved_units(x.K, x.best()) * std::pow(1 + values.front(), 2);
    const auto is = [&](const Dense &M) { return exact_point(S.data, M.data, units); };
    points.push_back(as_statement(is(x.best()), p, "RLS from P_0 = I / delta is Eq 11"));
    points.push_back(as_limit(is(Bias{}.memory(x, delta)), p, "its distance is -delta M (K^T K + delta I)^{-1}"));
    const Dense other = memory(run("mesa", s, {{"ridge", number(2 * delta)}}), s.shape) *
                        inverse(x.gram() + 2 * delta * Dense::identity(x.K.columns));
    points.push_back(rival_system(exact_point(other.data, Bias{}.memory(x, delta).data, units), p, "twice the ridge"));
    points.push_back(rival_law(is(Bias{2, 1}.memory(x, delta)), p, "twice that"));
    if (x.K.rows >= x.K.columns)
      points.push_back(rival_law(is(Bias{1, 0}.memory(x, delta)), p, "without delta in the inverse"));
  }
  return points;
}

Claim start_claim() {
  std::vector<ParamSpec> params = pair_params({1, 1, 20, 5, 3});
  params.push_back(real_param("delta", 0.1, 1e-5, 10, "ridge at the start"));
  return asymptotic(explained(
      at_parameters(
          running(ledger_row("rls-ridge-init-bias", "003 Vignette 1, its start",
                             "Recursive least squares, started from $P_0 = I / delta$, gives Eq 11.",
                             "Exactly the ridge solution for every $delta$: $M_delta - M = -delta M (K^T K + delta "
                             "I)^{-1}$. As $delta$ goes to 0 least squares, and for $t < Dk$ its min-norm solution.",
                             start_bias),
                  {"rls", "mesa"}),
          params),
      "The paper leaves the start open. At a finite ridge the gap is of the order of ridge over smallest eigenvalue."));
}

// ---- Linear regression as a layer -----------------------------------------------------------------------------------

std::vector<Point> regression_layers(const Protocol &protocol) {
  std::vector<Point> points;
  const auto own = [](double lambda) { return pair_point(20, 8, 3).set("lambda", lambda); };
  for (const Params &p : points_of(protocol, {own(0.1), own(1e-3)})) {
    const Pairs x(pair_shape(p), protocol.seed);
    const int t = x.K.rows, Dk = x.K.columns;
    const double lambda = p.real("lambda");
    const Dense Q = normal_matrix(t, Dk, protocol.seed, "003/queries"), I = Dense::identity(Dk);
    const Sequence s = x.sequence(Q);
    const Assignments set{{"ridge", number(lambda)}};
    /// The reads of the prefixes' solutions V^T K (K^T K + ridge I)^{-1}.
    const auto reads = [&](double ridge) {
      std::vector<double> o;
      for (int i = 1; i <= t; ++i) {
        const Pairs prefix = x.some(0, i);
        const Dense M = ridge > 0 ? prefix.cross() * inverse(prefix.gram() + ridge * I) : prefix.best(),
                    read = M * column(Q.data, i - 1, Dk);
        o.insert(o.end(), read.data.begin(), read.data.end());
      }
      return o;
    };
    const auto layer = [&](const std::string &variant, const std::vector<double> &expected) {
      return exact_point(run(variant, s, set).o, expected, rounding_units(variant, s, set));
    };
    const std::vector<double> ridged = reads(lambda), squared = reads(lambda * lambda);
    points.push_back(as_statement(layer("mesa", reads(0)), p, "mesa: Eq 11 at every prefix"));
    points.push_back(as_limit(layer("mesa", ridged), p, "mesa: the ridge solution of every prefix"));
    points.push_back(
        rival_system(exact_point(run("linear", s).o, ridged, rounding_units("mesa", s, set)), p, "linear attention"));
    points.push_back(rival_law(layer("mesa", squared), p, "a ridge of lambda^2"));
    // Intention solves once, over the whole set: what it reads at the last step, at any query.
    const Measured last{{}, rounding_units("intention", s, set)};
    const auto whole = [&](const std::string &variant, const Dense &expected) {
      const std::vector<double> o = run(variant, s, set).o;
      return exact_point({o.end() - x.V.columns, o.end()}, expected.data, last.units);
    };
    const Dense q = column(Q.data, t - 1, Dk), M = x.cross() * inverse(x.gram() + lambda * I);
    points.push_back(as_limit(whole("intention", M * q), p, "intention: the ridge solution of the whole set"));
    points.push_back(rival_law(whole("intention", x.some(0, t - 1).best() * q), p, "a prefix for the whole set"));
    if (t < Dk) continue; // the inverse below would lose 1 / lambda
    const Dense gram = x.gram() + lambda * I, P = inverse(gram), state = memory(run("intention", s, set), s.shape) * P;
    const double kappa = frobenius_norm(gram) * frobenius_norm(P),
                 units = 4.0 * (t + Dk) * kappa * frobenius_norm(x.cross()) * frobenius_norm(P);
    const auto short_of_best = [&](double factor) {
      return exact_point(state.data, Bias{factor / lambda, 1}.memory(x, lambda).data, units);
    };
    points.push_back(as_limit(short_of_best(lambda), p, "distance from Eq 11: lambda M (K^T K + lambda I)^{-1}"));
    points.push_back(rival_law(short_of_best(lambda * lambda), p, "lambda^2 times that matrix"));
    points.push_back(rival_law(short_of_best(std::sqrt(lambda)), p, "sqrt(lambda) times it"));
  }
  return points;
}

Claim layers_claim() {
  std::vector<ParamSpec> params = pair_params({1, 1, 20, 8, 3});
  params.push_back(real_param("lambda", 0.1, 1e-5, 0.5, "ridge; below, rounding hides it"));
  return asymptotic(explained(
      at_parameters(
          running(ledger_row(
                      "mesa-intention-rls", "003 Vignette 1, Efficient computation; Fig 1",
                      "Linear regression as a layer, the exact solution of Eq 10, has been explored under the "
                      "names intention and mesa-layer.",
                      "Both carry a ridge: $V^T K (K^T K + lambda I)^{-1}$, mesa at every prefix, intention over "
                      "the whole set. They miss Eq 11 by $lambda M (K^T K + lambda I)^{-1}$, $M$ its solution, which "
                      "goes to 0 with $lambda$.",
                      regression_layers),
                  {"mesa", "intention", "linear"}),
          params),
      "The ridge is what makes the early steps, $t < Dk$, solvable."));
}

} // namespace

std::vector<Claim> vignette_1_recursive_form() {
  return {printed_claim(), sequential_claim(), start_claim(), layers_claim()};
}

} // namespace recollect::theory
