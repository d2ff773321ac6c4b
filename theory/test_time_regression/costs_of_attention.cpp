// SPDX-License-Identifier: Apache-2.0
// The costs that 003 states: stored numbers and multiply-adds, counted by running layers on a number type that counts
// products.
#include "theory/support/counted_definition.hpp"
#include "theory/support/counted_layers.hpp"
#include "theory/support/dependence.hpp"
#include "theory/test_time_regression/local_weights.hpp"

namespace recollect::theory {
namespace {
double linear_cost(const Sequence &s) {
  return count([x = Tokens<Counted>(s)] { linear_reads(x); });
}
double softmax_cost(const Sequence &s) {
  return count([x = Tokens<Counted>(s)] { Attention<Counted>{x}; });
}

Claim time() {
  ClaimBuilder c("softmax-t2-linear-t", "003 §2");
  c.says("Softmax attention takes $O(T^2)$ time for a whole sequence even with cached keys and values, linear "
         "attention $O(T)$.");
  c.exactly("Softmax takes $T (T + 1) / 2 (Dk + Dv)$ multiply-adds, linear attention $2 T Dk Dv$. The costs are equal "
            "at $T + 1 = 4 Dk Dv / (Dk + Dv)$, which is 128 at $Dk = Dv = 64$.");
  c.runs({"softmax", "linear"});
  c.takes({integer_param("T", 40, 2, 256, "steps"), integer_param("Dk", 12, 1, 64, "key width"),
           integer_param("Dv", 8, 1, 64, "value width")});
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = random_sequence(shape, seed);
    const double T = s.shape.T, Dk = s.shape.Dk, Dv = s.shape.Dv, area = Dk * Dv;
    const Tokens<Counted> x(s);
    // At T = 2 D - 1 and Dk = Dv = D softmax and linear attention cost the same.
    const int D = s.shape.Dk;
    const Sequence crossing = random_sequence({1, 1, 2 * D - 1, D, D}, seed);
    points.rounding(0);
    points
        .statement("multiply-adds of softmax attention: $T (T + 1) / 2 (Dk + Dv)$", softmax_cost(s),
                   T * (T + 1) / 2 * (Dk + Dv))
        .but_not("$T^2 (Dk + Dv)$", T * T * (Dk + Dv));
    points.statement("multiply-adds of linear attention: $2 T Dk Dv$", linear_cost(s), 2 * T * area)
        .but_not("$T (T + 1) Dk Dv$", T * (T + 1) * area);
    points.wrong_system("multiply-adds of the delta rule: $2 T Dk Dv$", count([&] { delta_reads(x); }), 2 * T * area);
    points.obligation("softmax and linear attention cost the same at $T = 2 Dk - 1$, $Dv = Dk$", softmax_cost(crossing),
                      linear_cost(crossing));
    points.obligation("the counted algorithm computes softmax attention",
                      measured("softmax", s, {{"scale", "1"}}).against(Attention<Counted>(x).reads()));
    points.rounding(rounding_units("linear", s));
    points.obligation("the counted algorithm computes linear attention", run("linear", s).o,
                      values_of(linear_reads(x)));
    const Sequence longer = random_sequence({1, 1, 2 * D, D, D}, seed);
    points.rounding(0).wrong_system("softmax and linear attention cost the same at $T = 2 Dk$", softmax_cost(longer),
                                    linear_cost(longer));
    if (!counts_work()) return;
    const Shape &z = s.shape;
    const auto widths = [&](const char *layer) { return products_by_widths(layer, z.T, z.Dk, z.Dv); };
    const auto areas = [&](const char *layer) { return products_by_area(layer, z.T, z.Dk, z.Dv); };
    const double law = T * (T + 1) / 2 * (Dk + Dv);
    points.obligation("multiply-adds of the definition of softmax attention: $T (T + 1) / 2 (Dk + Dv)$",
                      widths("softmax"), law);
    points.wrong_system(
        "multiply-adds of the definition of ffn_relu, which reads all tokens: $T (T + 1) / 2 (Dk + Dv)$",
        widths("ffn_relu"), law);
    points.obligation("multiply-adds of the definition of linear attention: $2 T Dk Dv$", areas("linear"),
                      2 * T * area);
    points.wrong_system("multiply-adds of the definition of the delta rule: $2 T Dk Dv$", areas("delta_net"),
                        2 * T * area);
  });
}

Claim memory_grows() {
  ClaimBuilder c("softmax-memory-grows", "003 Vignette 4");
  c.says("The recurrent layers compress the prefix into a state of constant size; self-attention keeps all pairs of "
         "the prefix, so that its memory grows with the sequence.");
  c.exactly("After $t$ pairs attention keeps $t (Dk + Dv)$ numbers, and linear attention $Dk Dv$. The two are equal at "
            "$t = Dk Dv / (Dk + Dv)$.");
  c.runs({"softmax", "linear"});
  c.takes({integer_param("t", 12, 2, 48, "pairs so far"), integer_param("Dk", 5, 2, 16, "key width"),
           integer_param("Dv", 3, 1, 16, "value width")});
  return measure(c, [](Points &points, Seed seed, int t, int Dk, int Dv) {
    const auto prefix = [&](int t) { return random_sequence({1, 1, t, Dk, Dv}, seed); };
    const double pairs = t * (Dk + Dv), area = Dk * Dv;
    const auto state = [&](const char *variant, int t) {
      const Variant &v = find_variant(variant);
      return double(v.state_shape(prefix(t).shape, variant_params(v)).size());
    };
    // Linear attention keeps only the state: the second half of a run starts from the state alone and must give the
    // same reads.
    const Sequence all = prefix(t);
    Sequence rest = slice_steps(all, t / 2, t);
    rest.state = run("linear", slice_steps(all, 0, t / 2)).state;
    Sequence forgotten = rest;
    forgotten.state.clear();
    const Vector reads = run("linear", all).o, later(reads.end() - rest.v.size(), reads.end());
    points.rounding(0);
    points.statement("softmax reads $t (Dk + Dv)$ numbers", numbers_read("softmax", all), pairs)
        .but_not("t Dk", t * Dk);
    points.wrong_system("softmax, the newest pair left out, reads $t (Dk + Dv)$ numbers",
                        numbers_read("softmax", prefix(t - 1)), pairs);
    points.statement("linear attention keeps Dk Dv numbers", state("linear", t), area);
    points.statement("linear attention keeps Dk Dv numbers after four times the steps", state("linear", 4 * t), area);
    points.wrong_system("RLS keeps Dk Dv numbers", state("rls", t), area);
    points.rounding(rounding_units("linear", all));
    points.obligation("linear attention, continued from the state alone", run("linear", rest).o, later);
    points.wrong_system("linear attention, continued without the state", run("linear", forgotten).o, later);
  });
}

const std::vector<ParamSpec> local_fit{integer_param("T", 16, 4, 128, "steps"),
                                       integer_param("Dk", 7, 1, 32, "key width"),
                                       integer_param("Dv", 3, 1, 32, "value width")};
constexpr double ridge = 0.01; // ridge on the slopes; without it the first prefixes have no unique solution

/// The local fits of Eq 52-53 for every prefix, in separate parts whose products can be counted.
template <class N> struct LocalFits {
  const Sequence &s;
  Tokens<N> tokens;
  std::vector<Grid<N>> X, G; // X: rows (1, k_i - q_t); G: X^T W X with the ridge
  explicit LocalFits(const Sequence &s) : s(s), tokens(s), X(s.shape.T), G(s.shape.T) {}

  void materialise(int t) {
    for (int i = 0; i <= t; ++i) {
      X[t].push_back({N(1)});
      for (int c = 0; c < s.shape.Dk; ++c) X[t][i].push_back(tokens.k[i][c] - tokens.q[t][c]);
    }
  }
  Row<N> weighted(int t, int i) const {
    Row<N> row;
    for (const N &x : X[t][i]) row.push_back(N(weights_at(s, t)[i]) * x);
    return row;
  }
  void add_up(int t) {
    G[t] = grid<N>(s.shape.Dk + 1, s.shape.Dk + 1);
    for (int i = 0; i <= t; ++i) add_outer(G[t], weighted(t, i), X[t][i]);
    for (int c = 1; c <= s.shape.Dk; ++c) G[t][c][c] = G[t][c][c] + N(ridge);
  }
  /// Factorises G = L D L^T. Returns L below the diagonal and D on it; the upper half is not used.
  Grid<N> factorised(int t) const {
    Grid<N> rest = G[t], L = G[t];
    for (size_t j = 0; j < L.size(); ++j) {
      L[j][j] = rest[j][j];
      for (size_t i = j + 1; i < L.size(); ++i) {
        L[i][j] = rest[i][j] / rest[j][j];
        for (size_t c = j + 1; c <= i; ++c) rest[i][c] = rest[i][c] - L[i][j] * rest[c][j];
      }
    }
    return L;
  }
  /// The constant terms M0 of one prefix.
  Row<N> read(int t) const {
    const Grid<N> L = factorised(t);
    Grid<N> M = grid<N>(int(L.size()), s.shape.Dv); // first X^T W V, then the solution
    for (int i = 0; i <= t; ++i) add_outer(M, weighted(t, i), tokens.v[i]);
    for (size_t i = 0; i < L.size(); ++i)
      for (size_t j = 0; j < i; ++j) add(M[i], N(0) - L[i][j], M[j]);
    for (size_t i = L.size(); i-- > 0;) {
      for (N &x : M[i]) x = x / L[i][i];
      for (size_t j = i + 1; j < L.size(); ++j) add(M[i], N(0) - L[j][i], M[j]);
    }
    return M[0];
  }
};

struct LocalCosts {
  double numbers = 0, grams = 0, gram_numbers = 0, factors = 0;
  Grid<Counted> reads;
  explicit LocalCosts(const Sequence &s) {
    LocalFits<Counted> fits(s);
    for (int t = 0; t < s.shape.T; ++t) {
      fits.materialise(t);
      numbers += double(fits.X[t].size() * fits.X[t][0].size());
      grams += count([&] { fits.add_up(t); });
      gram_numbers += double(fits.G[t].size() * fits.G[t][0].size());
      factors += count([&] { fits.factorised(t); });
      reads.push_back(fits.read(t));
    }
  }
};

/// The statement: the counted algorithm, which solves by elimination, gives the layer's reads on every prefix.
Point computes_the_layer(const LocalCosts &costs, const Sequence &s) {
  return measured("local_linear", s, {{"ridge", number(ridge)}}).against(values_of(costs.reads), 16 / ridge);
}

Sequence twice_as_wide(const Shape &s, Seed seed) { return random_sequence({1, 1, s.T, 2 * s.Dk, s.Dv}, seed); }

Claim gram_matrices() {
  ClaimBuilder c("local-linear-complexity-gram", "003 §4, higher-order attention");
  c.says("Computing the Gram matrices $X_t^T W_t X_t$ of all $T$ prefixes takes $O(T^2 Dk)$ time.");
  c.exactly("The time is $O(T^2 Dk^2)$: $T (T + 1) / 2 (Dk + 1)(Dk + 2)$ products. The weights change with the query, "
            "so no Gram matrix follows from the previous one by adding one outer product.");
  c.because("One power of Dk is missing: each of the $T (T + 1) / 2$ pairs adds an outer product of width $Dk + 1$. "
            "The three other costs that the paper gives in the same place are right.");
  c.is_refuted(
      asserted("§4, higher-order attention: 'Computing {$X_t^T W_t X_t$} requires $O(T^2 D_k)$ time'.",
               "all $T$ prefixes", "The next clause gives the cost of the solves, $O(T D_k^3)$, which is right.",
               "One power of $D_k$ is missing: $T^2/2$ outer products of width $D_k + 1$ cost $O(T^2 D_k^2)$. The "
               "conclusion that the form is impractical for all but the smallest problems becomes stronger."));
  c.runs({"local_linear"}), c.takes(local_fit);
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    if (shape.T < 2 * shape.Dk + 2) usage_error("T must be at least 2 Dk + 2, for Gram matrices of full rank");
    const Sequence s = random_sequence(shape, seed), wide = twice_as_wide(shape, seed);
    const double T = s.shape.T, n = s.shape.Dk + 1, pairs = T * (T + 1) / 2;
    const LocalCosts costs(s);
    const double wide_cost = LocalCosts(wide).grams;
    // A recurrence cannot make this cheaper: each query gives all keys new weights, so successive Gram matrices differ
    // by a matrix of full rank.
    const auto change_rank = [&](const Sequence &s) {
      const int t = std::min(s.shape.T, 2 * s.shape.Dk + 4) - 1;
      LocalFits<Counted> fits(s);
      const auto gram = [&](int step) {
        fits.materialise(step), fits.add_up(step);
        return Dense(int(n), int(n), values_of(fits.G[step]));
      };
      const Vector values = singular_values(gram(t) - gram(t - 1));
      return double(std::count_if(values.begin(), values.end(), [&](double x) { return x > 1e-12 * values.front(); }));
    };
    Sequence one_query = s; // the same query at every step, so the weights do not change
    for (size_t i = s.shape.Dk; i < s.q.size(); ++i) one_query.q[i] = s.q[i % s.shape.Dk];
    points.rounding(0).statement("products of all Gram matrices: twice as many at twice the width", wide_cost,
                                 2 * costs.grams);
    points
        .obligation("products of all Gram matrices: $T (T + 1) / 2 (Dk + 1)(Dk + 2)$", costs.grams, pairs * n * (n + 1))
        .but_not("$T^2 (Dk + 1)(Dk + 2)$", T * T * n * (n + 1))
        .but_not("$T (T + 1) (Dk + 1)$", pairs * n * 2);
    points.obligation("products of all Gram matrices at twice the width: $T (T + 1) / 2 (2 Dk + 1)(2 Dk + 2)$",
                      wide_cost, pairs * (2 * n - 1) * 2 * n);
    points.wrong_system("products of all Gram matrices at the width Dk: $T (T + 1) / 2 (2 Dk + 1)(2 Dk + 2)$",
                        costs.grams, pairs * (2 * n - 1) * 2 * n);
    points.obligation("rank of $G_t - G_{t-1}$, $G_t = X_t^T W_t X_t$: $Dk + 1$", change_rank(s), n);
    points.wrong_system("rank of $G_t - G_{t-1}$ if every query is the same: $Dk + 1$", change_rank(one_query), n);
    points.obligation("the counted algorithm gives the outputs of the layer", computes_the_layer(costs, s));
  });
}

Claim other_costs() {
  ClaimBuilder c("local-linear-complexity-other", "003 §4, higher-order attention");
  c.says("Storing all $X_t$ takes $O(T^2 Dk)$ space, and storing their Gram matrices $O(T Dk^2)$; solving the $T$ "
         "systems takes $O(T Dk^3)$ time.");
  c.exactly("All $X_t$ have $T (T + 1) / 2 (Dk + 1)$ numbers, the Gram matrices $T (Dk + 1)^2$. The solves take $T (Dk "
            "+ 1)^3 / 6$ products to the leading order ($T (Dk + 1)^3 / 3$ operations if additions are counted too).");
  c.runs({"local_linear"}), c.takes(local_fit);
  return c.measure([](Points &points, const Params &p, const Protocol &protocol) {
    const Sequence s = random_sequence(shape_of(p), protocol.seed), wide = twice_as_wide(s.shape, protocol.seed);
    const LocalCosts costs(s), wide_costs(wide);
    const auto law = [&](const char *what, double LocalCosts::*cost, const auto &formula, const char *rival,
                         const auto &wrong) {
      for (const auto &[measured, shape] : {std::pair{costs.*cost, s.shape}, {wide_costs.*cost, wide.shape}}) {
        const double T = shape.T, n = shape.Dk + 1;
        points.at(params_of(shape)).rounding(0).statement(what, measured, formula(T, n)).but_not(rival, wrong(T, n));
      }
    };
    law(
        "numbers in all $X_t$: $T (T + 1) / 2 (Dk + 1)$", &LocalCosts::numbers,
        [](double T, double n) { return T * (T + 1) / 2 * n; }, "$T^2 (Dk + 1)$",
        [](double T, double n) { return T * T * n; });
    law(
        "numbers in all Gram matrices: $T (Dk + 1)^2$", &LocalCosts::gram_numbers,
        [](double T, double n) { return T * n * n; }, "$T (T + 1) / 2 (Dk + 1)^2$",
        [](double T, double n) { return T * (T + 1) / 2 * n * n; });
    law(
        "products of all eliminations: $T (n^3 + 3 n^2 - 4 n) / 6$, $n = Dk + 1$", &LocalCosts::factors,
        [](double T, double n) { return T * (n * n * n + 3 * n * n - 4 * n) / 6; }, "$T n (n - 1) / 2$",
        [](double T, double n) { return T * n * (n - 1) / 2; });
    points.at(p).obligation("the counted algorithm gives the outputs of the layer", computes_the_layer(costs, s));
  });
}
} // namespace

std::vector<Claim> costs_of_attention() { return {time(), memory_grows(), gram_matrices(), other_costs()}; }
} // namespace recollect::theory
