// SPDX-License-Identifier: Apache-2.0
// How an error in the weights propagates to u = A1^{-1} v and o = A2 u (000 Eq 50-52), where A1 = I + A with A strictly
// lower. The layer delta_former runs on the right weights and on wrong ones: with orthonormal keys and linear kernels,
// w_t is a row of A and q_t a row of A2. Norms are spectral unless another norm is named.
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"
#include "theory/associative_memory/tracking/swaps.hpp"

namespace recollect::theory {
namespace {
/// A holds the weights of a delta rule on unit keys. The error dA is strictly lower and has spectral norm 1.
struct Case {
  Dense A, dA, V;
  Case(int T, int d, std::uint64_t seed)
      : dA(normal_matrix(T, T, seed, "perturbation/error")), V(normal_matrix(T, 4, seed, "perturbation/values")) {
    const Dense K = unit_rows(T, d, seed, "perturbation/keys");
    A = causal_weights(K, K, linear_kernel, Triangle::strict);
    for (int t = 0; t < T; ++t)
      for (int i = t; i < T; ++i) dA(t, i) = 0;
    dA = 1 / spectral_norm(dA) * dA;
  }
};

Claim first_order() {
  ClaimBuilder c("eq51-perturbation", "000 §3.2, Eq 51");
  c.says("For an error $dA$ of $A1 = I + A$, $|(A1 + dA)^{-1} V - A1^{-1} V|$ is about $|A1^{-1} dA A1^{-1} V|$, which "
         "is at most $|A1^{-1}|^2 |dA| |V|$.");
  c.exactly("The first expression is right to first order in $dA$: the remainder is $A1^{-1} dA A1^{-1} dA A1^{-1} V + "
            "O(|dA|^3)$. The inequality between the last two expressions holds for every $dA$.");
  c.because("The bound is meant for the first-order term. A bound of the whole change needs the further factor $1/(1 - "
            "|A1^{-1}| |dA|)$ (eq51_strict_lower).");
  c.holds_asymptotically(), c.runs({"delta_former"});
  c.takes(
      {steps_param(16, 3, 64), key_width_param(8, 2, 256), real_param("norm", 1e-3, 1e-4, 1, "spectral norm of dA")});
  c.at({{{"norm", 1e-2}}, {}, {{"norm", 1e-4}}});
  c.last([](Points &points, const Protocol &) {
    // A = 1/2, dA = V = 1: the bound, 4, is attained up to the rounding of two norms.
    const Dense half(1, 1, {0.5}), product = inverse(half) * inverse(half);
    const double inverse_half = spectral_norm(inverse(half));
    points.at({{"T", 1}, {"A", 0.5}})
        .obligation("first-order change of u, at most $|A1^-1|^2 |dA| |V|$",
                    at_most_point(product(0, 0), inverse_half * inverse_half, 16 * 4 * epsilon_of(Real::f64)))
        .but_not("$|A1^-1|$ in place of its square", inverse_half);
    Dense steps(3, 3); // A = 0, V = I, where the whole change exceeds the bound
    steps(1, 0) = steps(2, 1) = -0.5;
    const double change = spectral_norm(written(steps, Dense::identity(3)) - Dense::identity(3));
    points.at({{"T", 3}, {"norm", 0.5}})
        .wrong_system("the whole change, at most the bound of the first-order change",
                      at_most_point(change, spectral_norm(steps), 0));
  });
  return measure(c, [](Points &points, Seed seed, int T, int d, double norm) {
    const Case c(T, d, seed);
    const Dense inverse_A = inverse(Dense::identity(T) + c.A), U = inverse_A * c.V;
    const double reach = spectral_norm(inverse_A);
    const Dense dA = norm * c.dA, first = -1 * (inverse_A * (dA * U)), second = -1 * (inverse_A * (dA * first)),
                third = -1 * (inverse_A * (dA * second));
    const double x = reach * norm;
    if (x > 0.5) usage_error("first order needs |A^-1| |dA| well below 1, here it is " + number(x));
    const Vector change = minus(written(c.A + dA, c.V).data, written(c.A, c.V).data);
    const double units = solve_units(c.A, U), rounding = 4 * units * epsilon_of(Real::f64);
    points.rounding(4 * units).statement("change of u, to first order", change, first.data);
    // the change beyond second order: the third and all later orders, each at most x times the previous one
    const double allowed = (frobenius_norm(third) / (1 - x) + rounding) / (norm * norm) / epsilon_of(Real::f64);
    const Vector left = minus(change, first.data, norm * norm);
    const auto held = [&](const Dense &law) { return exact_point(left, (1 / (norm * norm) * law).data, allowed); };
    points.limit("(change of u - its first order) / $|dA|^2$, against the second order", held(second))
        .but_not("0, as if the first order were exact", held(0 * second))
        .but_not("the second order with the opposite sign", held(-1 * second));
    points.obligation("first-order change of u, at most $|A1^-1|^2 |dA| |V|$",
                      at_most_point(spectral_norm(first), reach * reach * norm * spectral_norm(c.V), 0));
  });
}

Claim strict() {
  ClaimBuilder c("eq51-strict-lower", "000 §3.2, Eq 51");
  c.says("Stricter reading: $|(A1 + dA)^{-1} V - A1^{-1} V| <= |A1^{-1}|^2 |dA| |V|$ holds exactly for the triangular "
         "matrices in use.");
  c.is_refuted(limited("Eq 51: $|(A1 + dA)^{-1} V - A1^{-1} V| ~ |A1^{-1} dA A1^{-1} V| <= |A1^{-1}|^2 |dA| |V|$.",
                       "small perturbations", "The sign before the bound is 'about', so it is meant to first order."));
  c.exactly("A counter-example is $A1 = V = I$ and $dA = -a$ on the first subdiagonal of a 3 x 3 matrix: the square of "
            "$dA$ adds an entry, and the norm of the change is $a (a + sqrt(a^2 + 4)) / 2 > a$. Divided by $1 - "
            "|A1^{-1}| |dA|$, the bound holds exactly.");
  c.because("The bound is meant to first order (eq51_perturbation).");
  c.runs({"delta_former"}), c.takes({real_param("norm", 0.5, 0.01, 0.9, "a, where dA is -a on the first subdiagonal")});
  return measure(c, [](Points &points, double a) {
    const auto change = [&](int size) {
      Dense dA(size, size);
      for (int t = 1; t < size; ++t) dA(t, t - 1) = -a;
      return spectral_norm(written(dA, Dense::identity(size)) - Dense::identity(size));
    };
    const double law = a * (a + std::sqrt(a * a + 4)) / 2;
    points.at({{"norm", a}, {"size", 3}})
        .statement("norm of the change of u, at most $|dA|$", at_most_point(change(3), a, 0));
    points.rounding(64)
        .obligation("norm of the change of u: $a (a + sqrt(a^2 + 4)) / 2$", change(3), law)
        .but_not("$a$, without the square of dA", a);
    points.wrong_system("2 x 2 matrices, where $dA^2 = 0$", change(2), law);
    points.obligation("norm of the change of u, at most $|dA| / (1 - |dA|)$", at_most_point(change(3), a / (1 - a), 0));
  });
}

/// o = A2 U of the layer, where beta = 0 makes u equal to the values.
Dense read_with(const Dense &A2, const Dense &U) {
  const int T = A2.rows;
  Sequence s = of_shape({1, 1, T, T, U.columns});
  s.k = s.w = Dense::identity(T).data, s.q = A2.data, s.v = U.data;
  s.alpha.assign(T, 1.0), s.beta.assign(T, 0.0);
  return {T, U.columns, run("delta_former", s).o};
}

Claim product() {
  ClaimBuilder c("eq52-perturbation", "000 §3.2, Eq 52");
  c.says("For an error $dA$ of $A2$, $|(A2 + dA) U - A2 U| = |dA U| <= |dA| |U|$.");
  c.exactly("This is exact for $dA$ of any size. Equality holds if $U$ lies along the leading direction of $dA$.");
  c.runs({"delta_former"}), c.takes({steps_param(16, 2, 64), real_param("norm", 1, 1e-3, 1e3, "spectral norm of dA")});
  c.at({{{"norm", 1e-3}}, {}, {{"norm", 1e3}}});
  c.last([](Points &points, const Protocol &) {
    // dA = ones on and below the diagonal of 2 x 2, U = (golden ratio, 1) along its leading direction.
    const double golden = (1 + std::sqrt(5)) / 2;
    const Dense ones(2, 2, {1, 0, 1, 1}), along(2, 1, {golden, 1}), zero(2, 2);
    const double moved = frobenius_norm(read_with(ones, along) - read_with(zero, along));
    points.at({{"T", 2}, {"norm", golden}})
        .rounding(32)
        .obligation("change of o where the bound is attained, against golden ratio times $|U|$", moved,
                    golden * frobenius_norm(along))
        .but_not("the largest entry of dA in place of its spectral norm",
                 at_most_point(moved, frobenius_norm(along), 0))
        .but_not("the Frobenius norm of dA in place of its spectral norm", std::sqrt(3) * frobenius_norm(along));
  });
  return measure(c, [](Points &points, Seed seed, int T, double norm) {
    const Case c(T, 8, seed);
    const Dense A2 = Dense::identity(T) + c.A, U = c.V, dA = norm * c.dA;
    const Vector change = minus(read_with(A2 + dA, U).data, read_with(A2, U).data),
                 twice = minus(read_with(A2 + 2 * dA, U).data, read_with(A2, U).data);
    const double size = spectral_norm(U), units = 4.0 * T * (spectral_norm(A2) + norm) * size;
    points.rounding(units).statement("change of o, against $dA U$", change, (dA * U).data);
    points.wrong_system("$2 dA$ in place of dA", twice, (dA * U).data);
    points.statement(
        "norm of the change of o, at most $|dA| |U|$",
        at_most_point(spectral_norm(Dense(T, U.columns, change)), norm * size, units * epsilon_of(Real::f64)));
  });
}

/// The effects of one unit of error in each single entry of A, and of A2: the sums of |du|^2 and of |do|^2 over i < t.
/// Both are exact, because an error in row t does not change any u before t. The mean squares of independent errors add
/// up.
std::pair<double, double> effects(const Dense &A, const Dense &A2, const Dense &V) {
  const Dense U = written(A, V), o = read_with(A2, U);
  double of_u = 0, of_o = 0;
  for (int t = 1; t < A.rows; ++t)
    for (int i = 0; i < t; ++i) {
      Dense erase = A, read = A2;
      erase(t, i) += 1, read(t, i) += 1;
      of_u += std::pow(frobenius_norm(written(erase, V) - U), 2);
      of_o += std::pow(frobenius_norm(read_with(read, U) - o), 2);
    }
  return {of_u, of_o};
}

/// By power iteration: of the unit vectors whose first element is 0, the vector that A1^{-1} shrinks most.
Dense shrunk_most(const Dense &A1) {
  Dense x(A1.rows, 1, Vector(A1.rows, 1.0));
  for (int i = 0; i < 200; ++i) {
    x(0, 0) = 0;
    x = A1 * (transpose(A1) * x);
    x(0, 0) = 0;
    x = 1 / frobenius_norm(x) * x;
  }
  return x;
}

Claim u_against_o() {
  ClaimBuilder c("u-less-stable-than-o", "000 §3.2 after Eq 52");
  c.says("Under perturbations of the score matrices the calculation of $u$ is less stable than that of $o$.");
  c.exactly("The bound of Eq 51 divided by the bound of Eq 52 is at least $|A1^{-1}| >= 1$. For independent errors of "
            "equal size in the entries, $mean |du|^2 / mean |do|^2 = sum_t |A1^{-1} e_t|^2 |U_{<t}|^2 / sum_t "
            "|U_{<t}|^2 >= 1$, with equality only for $A1 = I$. Here $U_{<t}$ are the rows of $U$ before $t$, and "
            "$e_t$ is the unit vector of step $t$. So the statement holds on average, not for every error.");
  c.runs({"delta_former"});
  c.takes({integer_param("n", 5, 2, 16, "elements"), integer_param("swaps", 16, 1, 32, "exchanges"),
           real_param("cosine", 0.1, -0.05, 0.12, "inner product of any two keys")});
  return measure(c, [](Points &points, Seed seed, int n, int most, double cosine) {
    const std::vector<std::pair<std::string, Kernel>> kernels{
        {"round", round_kernel}, {"linear", linear_kernel}, {"exp", exp_kernel}, {"softmax", exp_kernel}};
    for (const auto &[name, f] : kernels) {
      // The exp kernel loses one digit per swap, so it runs four swaps at most.
      const int swaps = name == "exp" ? std::min(4, most) : most;
      const Dense keys = key_rows({"equicorrelated", n, n, cosine}, seed);
      const Sequence told = slice_steps(tell_swaps(keys, swaps, seed).sequence, 0, n + swaps);
      const Shape &shape = told.shape;
      const Dense k = head_rows(told.k, shape, 0, n), q = head_rows(told.q, shape, 0, n);
      Dense V(shape.T, n); // one-hot values for the writes, zero for the swaps
      for (int i = 0; i < n; ++i) V(i, i) = 1;
      Dense A = causal_weights(k, k, f, Triangle::strict), A2 = causal_weights(k, q, f, Triangle::with_diagonal);
      if (name == "softmax") A = normalise_sums(A), A2 = normalise_sums(A2);
      const Dense A1 = Dense::identity(shape.T) + A, inverse_A = inverse(A1), U = solve_unit_lower(A, V);
      double above = 0, below = 0, before = 0;
      for (int t = 1; t < shape.T; ++t) {
        double column = 0;
        for (int i = t; i < shape.T; ++i) column += std::pow(inverse_A(i, t), 2);
        for (int c = 0; c < n; ++c) before += std::pow(U(t - 1, c), 2);
        above += column * before, below += before;
      }
      const auto [of_u, of_o] = effects(A, A2, V);
      const double ratio = std::sqrt(of_u / of_o), units = solve_units(A, U) * frobenius_norm(inverse_A);
      points.at({{"kernel", name}, {"n", n}, {"T", shape.T}})
          .statement("root mean square of du / root mean square of do, at least 1", at_least_point(ratio, 1, 0));
      points.rounding(units)
          .obligation("root mean square of du / root mean square of do, against the sum over columns in the exact form",
                      ratio, std::sqrt(above / below))
          .but_not("ratio 1", 1)
          .but_not("$|A^-1|_F / sqrt T$", frobenius_norm(inverse_A) / std::sqrt(shape.T));
      // One error x e_1^T: du = -A^{-1} x u_1^T and do = x u_1^T.
      const Dense x = shrunk_most(A1);
      Dense erase = A, read = A2;
      for (int t = 1; t < shape.T; ++t) erase(t, 0) += x(t, 0), read(t, 0) += x(t, 0);
      const double of_single = frobenius_norm(read_with(read, U) - read_with(A2, U));
      points.wrong_system("a single error that harms o more than u",
                          at_least_point(frobenius_norm(written(erase, V) - U) / of_single, 1, 0));
    }
  });
}
} // namespace

std::vector<Claim> perturbation() { return {first_order(), strict(), product(), u_against_o()}; }
} // namespace recollect::theory
