// SPDX-License-Identifier: Apache-2.0
// Assumption 2 of 000 Theorem 1, f = x on a neighbourhood of every x in {-1, 0, 1, 2}, and the rounding function (E.2).
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"
#include "theory/associative_memory/tracking/swaps.hpp"

namespace recollect::theory {
namespace {
/// Grids over the neighbourhoods U(x, 4 eps) of the four integers x. `centres` holds the x of each point.
struct Neighbourhood {
  static constexpr int half = 500;
  Vector points, centres;
  explicit Neighbourhood(double eps) {
    for (double x : integers)
      for (int g = -half; g <= half; ++g) points.push_back(x + 4 * eps * g / half), centres.push_back(x);
  }
  /// The share of the grid's points that f does not map to their centre. Its resolution is the step of the grid,
  /// 1/half.
  double left_by(const Vector &f) const {
    double left = 0;
    for (size_t i = 0; i < f.size(); ++i) left += f[i] != centres[i];
    return left / f.size();
  }
};

Vector two_decimals(Vector x) {
  for (double &value : x) value = std::nearbyint(100 * value) / 100;
  return x;
}

Claim rounding() {
  ClaimBuilder c("round-assumption2", "000 E.2, Assumption 2; Fig 4 caption; Listing 2");
  c.says("Under appropriate rounding precision the rounding function satisfies Assumption 2.");
  c.exactly("$f$ = round satisfies Assumption 2 exactly if $4 eps < 1/2$. For larger $eps$ it is wrong on a share $1 - "
            "1/(8 eps)$ of the neighbourhoods. Rounding to two decimals, as in Fig 4, needs $4 eps < 0.005$. Listing 2 "
            "divides by $sqrt(head_dim)$ before it rounds, so that its keys need the norm $head_dim^{1/4}$.");
  c.draws({"swap"}), c.runs({"delta_former"}), c.takes({real_param("eps", 0.1, 1e-3, 0.49, "bound of Assumption 1")});
  c.at({{{"eps", 0.01}}, {}, {{"eps", 0.1249}}});
  c.last([](Points &points, const Protocol &protocol) {
    const Neighbourhood beyond(0.13), fine(0.00124), coarse(0.002);
    const double step = 1.0 / Neighbourhood::half;
    const auto at = [](double eps) { return labels({{"eps", eps}}); };
    points.at(at(0.13));
    points
        .obligation(
            "share of the neighbourhoods on which round is wrong",
            bracketed_point(beyond.left_by(similarity_of_layer(beyond.points, "round")), 1 - 1 / (8 * 0.13), step))
        .but_not("none, as if $4 eps > 1/2$ were harmless", 0)
        .but_not("neighbourhoods of $5 eps$ in place of $4 eps$", 1 - 1 / (10 * 0.13));
    points.at(at(0.00124)).rounding(0);
    points.obligation("rounding to two decimals on U(x, $4 eps$), against x", two_decimals(fine.points), fine.centres);
    points.at(at(0.002));
    points
        .obligation("share of the neighbourhoods on which rounding to two decimals is wrong",
                    bracketed_point(coarse.left_by(two_decimals(coarse.points)), 1 - 0.005 / (4 * 0.002), step))
        .but_not("none, as for round", 0);
    // Listing 2 divides the logits by sqrt(head_dim), here 4.
    const int d = 16;
    const auto over_root = [&](double norm) {
      SwapStory story = tell_swaps(key_rows({"equicorrelated", d, d, 0.1}, protocol.seed), 100, protocol.seed);
      for (double &x : story.sequence.k) x *= norm;
      for (double &x : story.sequence.q) x *= norm;
      const Assignments scaled{{"kappa1", "round"}, {"kappa2", "round"}, {"scale", "0.25"}};
      return exactly_tracked(run("delta_former", story.sequence, scaled, "chunked", 64).o, story);
    };
    const auto sized = [&](double norm) { return labels({{"norm", norm}, {"d", d}}); };
    points.at(sized(2)).obligation("every read, scores divided by $sqrt(head_dim)$, keys of norm $head_dim^{1/4}$",
                                   over_root(2));
    points.at(sized(1)).wrong_system("scores divided by $sqrt(head_dim)$, unit keys", over_root(1));
  });
  return measure(c, [](Points &points, double eps) {
    if (eps >= 0.125) usage_error("Assumption 1 asks for eps < 1/8");
    const Neighbourhood near(eps);
    points.rounding(0).statement("round on U(x, $4 eps$), against x", similarity_of_layer(near.points, "round"),
                                 near.centres);
    points.wrong_system("the linear kernel in place of round", similarity_of_layer(near.points, "linear"),
                        near.centres);
  });
}
} // namespace

std::vector<Claim> assumption_2() { return {rounding()}; }
} // namespace recollect::theory
