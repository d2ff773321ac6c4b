// SPDX-License-Identifier: Apache-2.0
// 2411.12537 Theorems 2 and 3: counting modulo 3 needs a transition with a complex eigenvalue, which no real triangular
// or symmetric matrix has; two reflections make a rotation, and count modulo any m.
#include "theory/negative_eigenvalues/householder.hpp"

namespace recollect::theory {
namespace {

/// States [2,2] after each of T tokens of DeltaProduct with two reflections at unit keys `angle` apart, from I; a bit of 0
/// leaves the state alone. Rows are states, flattened.
Vector rotated(const std::vector<int> &bits, double angle, double beta = 2) {
  Sequence s;
  s.shape = {1, 1, int(bits.size()), 2, 2};
  s.state = Dense::identity(2).data;
  for (int bit : bits) {
    for (double c : at_angle(angle)) s.w.push_back(c);
    for (double c : at_angle(0)) s.k.push_back(c);
    for (double c : at_angle(0)) s.q.push_back(c);
    s.beta.push_back(beta * bit);
  }
  s.v.assign(bits.size() * 2, 0.0);
  return run("delta_product", s, {{"householder", "2"}}).o; // S e1
}
/// The same with one reflection a token.
Vector reflected(const std::vector<int> &bits, double beta) {
  Sequence s;
  s.shape = {1, 1, int(bits.size()), 2, 2};
  s.state = Dense::identity(2).data;
  for (int bit : bits) {
    for (double c : at_angle(pi / 6)) s.k.push_back(c);
    for (double c : at_angle(0)) s.q.push_back(c);
    s.beta.push_back(beta * bit);
  }
  s.v.assign(bits.size() * 2, 0.0);
  return run("delta_net", s).o;
}

double apart(const Vector &states, int t, int u) { // two rows of width 2
  return std::hypot(states[2 * t] - states[2 * u], states[2 * t + 1] - states[2 * u + 1]);
}

// ---- Real eigenvalues -------------------------------------------------------------------------------------------------

const std::vector<ParamSpec> triangle{integer_param("T", 200, 100, 1000, "ones in a row"),
                                      real_param("lambda", 0.6, -0.8, 0.8, "the other eigenvalue"),
                                      real_param("above", 0.7, -2, 2, "element above the diagonal")};

std::vector<Point> two_states(const Protocol &protocol) {
  const Params p = point_of(protocol, triangle);
  const int T = p.integer("T");
  const double lambda = p.real("lambda"), c = p.real("above"), single = std::ldexp(1.0, -24);
  const std::vector<int> bits(T, 1);
  const double units = 16.0 * T * (1 + std::fabs(c) / (1 - std::fabs(lambda)));
  // h -> A h, A = (-1, c; 0, lambda), from (1, 1).
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
  return {as_statement(period(triangular, 2), p, "triangular, eigenvalues -1 and lambda: two states on"),
          as_statement(period(reflected(bits, 2), 2), p, "DeltaNet, beta = 2: two states on"),
          as_statement(period(reflected(bits, 0.6), 2), p, "DeltaNet, beta = 0.6: two states on"),
          as_obligation(exact_point(triangular, law, units), p, "triangular: its powers"),
          as_obligation(period(thirds, 3), p, "two reflections 60 degrees apart: three states on"),
          as_obligation(exact_point(apart(thirds, T - 1, T - 3), std::sqrt(3.0), units), p,
                        "two reflections 60 degrees apart: distance of two states on"),
          rival_system(period(thirds, 2), p, "two reflections 60 degrees apart: two states on"),
          rival_system(period(triangular, 3), p, "triangular: three states on"),
          rival_law(exact_point(apart(thirds, T - 1, T - 3), 1, units), p, "a distance of 1")};
}

Claim counting_needs_complex_eigenvalues() {
  return explained(
      at_parameters(
          running(
              ledger_row("counting-needs-complex-eigenvalues", "2411.12537 Theorem 2, §4.2",
                         "A finite-precision linear RNN counts modulo m, m not a power of two, only if in some layer a "
                         "product of transitions has an eigenvalue that is not real; so triangular real transitions do "
                         "not count modulo 3, even with negative eigenvalues. One layer with real eigenvalues "
                         "alternates between two states on 1, 1, 1, ...",
                         "With eigenvalues in $[-1, 1]$ and $-1$ simple, $h_{k+2} - h_k -> 0$; rotation by 120 degrees "
                         "has three states at a distance of $sqrt(3)$.",
                         two_states),
              {"delta_net", "delta_product"}),
          triangle),
      "Measured for one layer on a constant text: a triangular transition, and DeltaNet, whose transition is "
      "symmetric. "
      "The induction over layers is the paper's Appendix B.2, which was not read.");
}

// ---- Two reflections --------------------------------------------------------------------------------------------------

const std::vector<ParamSpec> cycle{integer_param("m", 3, 3, 24, "modulus"),
                                   integer_param("T", 512, 32, 4096, "tokens")};

std::vector<Point> modular(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p :
       points_of(protocol, {labels({{"m", num(3)}, {"T", num(512)}}), labels({{"m", num(5)}, {"T", num(512)}}),
                            labels({{"m", num(12)}, {"T", num(512)}})})) {
    const int m = p.integer("m"), T = p.integer("T");
    std::vector<int> bits;
    for (int t = 0; t < T; ++t) bits.push_back(int(Stream(protocol.seed, "counting/bits").below(t, 2)));
    const auto circle = [&](int modulus) {
      Vector all;
      for (int t = 0, count = 0; t < T; ++t) {
        count = (count + bits[t]) % modulus;
        all.push_back(std::cos(2 * pi * count / modulus)), all.push_back(std::sin(2 * pi * count / modulus));
      }
      return all;
    };
    const double units = 64.0 * T;
    const auto counted = [&](const Vector &reads) { return exact_point(reads, circle(m), units); };
    points.push_back(as_statement(counted(rotated(bits, pi / m)), p, "reads: (cos, sin) of 2 pi count / m"));
    points.push_back(rival_law(rotated(bits, pi / m), p, "counting modulo m + 1", circle(m + 1), units));
    points.push_back(rival_system(counted(rotated(bits, 2 * pi / m)), p, "keys 2 pi / m apart"));
    points.push_back(rival_system(counted(rotated(bits, pi / m, 1.9)), p, "beta = 1.9"));
    points.push_back(rival_system(counted(reflected(bits, 2)), p, "one reflection a token"));
  }
  return points;
}

Claim cyclic_two_reflections() {
  return explained(
      at_parameters(
          running(ledger_row(
                      "cyclic-two-reflections", "2411.12537 Theorem 3",
                      "Every automaton whose transition monoid is the cyclic group $Z_m$ is implemented by one "
                      "finite-precision layer whose transitions are products of two generalised Householder matrices "
                      "of width 2 with eigenvalues in $[-1, 1]$.",
                      "Two reflections at keys $pi / m$ apart rotate by $2 pi / m$: after c ones the state is at "
                      "the angle $2 pi c / m$, at any length.",
                      modular),
                  {"delta_product", "delta_net"}),
          cycle),
      "DeltaProduct with two Householder steps a token, beta = 2 at a 1 and 0 at a 0.");
}

} // namespace

std::vector<Claim> theorem_2_counting() { return {counting_needs_complex_eigenvalues(), cyclic_two_reflections()}; }

} // namespace recollect::theory
