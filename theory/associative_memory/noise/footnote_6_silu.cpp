// SPDX-License-Identifier: Apache-2.0
// 000 footnote 6: SiLU behaves like ReLU. The inverse SNR of SiLU divided by the inverse SNR of ReLU, for a probe of
// |k_i|^2 = d, by quadrature.
#include "theory/support/integral_points.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// E[silu(X)^2] - E[relu(X)^2] for X ~ N(0, s): the integrand falls at least as exp(-|x|) for every s.
Integral excess(double s) {
  const auto integrand = [s](double x) {
    const double p = sigmoid(x), square = x > 0 ? -p * (1 - p) - (1 - p) : p * p; // p^2 - 1 for x > 0, else p^2
    return x * x * square * std::exp(-x * x / (2 * s)) / std::sqrt(2 * M_PI * s);
  };
  Integral all{0};
  const double edges[] = {-60, -20, -8, -3, 0, 3, 8, 20, 60};
  for (int i = 0; i < 8; ++i) all = all + panel(edges[i], edges[i + 1]).integral(integrand);
  return all;
}

/// SiLU's inverse SNR divided by ReLU's. Per pair, SiLU's inverse SNR is E[silu(X)^2] / silu(d)^2 with X ~ N(0, d), and
/// ReLU's is 1 / (2 d).
Integral over_relu(double d) {
  const Integral more = excess(d);
  const double own = sigmoid(d) * d, scale = 2 * d / (own * own);
  return {scale * (d / 2 + more.value), scale * more.error + 1e-12};
}

/// The law of d^(3/2) (1 - ratio), where ratio is over_relu(): 2 / sqrt(2 pi) (pi^2/3 - 7 pi^4 / (30 d) + ...). The
/// coefficients come from the even moments of the logistic distribution.
double lack(double d) { return 2 / std::sqrt(2 * M_PI) * (std::pow(M_PI, 2) / 3 - 7 * std::pow(M_PI, 4) / (30 * d)); }
double next_term(double d) { return 2 / std::sqrt(2 * M_PI) * 31 * std::pow(M_PI, 6) / (21 * 8 * d * d); }

Claim snr_silu() {
  ClaimBuilder c("snr-silu-like-relu", "000 footnote 6");
  c.says(
      "SiLU is not analysed separately: its behaviour is similar to that of ReLU and does not affect the conclusions.");
  c.exactly("For $|k_i|^2 = d$ the inverse SNR of SiLU divided by that of ReLU is $1 - 2 (pi^2/3) / sqrt(2 pi) "
            "d^(-3/2) + ...$, which tends to 1.");
  c.because("The two inverse SNRs are similar at every width in use. Below width 16 they differ by some percent.");
  c.holds_asymptotically(), c.takes({key_width_param(64, 16, 4096)}), c.at({{{"d", 16}}, {}, {{"d", 256}}});
  return measure(c, [](Points &points, double d) {
    const double root = std::pow(d, 1.5);
    const Integral ratio = over_relu(d);
    // the series alternates, so its remainder is below its next term; silu(d) is smaller than d by about the fraction
    // exp(-d)
    const auto held = [&](double law) {
      return bracketed_point(root * (1 - ratio.value), law, next_term(d) + root * (ratio.error + 4 * std::exp(-d)));
    };
    points.statement("inverse SNR of SiLU / inverse SNR of ReLU, against 1",
                     bracketed_point(ratio.value, 1, ratio.error));
    points.limit("$d^(3/2)$ times (1 - inverse SNR of SiLU / inverse SNR of ReLU)", held(lack(d)))
        .but_not("half of the right value", lack(d) / 2)
        .but_not("ratio 1.04, as for leaky ReLU of slope 0.2", -0.04 * root);
    points.limit("distance of inverse SNR of SiLU / inverse SNR of ReLU from 1, at most $2.7 / d^(3/2)$",
                 at_most_point(std::fabs(1 - ratio.value), 2.7 / root, ratio.error));
  });
}
} // namespace

std::vector<Claim> footnote_6_silu() { return {snr_silu()}; }
} // namespace recollect::theory
