// SPDX-License-Identifier: Apache-2.0
// 2411.12537 Theorems 2 and 3: counting modulo 3 needs a transition with a complex eigenvalue, which no real triangular
// or symmetric matrix has; two reflections per token are a rotation, which counts modulo any m.
#include "theory/negative_eigenvalues/householder.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
/// The reads at e1 after each token; the state [2,2] starts from I. A bit of 1 reflects the state at the unit key of
/// angle `key` (in DeltaProduct, first at the unit key of angle `first`); a bit of 0 does not change the state.
Vector states_at(const std::string &variant, const std::vector<int> &bits, double key, double beta, double first = 0) {
  const int T = int(bits.size());
  Sequence s = stored({1, 1, T, 2, 2}, repeated(at_angle(key), T), Vector(2 * T), beta);
  s.q = repeated(at_angle(0), T), s.w = repeated(at_angle(first), T), s.state = Dense::identity(2).data;
  for (int t = 0; t < T; ++t) s.beta[t] *= bits[t];
  if (variant == "delta_net") return run(variant, s).o;
  return run(variant, s, {{"householder", "2"}}).o;
}
Vector rotated(const std::vector<int> &bits, double angle, double beta = 2) {
  return states_at("delta_product", bits, 0, beta, angle);
}
Vector reflected(const std::vector<int> &bits, double beta) { return states_at("delta_net", bits, pi / 6, beta); }

double apart(const Vector &states, int t, int u) { // the distance of rows t and u, of width 2
  return std::hypot(states[2 * t] - states[2 * u], states[2 * t + 1] - states[2 * u + 1]);
}

Claim counting_needs_complex_eigenvalues() {
  ClaimBuilder c("counting-needs-complex-eigenvalues", "2411.12537 Theorem 2, §4.2");
  c.says("A finite-precision linear RNN counts modulo m, where m is not a power of two, only if in some layer a "
         "product of transitions has an eigenvalue that is not real. So triangular real transitions do not count "
         "modulo 3, even with negative eigenvalues. On the text 1, 1, 1, ... one layer whose eigenvalues are real "
         "alternates between two states.");
  c.exactly("If all eigenvalues are in $[-1, 1]$ and $-1$ is a simple eigenvalue, the states satisfy $h_{j+2} - h_j -> "
            "0$, so only two states alternate. A rotation by 120 degrees has three states, at a distance of $sqrt(3)$ "
            "from each other.");
  c.because("A single layer is measured on a constant text, once with a triangular transition and once with the "
            "symmetric one of DeltaNet. The induction over layers is the paper's Appendix B.2, which was not read.");
  c.runs({"delta_net", "delta_product"});
  c.takes({integer_param("T", 200, 100, 1000, "ones in a row"),
           real_param("lambda", 0.6, -0.8, 0.8, "the eigenvalue other than -1"),
           real_param("above", 0.7, -2, 2, "element above the diagonal")});
  return measure(c, [](Points &points, int T, double lambda, double c) {
    const double single = std::ldexp(1.0, -24);
    const std::vector<int> bits(T, 1);
    const double units = 16.0 * T * (1 + std::fabs(c) / (1 - std::fabs(lambda)));
    // The recurrence h -> A h from h = (1, 1), with the triangular A = (-1, c; 0, lambda).
    Vector triangular, law;
    double x = 1, y = 1;
    for (int t = 1; t <= T; ++t) {
      x = -x + c * y, y *= lambda;
      triangular.push_back(x), triangular.push_back(y);
      const double sign = t % 2 ? -1 : 1, power = std::pow(lambda, t);
      law.push_back(sign + c * (sign - power) / (-1 - lambda)), law.push_back(power);
    }
    const auto period = [&](const Vector &states, int m) {
      return at_most_point(apart(states, T - 1, T - 1 - m), single, units * epsilon_of(Real::f64));
    };
    const Vector thirds = rotated(bits, pi / 3);
    points.statement("triangular transition, eigenvalues -1 and $lambda$: distance of the states $T - 2$ and $T$, 0",
                     period(triangular, 2));
    points.statement("DeltaNet, $beta = 2$: distance of the states $T - 2$ and $T$, 0", period(reflected(bits, 2), 2));
    points.statement("DeltaNet, $beta = 0.6$: distance of the states $T - 2$ and $T$, 0",
                     period(reflected(bits, 0.6), 2));
    points.rounding(units);
    points.obligation("triangular transition: the states are powers of it times the first", triangular, law);
    points.obligation("two reflections 60 degrees apart: distance of the states $T - 3$ and $T$, 0", period(thirds, 3));
    points
        .obligation("two reflections 60 degrees apart: distance of the states $T - 2$ and $T$, $sqrt(3)$",
                    apart(thirds, T - 1, T - 3), std::sqrt(3.0))
        .but_not("a distance of 1", 1);
    points.wrong_system("two reflections 60 degrees apart: the states $T - 2$ and $T$ are equal", period(thirds, 2));
    points.wrong_system("triangular transition: the states $T - 3$ and $T$ are equal", period(triangular, 3));
  });
}

Claim cyclic_two_reflections() {
  ClaimBuilder c("cyclic-two-reflections", "2411.12537 Theorem 3");
  c.says("Every automaton whose transition monoid is the cyclic group $Z_m$ is implemented by one finite-precision "
         "layer whose transitions are products of two generalised Householder matrices of width 2 with eigenvalues in "
         "$[-1, 1]$.");
  c.exactly("Two reflections at keys with the angle $pi / m$ between them rotate by $2 pi / m$. After c ones the state "
            "is at the angle $2 pi c / m$, at any length of the text.");
  c.because("The statement is measured on DeltaProduct with two Householder steps per token, with $beta = 2$ at a 1 "
            "and $beta = 0$ at a 0.");
  c.runs({"delta_product", "delta_net"});
  c.takes({integer_param("m", 3, 3, 24, "modulus"), integer_param("T", 512, 32, 4096, "tokens")});
  c.at({{}, {{"m", 5}}, {{"m", 12}}});
  return measure(c, [](Points &points, Seed seed, int m, int T) {
    std::vector<int> bits;
    for (int t = 0; t < T; ++t) bits.push_back(int(Stream(seed, "counting/bits").below(t, 2)));
    const auto circle = [&](int modulus) {
      Vector all;
      for (int t = 0, count = 0; t < T; ++t) {
        count = (count + bits[t]) % modulus;
        all.push_back(std::cos(2 * pi * count / modulus)), all.push_back(std::sin(2 * pi * count / modulus));
      }
      return all;
    };
    points.rounding(64.0 * T);
    points.statement("reads: $(cos, sin)$ of $2 pi c / m$ after c ones", rotated(bits, pi / m), circle(m))
        .but_not("counting modulo $m + 1$", circle(m + 1));
    points.wrong_system("keys $2 pi / m$ apart: $(cos, sin)$ of $2 pi c / m$", rotated(bits, 2 * pi / m), circle(m));
    points.wrong_system("$beta = 1.9$: $(cos, sin)$ of $2 pi c / m$", rotated(bits, pi / m, 1.9), circle(m));
    points.wrong_system("one reflection per token: $(cos, sin)$ of $2 pi c / m$", reflected(bits, 2), circle(m));
  });
}
} // namespace

std::vector<Claim> theorem_2_counting() { return {counting_needs_complex_eigenvalues(), cyclic_two_reflections()}; }
} // namespace recollect::theory
