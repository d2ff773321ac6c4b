// SPDX-License-Identifier: Apache-2.0
// 2605.22791: with equal gates, Gated DeltaNet-2 is Kimi delta attention; with a different gate in each channel, the
// transition need not be a contraction.
#include "theory/gated_delta_net_2/erase_and_write.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
/// The eigenvalue of largest modulus of a 2 x 2 matrix with real eigenvalues.
double radius(const Dense &A) {
  const double half = trace(A) / 2, determinant = A(0, 0) * A(1, 1) - A(0, 1) * A(1, 0);
  return half + std::sqrt(half * half - determinant);
}
/// radius(in_turn(s)), from the trace (1 - s)(2 + s) and the determinant (1 - s)^2.
double radius_law(double share) { return (1 - share) * (2 + share + std::sqrt(share * share + 4 * share)) / 2; }

Claim gdn2_equal_gates() {
  ClaimBuilder c("gdn2-equal-gates", "2605.22791 (secondary source)");
  c.says("Gated DeltaNet-2 decays the state to $S' = S diag(alpha)$ and then writes $S' + (w . v - S' (b . k)) k^T$, "
         "where . is the product by channel, b an erase gate per key channel and w a write gate per value channel. If "
         "all gates b and w of a token equal beta, it is Kimi delta attention (KDA).");
  c.exactly("This is an identity. If the gates b of a token differ, the transition $I - (b . k) k^T$ is not symmetric: "
            "its norm exceeds 1 for some unit keys and gates in $[0, 1]$. For example, let two unit keys alternate, "
            "each with two channels whose squares are 1/6 and 5/6, and let the erase gate be 1 in one channel and 0 in "
            "the other. Then each pair of steps multiplies the state by 5/4, without end.");
  c.because("The recurrence is that of public code and notes; we have not read whether the paper bounds the state. "
            "With one erase gate for all channels the transition does not expand. For the two keys of the example a "
            "decay below 4/5 per pair of steps stops the growth.");
  c.runs({"kda"}), c.takes(one_head_params(point_P));
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = gated_sequence(shape, seed, "gdn2");
    const int T = shape.T, Dk = shape.Dk, Dv = shape.Dv;
    const Vector gates = Stream(seed, "gdn2/gates").uniforms(size_t(T) * Dk, 0.1, 1);
    const Measured kda = measured("kda", s);
    const auto gated = [&](bool same_erase, bool same_write) {
      return stepped(s, [&](const Dense &S, const Dense &k, const Dense &v, int t) {
        const Dense b = same_erase ? Dense(Dk, 1, Vector(Dk, s.beta[t])) : column(gates, t, Dk),
                    w(Dv, 1, Vector(Dv, same_write ? s.beta[t] : 1.0));
        return erase_and_write(S, k, v, column(s.lambda, t, Dk), b, w);
      });
    };
    const double half = std::sqrt(0.5);
    const double norm = spectral_norm(erasing(Dense(2, 1, {half, half}), Dense(2, 1, {1, 0})));
    double most = 0;
    for (int i = 1; i < 1000; ++i) most = std::max(most, radius(in_turn(i / 1000.0)));
    Dense state = Dense::identity(2);
    for (int i = 0; i < 40; ++i) state = state * in_turn(1.0 / 6);
    Dense again = state * in_turn(1.0 / 6);
    points.statement("$b = w = beta$ in every channel: KDA", kda.against(gated(true, true)));
    points.rounding(64);
    points.obligation("norm of $I - (b . k) k^T$ for $k = (1, 1) / sqrt 2$ and $b = (1, 0)$", norm,
                      std::sqrt((3 + std::sqrt(5.0)) / 4));
    points
        .obligation("two unit keys in turn, erase gates 0 and 1: growth per pair of steps, $5/4$",
                    radius(in_turn(1.0 / 6)), 1.25)
        .but_not("1, a contraction", 1)
        .but_not("the product of the norms", (3 + std::sqrt(5.0)) / 4);
    points.obligation("two unit keys in turn, square of the erased channel 0.4: growth per pair of steps",
                      radius(in_turn(0.4)), radius_law(0.4));
    points.obligation("two unit keys in turn: largest growth per pair of steps over all squares of the channels",
                      at_most_point(most, 1.25, 1e-12));
    points.rounding(64 * 40);
    points.obligation("growth of the state from the 40th to the 41st pair of steps: $5/4$",
                      frobenius_norm(again) / frobenius_norm(state), 1.25);
    points.wrong_system("a different erase gate per channel: KDA", kda.against(gated(false, true)));
    points.wrong_system("a write gate of 1: KDA", kda.against(gated(true, false)));
    points.rounding(64);
    points.wrong_system("one erase gate for all channels: growth per pair of steps",
                        radius(erasing(Dense(2, 1, {half, half}), Dense(2, 1, {1, 1}))), 1.25);
  });
}
} // namespace

std::vector<Claim> gates_of_gdn2() { return {gdn2_equal_gates()}; }
} // namespace recollect::theory
