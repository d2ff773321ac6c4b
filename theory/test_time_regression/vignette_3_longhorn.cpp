// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 3, Eq 30-31: Longhorn, an adaptive step size from an online learning objective.
#include "theory/test_time_regression/one_step.hpp"

namespace recollect::theory {
namespace {

/// argmin |M - M_0|_F^2 / 2 + weight |v - M k|^2 / 2 by its normal equations.
Dense proximal(const Step &x, double weight) {
  return (x.M + weight * write(x.v, x.k)) * inverse(Dense::identity(x.k.rows) + weight * write(x.k, x.k));
}

std::vector<Point> longhorn_solves(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {step_point(0.5), step_point(1)})) {
    const Step x(p, protocol.seed);
    const double delta = p.real("delta"), norm = p.real("norm");
    const double units = x.units(delta) * (1 + delta * x.kk());
    const Dense layer = x.after_longhorn(delta);
    const auto is = [&](const Dense &M) { return exact_point(layer.data, M.data, units); };
    points.push_back(as_statement(is(proximal(x, delta)), p, "Eq 31 is the minimiser of Eq 30"));
    points.push_back(rival_system(exact_point(x.after("nlms").data, proximal(x, delta).data, units), p, "NLMS"));
    points.push_back(as_statement(is(x.moved(delta / (1 + delta * x.kk()))), p, "beta = delta / (1 + delta |k|^2)"));
    if (norm != 1) points.push_back(rival_law(is(x.moved(delta / (1 + delta * norm))), p, "|k| for |k|^2"));
    points.push_back(rival_law(is(x.moved(delta)), p, "beta = delta"));
    points.push_back(rival_law(is(proximal(x, 2 * delta)), p, "2 delta for delta"));
    points.push_back(
        as_obligation(exact_point(x.after_longhorn(0).data, x.M.data, 0), p, "delta = 0 leaves M as it is"));
  }
  return points;
}

Claim longhorn_claim() {
  return explained(
      at_parameters(
          running(
              ledger_row("longhorn-eq31", "003 Eq 30-31",
                         "The minimiser of $|M - M_{t-1}|_F^2 / 2 + (delta/2) |v - M k|^2$ is $M_{t-1} (I - beta k "
                         "k^T) + beta v k^T$ with $beta = delta / (1 + delta |k|^2)$; $delta = 0$ excludes the latest "
                         "association.",
                         "Identity; $delta = 0$ leaves $M_{t-1}$ to the last bit.", longhorn_solves),
              {"longhorn", "nlms"}),
          step_params({delta_param(0.5)})),
      "The published Longhorn layer keeps the diagonal of $k k^T$ only; this is the paper's form.");
}

std::vector<Point> conservative(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {step_point(0.5, 3), step_point(1, 3), step_point(20, 3)})) {
    const Step x(p, protocol.seed);
    const double delta = p.real("delta"), step = delta * x.kk();
    const auto left = [&](const Dense &M) { return x.v - M * x.k; };
    const Dense longhorn = left(x.after_longhorn(delta));
    const double units = x.units(delta) * (1 + std::sqrt(x.kk()));
    const auto shrinks = [&](double factor) { return exact_point(longhorn.data, (factor * x.error()).data, units); };
    points.push_back(as_statement(shrinks(1 / (1 + step)), p, "the residual shrinks by 1 / (1 + delta |k|^2)"));
    Sequence plain = x.s;
    plain.beta = {delta};
    const Dense sgd = left(memory(run("delta_net", plain), x.s.shape));
    const auto share = [&](const Dense &rest) { // of the residual that one step takes, beta |k|^2
      return at_most_point(frobenius_norm(x.error() - rest) / frobenius_norm(x.error()), 1, 1e-12);
    };
    points.push_back(as_statement(share(longhorn), p, "no step beyond the target: beta |k|^2 <= 1"));
    if (step > 1) points.push_back(rival_system(share(sgd), p, "plain SGD with beta = delta"));
    points.push_back(rival_system(exact_point(sgd.data, (1 / (1 + step) * x.error()).data, units * (1 + step)), p,
                                  "plain SGD's residual"));
    if (p.real("norm") != 1) points.push_back(rival_law(shrinks(1 / (1 + delta * p.real("norm"))), p, "|k| for |k|^2"));
    points.push_back(rival_law(shrinks(-1 / (1 + step)), p, "a change of sign"));
  }
  return points;
}

Claim conservative_claim() {
  return explained(
      at_parameters(
          running(
              ledger_row("longhorn-conservative", "003 after Eq 31",
                         "Longhorn implements SGD with a conservative adaptive step size $beta = delta / (1 + delta "
                         "|k|^2)$.",
                         "$beta |k|^2 < 1$ for every $delta$ and every $k$: the residual shrinks by exactly $1 / (1 + "
                         "delta |k|^2)$, without a change of sign.",
                         conservative),
              {"longhorn", "delta_net"}),
          step_params({delta_param(0.5)})),
      "Plain SGD with $beta = delta$ overshoots from $delta |k|^2 = 1$ and diverges from 2 on.");
}

std::vector<Point> factor_two(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {step_point(1, 1), step_point(0.5, 1.5)})) {
    const Step x(p, protocol.seed);
    const double delta = p.real("delta"), units = x.units(delta) * (1 + 2 * delta * x.kk());
    const Dense layer = x.after_longhorn(delta);
    const auto solves = [&](double factor) { // d + factor |v - M k|^2
      return exact_point(layer.data, proximal(x, 2 * factor).data, units);
    };
    points.push_back(as_statement(solves(delta), p, "l = delta |v - M k|^2 in Eq 7"));
    points.push_back(as_obligation(solves(delta / 2), p, "l = (delta/2) |v - M k|^2"));
    points.push_back(rival_system(exact_point(x.after_longhorn(2 * delta).data, proximal(x, delta).data, units), p,
                                  "Longhorn at 2 delta"));
    points.push_back(rival_law(solves(delta / 4), p, "l = (delta/4) |v - M k|^2"));
    points.push_back(
        as_obligation(exact_point(layer.data, x.moved(delta / (1 + delta * x.kk())).data, units), p, "Eq 31"));
  }
  return points;
}

Claim factor_claim() {
  return explained(
      at_parameters(
          running(refuted_row(
                      "longhorn-ell-factor2",
                      slip("After Eq 30: $l_t = delta |v - M k|^2$.", "none", "Eq 30 and 31 have $delta / 2$."),
                      "003 text under Eq 30",
                      "Eq 30 corresponds to $d = |M - M_{t-1}|_F^2 / 2$ and $l = delta |v - M k|^2$ in Eq 7.",
                      "$l = (delta/2) |v - M k|^2$. The printed $l$ gives the step $2 delta / (1 + 2 delta |k|^2)$; "
                      "Eq 30 and 31 are right.",
                      factor_two),
                  {"longhorn"}),
          step_params({delta_param(1)})),
      "A factor $1/2$ lost between a formula and the sentence about it.");
}

} // namespace

std::vector<Claim> vignette_3_longhorn() { return {longhorn_claim(), conservative_claim(), factor_claim()}; }

} // namespace recollect::theory
