// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 3, Eq 32-33: NLMS, which is the limit of Longhorn, and Kaczmarz's method.
#include "harness/numerics/keys.hpp"
#include "theory/test_time_regression/one_step.hpp"

namespace recollect::theory {
namespace {
Claim limit() {
  ClaimBuilder c("nlms-limit", "003 Eq 30-32");
  c.says("For $delta$ -> infinity Eq 30 becomes the constrained problem: minimise $|M - M_{t-1}|_F^2 / 2$ subject to "
         "$M k = v$.");
  c.exactly("For large $delta$ the distance between the two solutions falls as $1/delta$: $M_delta - M_infinity = -(v "
            "- M_{t-1} k) k^T / (|k|^2 (1 + delta |k|^2))$.");
  c.because("At a finite $delta$ the fraction $1 / (1 + delta |k|^2)$ of the residual remains.");
  c.holds_asymptotically(), c.runs({"longhorn", "nlms"}), c.takes(step_params({delta_param(1)}));
  c.at({{}, {{"delta", 100}}});
  return measure(c, [](Points &points, Seed seed, double delta, int Dk, int Dv, double norm) {
    const Step x(seed, Dk, Dv, norm);
    const double kk = x.kk(), units = x.units(delta) * (1 + kk + 1 / kk);
    if (delta * kk > 1000) usage_error("take delta |k|^2 <= 1000: above this rounding hides the law of the difference");
    const Dense layer = x.after_longhorn(delta), end = x.moved(1 / kk);
    const auto short_of_it = [&](double gap) { return end - gap / kk * write(x.error(), x.k); };
    points.rounding(units).statement("Longhorn at $delta$ solves the constrained problem", layer, end);
    points
        .limit("Longhorn differs from this solution by $-e k^T / (|k|^2 (1 + delta |k|^2))$, $e = v - M_{t-1} k$",
               layer, short_of_it(1 / (1 + delta * kk)))
        .but_not("a difference of $-e k^T / (delta |k|^4)$", short_of_it(1 / (delta * kk)))
        .but_not("$sqrt(1 + delta |k|^2)$ for $1 + delta |k|^2$", short_of_it(1 / std::sqrt(1 + delta * kk)));
    points.obligation("NLMS solves the constrained problem", x.after("nlms"), end);
    points.wrong_system("Longhorn at $2 delta$: the same difference", x.after_longhorn(2 * delta),
                        short_of_it(1 / (1 + delta * kk)));
  });
}

Claim closest() {
  ClaimBuilder c("nlms-eq33", "003 Eq 32-33");
  c.says("The constrained problem (minimise $|M - M_{t-1}|_F$ subject to $M k = v$) is solved by the "
         "hyperparameter-free step $beta = 1/|k|^2$: $M_{t-1} (I - k k^T / |k|^2) + v k^T / |k|^2$ (NLMS).");
  c.exactly("The step stores the pair, and of all memories that store it the result $M$ is the closest to $M_{t-1}$. "
            "Any other memory that stores it is $M + N$ with $N k = 0$; its squared distance from $M_{t-1}$ is larger "
            "by exactly $|N|^2$.");
  c.because("In Eq 32 the symbol $M_t$ stands both for the solution and for the variable of the minimisation.");
  c.runs({"nlms", "longhorn"}), c.takes(step_params()), c.at({{{"delta", 1}}, {{"delta", 1}, {"norm", 0.6}}});
  return measure(c, [](Points &points, Seed seed, int Dk, int Dv, double norm) {
    const Step x(seed, Dk, Dv, norm);
    const double kk = x.kk(), length = std::sqrt(kk), units = x.units(1) * (1 + kk + 1 / kk);
    const Dense M = x.after("nlms");
    points.rounding(units);
    auto eq33 = points.statement("NLMS is Eq 33", M, x.moved(1 / kk));
    points.rounding(units * length);
    points.wrong_system("Longhorn at $delta = 1$ stores the pair", x.after_longhorn(1) * x.k, x.v);
    points.statement("NLMS stores the pair: $M k = v$", M * x.k, x.v);
    if (norm != 1) eq33.but_not("$1/|k|$ for $1/|k|^2$", x.moved(1 / length));
    // Any other memory M + N that stores the pair, N k = 0, has a larger squared distance from M_0, by exactly |N|^2.
    const Dense G = normal_matrix(M.rows, M.columns, seed, "003/another memory"), N = G - 1 / kk * write(G * x.k, x.k);
    const double near = square(M - x.M), far = square(M + N - x.M);
    points.rounding(64.0 * M.columns * (near + square(N) + units));
    points.statement("squared distance of another memory $M + N$: larger by $|N|^2$", far, near + square(N))
        .but_not("the squared distance of M", near)
        .but_not("the distances added, then squared", std::pow(std::sqrt(near) + frobenius_norm(N), 2));
    points.wrong_system("the memory of Longhorn in place of M", square(x.after_longhorn(1) + N - x.M),
                        near + square(N));
  });
}

Claim kaczmarz() {
  ClaimBuilder c("kaczmarz-convergence", "003 after Eq 33");
  c.says("The NLMS update is known as the projection method or Kaczmarz's method in optimisation theory.");
  c.exactly("After $s$ cyclic passes of NLMS over $n <= Dk$ independent pairs $M_s - M_* = (M_0 - M_*) P^s$. Here $P$ "
            "is the product of the projectors $I - k k^T / |k|^2$, and $M_*$ is the interpolant of smallest norm. From "
            "the origin $M_s$ converges to $M_*$ linearly.");
  c.because("From another start the method converges too, but the part of the start that is orthogonal to all keys "
            "remains. The result interpolates, but does not have the smallest norm.");
  c.runs({"nlms", "delta_net"});
  c.takes({integer_param("n", 4, 1, 32, "pairs"), integer_param("Dk", 6, 1, 64, "key width"),
           integer_param("Dv", 3, 1, 16, "value width"),
           real_param("cosine", 0.3, 0.01, 0.9, "inner product of any two keys"),
           integer_param("sweeps", 32, 1, 200, "passes over the pairs")});
  c.at({{{"sweeps", 1}}, {{"sweeps", 4}}, {}});
  return measure(c, [](Points &points, Seed seed, int n, int Dk, int Dv, double cosine, int sweeps) {
    if (n > Dk) usage_error("n must be at most Dk, so that the keys are independent and M interpolates");
    const Pairs x(Dense(n, Dk, make_keys({"equicorrelated", n, Dk, cosine}, 1, seed)),
                  normal_matrix(n, Dv, seed, "003/values"));
    const Dense target = x.best(), origin(Dv, Dk), ones(Dv, Dk, Vector(size_t(Dv) * Dk, 1));
    const auto cycle = [&](const std::string &variant, const Dense &start, double relaxation) {
      Sequence s =
          stored({1, 1, n * sweeps, Dk, Dv}, repeated(x.K.data, sweeps), repeated(x.V.data, sweeps), relaxation);
      s.state = start.data;
      return memory(run(variant, s), s.shape);
    };
    // The distance from the target is multiplied by one projector per pair, in the order of the pairs.
    Dense sweep = Dense::identity(Dk), reversed = sweep;
    for (int i = 0; i < n; ++i) {
      const auto projector = [&](int j) {
        return Dense::identity(Dk) - 1 / square(x.key(j)) * write(x.key(j), x.key(j));
      };
      sweep = sweep * projector(i), reversed = reversed * projector(n - 1 - i);
    }
    const auto remaining = [&](const Dense &start, const Dense &factor, int times) {
      Dense left = start - target;
      for (int i = 0; i < times; ++i) left = left * factor;
      return target + left;
    };
    const double units = 16.0 * n * sweeps * Dk * (1 + max_abs(target.data));
    const Dense M = cycle("nlms", origin, 1);
    points.rounding(units);
    auto passes =
        points.statement("each pass multiplies $M - M_*$ by the projectors", M, remaining(origin, sweep, sweeps));
    points.wrong_system("steps of twice the size: each pass multiplies $M - M_*$ by the projectors",
                        cycle("delta_net", origin, 2), remaining(origin, sweep, sweeps));
    // The law and its rivals differ measurably only if the distance is well above rounding.
    const Dense expected = remaining(origin, sweep, sweeps);
    if (max_abs((expected - target).data) > 1e4 * units * epsilon_of(Real::f64)) {
      passes.but_not("one pass fewer", remaining(origin, sweep, sweeps - 1));
      if (n > 1) passes.but_not("the projectors in reverse order", remaining(origin, reversed, sweeps));
    }
    if (n < Dk) {
      const Dense from_ones = cycle("nlms", ones, 1);
      points.obligation("other start: passes multiply $M - M_*$ by P", from_ones, remaining(ones, sweep, sweeps));
      points.wrong_system("from another start: the memory is the one from the origin", from_ones,
                          remaining(origin, sweep, sweeps));
    }
    // If each pass multiplies the distance by the rate r, M reaches the target up to rounding once r^sweeps < eps.
    const double rate = spectral_norm(sweep * (pseudo_inverse(x.K) * x.K));
    if (sweeps * std::log(rate) < std::log(epsilon_of(Real::f64)))
      points.statement("after all passes M is the interpolant of smallest norm", M, target);
  });
}
} // namespace

std::vector<Claim> vignette_3_nlms() { return {limit(), closest(), kaczmarz()}; }
} // namespace recollect::theory
