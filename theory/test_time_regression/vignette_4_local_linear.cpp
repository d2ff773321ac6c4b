// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 4, p = 1: the locally linear fit (Eq 52-54), which maps it reproduces exactly, and for which prefixes
// the inverse does not exist.
#include "theory/test_time_regression/local_weights.hpp"

namespace recollect::theory {
namespace {
/// Eq 52-53 at the query of one step: X has rows (1, k_i - q).
struct LocalData {
  Dense X, V;
  Vector w;
  LocalData(const Sequence &s, int t)
      : X(t + 1, s.shape.Dk + 1), V(rows_of(s.v, t + 1, s.shape.Dv)), w(weights_at(s, t)) {
    for (int i = 0; i <= t; ++i) {
      X(i, 0) = 1;
      for (int c = 0; c < s.shape.Dk; ++c) X(i, 1 + c) = s.k[i * s.shape.Dk + c] - s.q[t * s.shape.Dk + c];
    }
  }
  Dense scaled(Dense m, double power) const {
    for (int i = 0; i < m.rows; ++i)
      for (int c = 0; c < m.columns; ++c) m(i, c) *= std::pow(w[i], power);
    return m;
  }
  /// (V^T W X) (X^T W X + penalties)^{-1} = [M0 M1], [Dv, 1 + Dk]; Eq 52 without penalties.
  Dense eq52(double constant = 0, double slopes = 0) const {
    Dense G = transpose(X) * scaled(X, 1);
    for (int c = 0; c < G.rows; ++c) G(c, c) += c ? slopes : constant;
    return transpose(V) * scaled(X, 1) * inverse(G);
  }
  /// The minimiser of the weighted loss that has the smallest norm.
  Dense minimiser() const { return transpose(pseudo_inverse(scaled(X, 0.5)) * scaled(V, 0.5)); }
  int rank() const {
    const Vector values = singular_values(scaled(X, 0.5));
    return int(std::count_if(values.begin(), values.end(), [&](double x) { return x > 1e-12 * values.front(); }));
  }
  /// vbar + sign * M1 dbar. M = [M0 M1]; vbar and dbar are the weighted means of v_i and of k_i - q. In Eq 54 the sign
  /// is -1.
  Dense offset_mean(const Dense &M, double sign = -1) const {
    Dense M1 = M, centre = weighted_mean(X, w);
    centre.data[0] = 0; // leaves out the column of ones of X
    return weighted_mean(V, w) + sign * M1 * centre;
  }
  /// Bound on the rounding error of the normal equations, in units of eps: the squared condition number of the scaled
  /// design matrix, times the sizes of M and X. The error that `ridge` causes is added, because the layer cannot run
  /// without a ridge.
  double units(const Dense &M, double ridge = 0) const {
    const Vector values = singular_values(scaled(X, 0.5));
    const double largest = values.front(), least = values[rank() - 1];
    return 16.0 * X.rows * X.columns * std::pow(largest / least, 2) * (1 + frobenius_norm(M)) * (1 + max_abs(X.data)) +
           ridge / epsilon_of(Real::f64) / (least * least) * frobenius_norm(M);
  }
};

/// M0, the first column of M: the fit's value at the query.
Vector constants(const Dense &M) {
  Vector M0;
  for (int i = 0; i < M.rows; ++i) M0.push_back(M(i, 0));
  return M0;
}
Vector reads_at(const Vector &reads, int t, int width) { return column(reads, t, width).data; }
Vector layer(const Sequence &s, double ridge) { return results_of("local_linear", s, {{"ridge", number(ridge)}}); }
/// The smallest ridge on the slopes that the layer accepts, used for "no ridge".
constexpr double no_ridge = 1e-12;

const std::vector<ParamSpec> one_head = one_head_params(point_P);

/// The steps at which the equations are well conditioned: from Dk + 3 pairs on.
std::vector<int> solvable_steps(const Shape &shape) {
  if (shape.T < shape.Dk + 3) usage_error("Eq 52 is measured from Dk + 3 pairs on: T = " + std::to_string(shape.T));
  return {shape.Dk + 2, shape.T - 1};
}

Claim eq52_54() {
  ClaimBuilder c("local-linear-eq52-54", "003 Eq 52-54");
  c.says("The $p = 1$ fit with weights $s(k_i, q)$ is $[M0 M1] = (V^T W X)(X^T W X)^{-1}$, where $X$ has the rows $(1, "
         "k_i - q)$. Its value at the query is $M0 = vbar - M1 dbar$, where $vbar$ and $dbar$ are the weighted means "
         "of $v_i$ and $k_i - q$. So it is softmax attention ($vbar$) with an offset.");
  c.exactly("This is an identity, for positive weights on at least $Dk + 1$ affinely independent keys. It is compared "
            "with the minimiser of the weighted loss, computed by a decomposition of the design matrix.");
  c.runs({"local_linear", "softmax_qknorm"}), c.takes(one_head);
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = random_sequence(shape, seed);
    const Vector reads = layer(s, no_ridge), means = results_of("softmax_qknorm", s);
    for (int t : solvable_steps(s.shape)) {
      const LocalData x(s, t);
      LocalData unweighted = x, uncentred = x;
      unweighted.w.assign(t + 1, 1);
      for (int i = 0; i <= t; ++i)
        for (int c = 0; c < s.shape.Dk; ++c) uncentred.X(i, 1 + c) = s.k[i * s.shape.Dk + c];
      const Dense M = x.minimiser();
      const Vector read = reads_at(reads, t, shape.Dv);
      const std::string after = ", " + std::to_string(t + 1) + " pairs";
      points.rounding(x.units(M, no_ridge));
      points.statement("Eq 52 minimises the loss" + after, x.eq52(), M)
          .but_not("no weights" + after, unweighted.minimiser())
          .but_not("keys not centred at q" + after, uncentred.minimiser());
      points.statement("the layer reads M0" + after, read, constants(M));
      points.wrong_system("$p = 0$" + after, reads_at(means, t, shape.Dv), constants(M));
      points.statement("Eq 54: M0 = vbar - M1 dbar" + after, read, x.offset_mean(M).data)
          .but_not("vbar + M1 dbar" + after, x.offset_mean(M, +1).data);
    }
  });
}

/// v_i = B k_i + c + bend (B k_i)^2, channel by channel.
Sequence with_map(Sequence s, const Dense &B, const Dense &c, double bend) {
  for (int i = 0; i < s.shape.T; ++i) {
    const Dense linear = B * column(s.k, i, s.shape.Dk);
    for (int j = 0; j < s.shape.Dv; ++j)
      s.v[i * s.shape.Dv + j] = linear.data[j] + c.data[j] + bend * linear.data[j] * linear.data[j];
  }
  return s;
}

Claim affine_exact() {
  ClaimBuilder c("local-linear-affine-exact", "003 §4, p = 1 (derived)");
  c.says("If the values are an affine map of the keys, the fit with $p = 1$ reproduces the map, and the fit with $p = "
         "0$ does not.");
  c.exactly("For values $v_i = B k_i + c$ the fit has $M0 = B q + c$ and $M1 = B$. Softmax attention ($p = 0$) has the "
            "error $B dbar$, where $dbar$ is the weighted mean of $k_i - q$.");
  c.runs({"local_linear", "softmax_qknorm", "rls"}), c.takes(one_head);
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Dense B = normal_matrix(shape.Dv, shape.Dk, seed, "affine map/slopes"),
                c = normal_matrix(shape.Dv, 1, seed, "affine map/constant");
    const Sequence straight = with_map(random_sequence(shape, seed), B, c, 0), bent = with_map(straight, B, c, 1);
    Sequence origin = straight;
    std::fill(origin.q.begin(), origin.q.end(), 0.0);
    const Vector reads = layer(straight, no_ridge), means = results_of("softmax_qknorm", straight);
    for (int t : solvable_steps(shape)) {
      const LocalData x(straight, t), around_origin(origin, t);
      const Dense q = column(straight.q, t, shape.Dk), value = B * q + c;
      const Dense dbar = -1.0 * q + weighted_mean(rows_of(straight.k, t + 1, shape.Dk), x.w); // kbar - q
      Dense right(shape.Dv, shape.Dk + 1);                                                    // [B q + c, B]
      for (int i = 0; i < shape.Dv; ++i)
        for (int j = 0; j <= shape.Dk; ++j) right(i, j) = j ? B(i, j - 1) : value.data[i];
      const std::string after = ", " + std::to_string(t + 1) + " pairs";
      const auto read = [&](const Vector &reads) { return reads_at(reads, t, shape.Dv); };
      points.rounding(x.units(right, no_ridge)).statement("$[M0 M1] = [B q + c, B]$" + after, x.eq52(), right);
      points.wrong_system("values that are quadratic in the key" + after, LocalData(bent, t).eq52(), right);
      points.statement("the layer reads $B q + c$" + after, read(reads), value.data);
      points.wrong_system("$p = 0$ reads $B q + c$" + after, read(means), value.data);
      points.obligation("$p = 0$ reads $B q + c + B dbar$" + after, read(means), (value + B * dbar).data)
          .but_not("$p = 0$ reads $B q + c - B dbar$" + after, (value - B * dbar).data);
      points.rounding(around_origin.units(right, no_ridge));
      points.statement("the layer reads c at $q = 0$" + after, read(layer(origin, no_ridge)), c.data);
      points.wrong_system("a fit without a constant reads c at $q = 0$" + after,
                          read(run("rls", origin, {{"ridge", "1e-12"}}).o), c.data);
    }
  });
}

Claim underdetermined() {
  ClaimBuilder c("local-linear-underdetermined", "003 Eq 52, t < Dk + 1");
  c.says("Eq 52 gives a prediction for every prefix.");
  c.exactly("For the first $Dk$ prefixes the inverse does not exist. Eq 54 still holds with the pseudo-inverse "
            "instead, or with a ridge on the slopes alone, but not if the constant is penalised too.");
  c.because("The paper plots every step of Fig 2. The first quarter of Fig 2 $(T/4 = Dk = 64)$ consists exactly of the "
            "prefixes without an inverse, and the paper does not say what replaces the inverse. The closed form is "
            "right from $t = Dk + 1$ on.");
  c.is_refuted(stricter("Eq 52 and 53.", "$D_k = 64$, every step of Fig 2 is plotted",
                        "The paper does not say what replaces the inverse at $t < D_k + 1$."));
  c.runs({"local_linear"}), c.takes({integer_param("T", 64, 4, 1024, "prefixes"),
                                     integer_param("Dk", 16, 3, 64, "key width, at most $T / 2$"),
                                     integer_param("Dv", 3, 1, 64, "value width")});
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    if (2 * shape.Dk > shape.T) usage_error("take Dk <= T / 2, so that half of the prefixes have an inverse");
    const Sequence s = random_sequence(shape, seed);
    double singular = 0;
    for (int t = 0; t < 2 * shape.Dk; ++t) singular += LocalData(s, t).rank() < shape.Dk + 1;
    points.rounding(0).statement("number of prefixes without an inverse: 0", singular, 0);
    points.obligation("number of prefixes without an inverse: $Dk$", singular, shape.Dk)
        .but_not("$Dk - 1$", shape.Dk - 1)
        .but_not("$Dk + 1$", shape.Dk + 1);
    const int t = shape.Dk / 2; // Eq 54 needs no inverse
    const LocalData x(s, t);
    const Dense shortest = x.minimiser(), ridge = x.eq52(0, 0.1), everything = x.eq52(0.5, 0.1);
    points.rounding(x.units(shortest));
    points.obligation("Eq 54 holds with the pseudo-inverse", constants(shortest), x.offset_mean(shortest).data)
        .but_not("vbar + M1 dbar by the pseudo-inverse", x.offset_mean(shortest, +1).data);
    const Vector read = reads_at(layer(s, 0.1), t, shape.Dv);
    points.rounding(x.units(ridge) / 0.1);
    points.obligation("Eq 54 holds for the layer with a ridge on the slopes", read, x.offset_mean(ridge).data);
    points.wrong_system("Eq 54 with the constant penalised as well", constants(everything), x.offset_mean(ridge).data);
  });
}
} // namespace

std::vector<Claim> vignette_4_local_linear() { return {eq52_54(), affine_exact(), underdetermined()}; }
} // namespace recollect::theory
