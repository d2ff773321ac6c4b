// SPDX-License-Identifier: Apache-2.0
// Grouped lookups on u (000 E.2, Eq 111). A sum of four exponentials with w^j = j k equals f(x) = x at -1, 0, 1 and 2,
// but on no neighbourhood of these points. Sums of linear similarities are linear. lookup_cache.cpp measures what the
// layer must store for such lookups.
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"
#include "theory/associative_memory/tracking/swaps.hpp"

namespace recollect::theory {
namespace {
/// The equations sum_j a_j exp(j x) = x at the four points.
Dense fit_matrix() {
  Dense M(4, 4);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) M(i, j) = std::exp((j + 1) * integers[i]);
  return M;
}

Vector fitted_weights() { return (inverse(fit_matrix()) * Dense(4, 1, integers)).data; }

/// sum_j a_j j^derivative exp(j x).
double fitted(double x, int derivative = 0) {
  const Vector a = fitted_weights();
  double sum = 0;
  for (int j = 0; j < 4; ++j) sum += a[j] * std::pow(j + 1, derivative) * std::exp((j + 1) * x);
  return sum;
}

/// Bound on the rounding error of f near the four points, in units of eps, from the largest term of f. The weights are
/// accurate to cond(M) = 1e5 units.
double fit_units() {
  const Vector a = fitted_weights(), s = singular_values(fit_matrix());
  double largest = 0;
  for (int j = 0; j < 4; ++j) largest = std::max(largest, std::fabs(a[j]) * std::exp(2.0 * (j + 1)));
  return 4 * s.front() / s.back() * largest / std::exp(8.0) + 64 * largest;
}

const Assignments four_exponentials{{"groups", "4"}};

Claim four_points() {
  ClaimBuilder c("gqa-four-point-fit", "000 E.2, Eq 111");
  c.says("With $w_t^j = j k_t$ there are weights $a_1 ... a_4$ such that $sum_{j=1}^4 a_j exp(j x) = x$ at $x = -1$, "
         "0, 1, 2.");
  c.exactly("These weights are unique: their equations are a generalised Vandermonde system in the nodes $e^{-1}$, 1, "
            "$e$, $e^2$, which are distinct and not zero.");
  c.runs({"delta_former"});
  return measure(c, [](Points &points) {
    const auto f = [](const Assignments &more) { return similarity_of_layer(integers, "exp", more); };
    double law = 1,
           plain = 1; // prod z_i prod_{i<k} (z_k - z_i) over the nodes z_i; `plain` is without the first product
    for (int i = 0; i < 4; ++i) {
      law *= std::exp(integers[i]);
      for (int k = i + 1; k < 4; ++k) {
        law *= std::exp(integers[k]) - std::exp(integers[i]);
        plain *= std::exp(integers[k]) - std::exp(integers[i]);
      }
    }
    // The determinant, by elimination without pivoting: a totally positive matrix has positive pivots.
    Dense M = fit_matrix();
    double determinant = 1;
    for (int p = 0; p < 4; ++p) {
      determinant *= M(p, p);
      for (int i = p + 1; i < 4; ++i) {
        const double factor = M(i, p) / M(p, p);
        for (int j = p; j < 4; ++j) M(i, j) -= factor * M(p, j);
      }
    }
    points.at({{"G", 4}}).rounding(fit_units());
    points.statement("f of the layer at x = -1, 0, 1, 2, against x", f(four_exponentials), integers);
    points.wrong_system("f of the layer at $x = -2$, as if the fit held there",
                        similarity_of_layer({-2}, "exp", four_exponentials), Vector{-2});
    points.at({{"G", 3}}).wrong_system("the nearest fit by three exponentials", f({{"groups", "3"}}), integers);
    points.at({{"G", 4}}).rounding(1e4 * law);
    points.obligation("determinant of the equations for the weights", determinant, law)
        .but_not("the determinant of the plain Vandermonde matrix", plain);
  });
}

Claim no_neighbourhood() {
  ClaimBuilder c("gqa-fit-assumption2", "000 E.2");
  c.says("Because four exponentials can fit the four points (gqa_four_point_fit), grouped attention with four shared "
         "heads can express an $f$ that fulfils Assumption 2.");
  c.is_refuted(
      limited("E.2: 'a group query attention with four shared heads can express an $f$ that fulfills Assumption 2'.",
              "$G = 4$; $f$ fits the four points -1, 0, 1, 2",
              "The next sentence limits it: 'then we can find that we can track at least $S_d$', for which the four "
              "points suffice."));
  c.exactly("The fit fulfils Assumption 2 at $eps = 0$ only: near the four points it has a slope, $f(x + h) = x + h "
            "f'(x) + ...$. With orthonormal keys it tracks exchanges ($S_d$, as the next sentence of the text says) if "
            "every step subtracts the earlier of its two keys from the later one, as the theorem does. Otherwise the "
            "keys of two steps can have the inner product -2, and $f(-2)$ is not -2.");
  c.because("Four exponentials do fit the four points (gqa_four_point_fit). Assumption 2 asks for a neighbourhood of "
            "each point, and a smooth $f$ with a slope is right on no neighbourhood. The next sentence of the text, "
            "'at least $S_d$', needs only orthonormal keys, for which the fit suffices.");
  c.draws({"swap"}), c.runs({"delta_former"});
  c.takes({real_param("eps", 0.01, 1e-4, 0.1, "bound of Assumption 1"),
           integer_param("n", 5, 3, 12, "orthonormal keys"), integer_param("swaps", 16, 6, 24, "exchanges")});
  return measure(c, [](Points &points, Seed seed, double eps, int n, int swaps) {
    Vector moved, slopes, bent;
    double curvature = 0;
    const double h = 1e-5;
    for (double x : integers) {
      moved.push_back(x + 3.999 * eps), bent.push_back(x + h), slopes.push_back(fitted(x, 1));
      for (double y : {x, x + h}) curvature = std::max(curvature, std::fabs(fitted(y, 2)));
    }
    Vector measured = similarity_of_layer(bent, "exp", four_exponentials);
    for (int i = 0; i < 4; ++i) measured[i] = (measured[i] - integers[i]) / h;
    // The remainder of the difference quotient, h/2 max |f''|, plus rounding divided by h.
    const double allowed = curvature * h / epsilon_of(Real::f64) + fit_units() / h;
    points.at({{"eps", eps}})
        .rounding(fit_units())
        .statement("f of the layer at $x + 4 eps$, against x = -1, 0, 1, 2",
                   similarity_of_layer(moved, "exp", four_exponentials), integers);
    points.at({{"h", h}}).rounding(allowed);
    points.obligation("slope of f at -1, 0, 1, 2, against the derivative of the fit", measured, slopes)
        .but_not("slope 0", Vector(4, 0.0))
        .but_not("slope 1", Vector(4, 1.0));
    // at eps = 0, every weight is an integer up to the rounding error of the fit; every step passes this error on to
    // all later steps
    const double passed_on = 64 * fit_units() * n * std::pow(n + swaps, 3);
    const auto reads = [&](const Dense &keys, Order order, Assignments more) {
      const SwapStory story = tell_swaps(keys, swaps, seed, order);
      more["kappa1"] = "exp", more["kappa2"] = "round";
      return exact_point(run("delta_former", story.sequence, more).o, story.target, passed_on);
    };
    Assignments rounded = four_exponentials;
    const Vector a = fitted_weights();
    for (int j = 0; j < 4; ++j) rounded["a" + std::to_string(j + 1)] = number(std::nearbyint(100 * a[j]) / 100);
    const Dense orthonormal = Dense::identity(n), leaning = key_rows({"equicorrelated", n, n, 0.1}, seed);
    points.at({{"n", n}, {"swaps", swaps}})
        .obligation("every read of exchanges with orthonormal keys",
                    reads(orthonormal, Order::later_minus_earlier, four_exponentials));
    points.wrong_system("keys with inner products of 0.1",
                        reads(leaning, Order::later_minus_earlier, four_exponentials));
    points.wrong_system("keys subtracted in either order", reads(orthonormal, Order::any, four_exponentials));
    points.wrong_system("weights rounded to two decimals", reads(orthonormal, Order::later_minus_earlier, rounded));
  });
}

Claim stays_linear() {
  ClaimBuilder c("gqa-linear-stays-linear", "000 E.2, Eq 111");
  c.says("Grouped lookups $w^1 ... w^G$ on $u$ do not improve the linear kernel, because a combination of linear "
         "kernels is linear.");
  c.exactly("An identity: the combination is one linear kernel with $w = sum_j a_j w^j$.");
  c.runs({"delta_former"});
  c.takes({steps_param(20, 4, 256), key_width_param(8, 2, 256), integer_param("G", 4, 2, 16, "groups")});
  return measure(c, [](Points &points, Seed seed, int T, int d, int G) {
    const Dense k = unit_rows(T, d, seed, "groups/keys"), v = normal_matrix(T, 4, seed, "groups/values");
    Dense combined(T, d);
    const auto weight = [&](int j) { return Stream(seed, "groups/weights").normal(j) / (G * std::sqrt(d)); };
    const auto lookups = [&](int j) { return Dense(T, d, Stream(seed, "groups/lookups", j).normals(size_t(T) * d)); };
    const auto grouped = [&](const Kernel &f) {
      Dense A(T, T);
      for (int j = 0; j < G; ++j) A = A + weight(j) * causal_weights(k, lookups(j), f, Triangle::strict);
      return A;
    };
    for (int j = 0; j < G; ++j) combined = combined + weight(j) * lookups(j);
    const Dense A = grouped(linear_kernel), wanted = solve_unit_lower(A, v);
    points.at({{"T", T}, {"d", d}, {"G", G}}).rounding(4 * solve_units(A, wanted));
    points.statement("u with one linear kernel, against u with G grouped lookups", written(k, combined, v), wanted)
        .but_not("the exp kernel in place of the linear kernel", solve_unit_lower(grouped(exp_kernel), v));
    points.wrong_system("the mean of the lookups in place of their sum", written(k, 1.0 / G * combined, v), wanted);
  });
}
} // namespace

std::vector<Claim> grouped_lookups() { return {four_points(), no_neighbourhood(), stays_linear()}; }
} // namespace recollect::theory
