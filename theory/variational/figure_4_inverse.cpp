// SPDX-License-Identifier: Apache-2.0
// 004 Fig 4, right: how |A_t|_F falls over a run.
#include "harness/core/error.hpp"
#include "theory/support/claims.hpp"
#include "theory/variational/vla_steps.hpp"

namespace recollect::theory {
namespace {

const int width = 32, length = 1000;
const double lambda0 = 0.1;

/// |A_t|_F of the layer after rows of penalty directions.
double inverse_norm(const Vector &penalties) {
  Vla layer(width, 1, lambda0);
  layer.follow_chain = false;
  if (!penalties.empty()) layer.update_inverse(penalties);
  return frobenius_norm(layer.A);
}
/// From the eigenvalues sigma_i of sum u u^T: a mixture of 1 / (lambda0 + sigma_i).
double norm_of_mixture(const Vector &penalties) {
  const Dense U(int(penalties.size()) / width, width, penalties);
  double square = 0;
  for (double sigma : symmetric_eigenvalues(transpose(U) * U)) square += 1 / std::pow(lambda0 + sigma, 2);
  return std::sqrt(square);
}
/// For sum u u^T = (t / d) I; at most that for any unit u, by Jensen's inequality.
double isotropic_norm(double t, double d = width) { return std::sqrt(double(width)) / (lambda0 + t / d); }

std::vector<Point> decay(const Protocol &p) {
  std::vector<Point> points;
  const auto place = [](int t) { return labels({{"t", num(t)}}); };
  const double start = std::sqrt(double(width)) / lambda0;
  const auto exponential = [&](double t) { return start * std::pow(10 / start, t / length); };
  for (const Params &at : points_of(p, {place(200), place(400), place(800)})) {
    const int t = at.integer("t");
    const Vector random = random_units(t, width, Stream(p.seed, "A's norm/penalties"));
    Vector axes(size_t(t) * width, 0.0); // the axes one after another: sum u u^T is (t / d) I exactly after full rounds
    for (int i = 0; i < t; ++i) axes[size_t(i) * width + i % width] = 1;
    const int rounds = t / width * width;
    const Vector whole(axes.begin(), axes.begin() + size_t(rounds) * width);
    const double measured = inverse_norm(random), units = step_units(t, width, lambda0) * start,
                 rounding = units * epsilon_of(Real::f64), isotropic = inverse_norm(whole);
    append(points,
           {as_statement(exact_point(measured, exponential(t), units), at, "exponential from 56.6 to 10"),
            as_obligation(exact_point(measured, norm_of_mixture(random), units), at, "mixture of 1/(lambda0 + sigma)"),
            as_obligation(at_least_point(measured, isotropic_norm(t), rounding), at, "sqrt d / (lambda0 + t/d)"),
            rival_system(at_least_point(inverse_norm(scaled(1.1, whole)), isotropic_norm(rounds), rounding), at,
                         "u of length 1.1"),
            as_obligation(exact_point(isotropic, isotropic_norm(rounds), units), at, "axes in turn"),
            rival_law(exact_point(isotropic, isotropic_norm(rounds, width - 1), units), at, "t / (d - 1)")});
  }
  const Params first = place(0), second = place(1);
  const double one = inverse_norm(random_units(1, width, Stream(p.seed, "A's norm/first"))), units = 64.0 * start;
  append(points,
         {as_obligation(exact_point(inverse_norm({}), start, units), first, "sqrt d / lambda0"),
          as_obligation(
              exact_point(one, std::sqrt((width - 1) / (lambda0 * lambda0) + 1 / std::pow(lambda0 + 1, 2)), units),
              second, "one unit u")});
  return points;
}

Claim a_decay() {
  return explained(
      at_parameters(
          running(refuted_row("vla-a-decay-56-to-10", Scope::paper, "004 §6.2, Fig 4 right",
                              "On random inputs at d_h = 32 |A_t|_F decays exponentially from about 56 to about "
                              "10 over 1000 steps.",
                              "It starts at sqrt d / lambda0 = 56.57. For independent u it is a mixture of 1 / "
                              "(lambda0 + t sigma_i), algebraic in t, and for unit u never below sqrt d / (lambda0 "
                              "+ t/d), which is 0.18 at t = 1000: not exponential for ever.",
                              decay),
                  {"vla"}),
          {integer_param("t", 200, 64, 900, "steps of random unit u")}),
      "Judged for independent u only. The end value depends on u's spectrum, which the text does not give: unit u = "
      "W_u W_k x "
      "gives about 10, Algorithm 1's length 22 to 32.");
}

} // namespace

std::vector<Claim> figure_4_inverse() { return {a_decay()}; }

} // namespace recollect::theory
