// SPDX-License-Identifier: Apache-2.0
// 002 §4: the delta rule as one gradient step, and its effect at the written key and at orthogonal keys.
#include "theory/support/differences.hpp"
#include "theory/unifying_view/one_write.hpp"

namespace recollect::theory {
namespace {

// ---- The step -------------------------------------------------------------------------------------------------------

std::vector<Point> gradient_step(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {write_point({{"beta", num(0.3)}, {"norm", num(1)}}),
                                              write_point({{"beta", num(1)}, {"norm", num(0.7)}})})) {
    const Setting x(p, protocol.seed);
    const double beta = p.real("beta");
    const auto loss = [&](const Dense &S) { // |v - S k|^2 / 2
      const Vector error = mix(1, x.value, -1, times(S, x.key));
      return inner(error, error) / 2;
    };
    const Dense slope = gradient(x.S, loss), erased = x.S * (Dense::identity(x.S.columns) - beta * outer(x.key, x.key));
    const Vector layer = after("delta_net", x.S, {x.write(beta)}).data;
    // The losses that are subtracted are at most loss + |residual||k| + |k|^2 / 2.
    const double kk = inner(x.key, x.key), units = x.units(beta) + 8 * x.S.columns * (loss(x.S) + kk);
    const auto step = [&](const Dense &S) { return exact_point(layer, S.data, units); };
    points.push_back(as_statement(step(x.S - beta * slope), p, "one step against the gradient measured from the loss"));
    points.push_back(as_statement(step(erased + beta * outer(x.value, x.key)), p, "S (I - beta k k^T) + beta v k^T"));
    points.push_back(as_statement(exact_point(slope.data, (-1.0 * outer(x.residual(), x.key)).data, units), p,
                                  "the gradient is -(v - S k) k^T"));
    points.push_back(rival_law(step(x.S - 2 * beta * slope), p, "the loss without its 1/2"));
    points.push_back(rival_law(step(x.S + beta * slope), p, "a step up the gradient"));
    if (beta != 1) points.push_back(rival_law(step(erased + outer(x.value, x.key)), p, "v at full strength"));
    points.push_back(
        rival_system(exact_point(after("linear", x.S, {x.write(beta)}).data, (x.S - beta * slope).data, units), p,
                     "linear attention"));
  }
  return points;
}

Claim gradient_claim() {
  return explained(
      at_parameters(
          running(ledger_row("blog-delta-gradient", "002 §4",
                             "The gradient of $L(S) = |v - S k|^2 / 2$ is $-(v - S k) k^T$, and one step of size "
                             "$beta$ from $S_{t-1}$ is $S_{t-1} (I - beta k k^T) + beta v k^T$, the delta rule.",
                             "Identity, for keys of any length.", gradient_step),
                  {"delta_net", "linear"}),
          write_params({beta_param(), norm_param(1)})),
      "The layer is compared with a step along the slope of the loss itself, taken by differences.");
}

// ---- What I - beta k k^T does ---------------------------------------------------------------------------------------

std::vector<Point> shrink(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {write_point({{"beta", num(0.3)}}), write_point({{"beta", num(1)}}),
                                              write_point({{"beta", num(1.5)}})})) {
    const Setting x(p, protocol.seed);
    const double beta = p.real("beta");
    // The factor on S is what a write of v = 0 leaves of S = I.
    const auto factor = [&](const std::string &variant, double length, double alpha) {
      return after(variant, Dense::identity(x.S.columns),
                   {{scaled(length, x.key), Vector(x.S.columns, 0.0), beta, alpha}});
    };
    const auto spectrum = [&](const Dense &A, double along) { // against `along` once and 1 for the rest
      Vector expected(A.rows, 1.0);
      expected[0] = along;
      std::sort(expected.begin(), expected.end());
      return exact_point(symmetric_eigenvalues(A), expected, 8 * A.rows * (1 + beta));
    };
    const Dense A = factor("delta_net", 1, 1);
    points.push_back(as_statement(spectrum(A, 1 - beta), p, "eigenvalues 1 - beta, once, and 1"));
    points.push_back(as_statement(
        exact_point(times(A, mix(1, x.key, 1, x.other)), mix(1 - beta, x.key, 1, x.other), 8 * A.rows * (1 + beta)), p,
        "k shrinks by 1 - beta, an orthogonal direction stays"));
    points.push_back(as_obligation(spectrum(factor("delta_net", 1.3, 1), 1 - beta * 1.69), p,
                                   "in general 1 - beta |k|^2, |k| = 1.3"));
    points.push_back(rival_law(spectrum(A, 1 + beta), p, "1 + beta"));
    if (beta != 1) points.push_back(rival_law(spectrum(A, (1 - beta) * (1 - beta)), p, "(1 - beta)^2"));
    points.push_back(rival_system(spectrum(factor("delta_net", 1.3, 1), 1 - beta), p, "a key of length 1.3"));
    points.push_back(rival_system(spectrum(factor("gated_delta_net", 1, 0.9), 1 - beta), p, "a gate of 0.9 on top"));
  }
  return points;
}

Claim shrink_claim() {
  return explained(
      at_parameters(
          running(
              ledger_row("blog-shrink", "002 §4",
                         "With $|k| = 1$, $I - beta k k^T$ shrinks the component along $k$ by a factor $1 - beta$ and "
                         "leaves everything orthogonal to $k$ untouched.",
                         "Eigenvalues $1 - beta |k|^2$, once, and 1; for $beta$ in (1, 2) the component turns its "
                         "sign.",
                         shrink),
              {"delta_net", "gated_delta_net"}),
          write_params({beta_param()})),
      "$k k^T$ is the projector on the line of $k$ only for keys of length 1, which the text assumes.");
}

// ---- The key that is written ----------------------------------------------------------------------------------------

std::vector<Point> overwrite(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {write_point({{"beta", num(0.3)}, {"norm", num(0.7)}}),
                                              write_point({{"beta", num(1)}, {"norm", num(0.7)}}),
                                              write_point({{"beta", num(1.5)}, {"norm", num(1.5)}})})) {
    const double beta = p.real("beta"), norm = p.real("norm");
    const auto read = [&](const std::string &variant, const Setting &x, const Write &w, double share) {
      return exact_point(times(after(variant, x.S, {w}), x.key), mix(1 - share, x.old_value(), share, x.value),
                         x.units(beta));
    };
    const Params unit_point = Params(p).set("norm", 1);
    const Setting unit(unit_point, protocol.seed), x(p, protocol.seed);
    const Write w = unit.write(beta);
    points.push_back(as_statement(read("delta_net", unit, w, beta), unit_point, "(1 - beta) v_old + beta v"));
    points.push_back(
        rival_system(read("delta_net", unit, turned(w), beta), unit_point, "erasure with its sign turned"));
    points.push_back(rival_system(read("linear", unit, w, beta), unit_point, "linear attention"));
    if (norm == 1) continue;
    const Point general = as_obligation(read("delta_net", x, x.write(beta), beta * norm * norm), p,
                                        "in general beta |k|^2 in place of beta");
    points.push_back(general);
    points.push_back(rival_law(read("delta_net", x, x.write(beta), beta), p, "beta whatever the length"));
    points.push_back(rival_law(read("delta_net", x, x.write(beta), beta * norm), p, "beta |k|"));
  }
  return points;
}

Claim overwrite_claim() {
  return explained(
      at_parameters(
          running(
              ledger_row("blog-overwrite", "002 §4",
                         "With $|k_t| = 1$ the read-out at the key just written is $S_t k_t = (1 - beta) v_old + beta "
                         "v_t$, $v_old = S_{t-1} k_t$: a full overwrite at $beta = 1$, none at $beta = 0$.",
                         "In general with $beta |k|^2$ for $beta$.", overwrite),
              {"delta_net", "linear"}),
          write_params({beta_param(), norm_param(0.7)})),
      "The length of the key is a step size in disguise, which is why keys are normalised in practice.");
}

// ---- Orthogonal keys ------------------------------------------------------------------------------------------------

std::vector<Point> orthogonal(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {write_point({{"beta", num(0.3)}, {"norm", num(1)}}),
                                              write_point({{"beta", num(1.7)}, {"norm", num(2)}})})) {
    const auto untouched = [&](const std::string &variant, double cosine, double alpha) {
      const Setting x(Params(p).set("cosine", cosine), protocol.seed);
      return exact_point(times(after(variant, x.S, {x.write(p.real("beta"), alpha)}), x.other), times(x.S, x.other),
                         x.units(p.real("beta")));
    };
    points.push_back(as_statement(untouched("delta_net", 0, 1), p, "the read at k' . k = 0, before and after"));
    points.push_back(rival_system(untouched("delta_net", 0.1, 1), p, "k' at cosine 0.1"));
    points.push_back(rival_system(untouched("gated_delta_net", 0, 0.99), p, "a gate of 0.99"));
  }
  return points;
}

Claim orthogonal_claim() {
  return explained(
      at_parameters(
          running(
              ledger_row("blog-orthogonal-untouched", "002 §4",
                         "Writing at $k_t$ does not affect the read-out of exactly orthogonal keys: $S_t k' = S_{t-1} "
                         "k'$ where $k_t$ . $k' = 0$.",
                         "For every $beta$ and every $|k|$.", orthogonal),
              {"delta_net", "gated_delta_net"}),
          write_params({beta_param(), norm_param(1)})),
      "At a cosine $c$ the read moves by $beta c (v - S k)$: a tenth of the residual at $c = 0.1$ already.");
}

// ---- The size of a write --------------------------------------------------------------------------------------------

std::vector<Point> proportional(const Protocol &protocol) {
  std::vector<Point> points;
  for (const Params &p : points_of(protocol, {write_point({{"beta", num(0.3)}, {"norm", num(1)}}),
                                              write_point({{"beta", num(1)}, {"norm", num(0.7)}})})) {
    const Setting x(p, protocol.seed);
    const double beta = p.real("beta"), norm = p.real("norm");
    const auto size = [](const Vector &v) { return std::sqrt(inner(v, v)); };
    const auto change = [&](const std::string &variant, const Vector &v) {
      return frobenius_norm(after(variant, x.S, {{x.key, v, beta, 1}}) - x.S);
    };
    const double error = size(x.residual()), units = x.units(beta) * std::sqrt(double(x.S.rows));
    const Point whole = as_statement(exact_point(change("delta_net", x.value), beta * error * norm, units), p,
                                     "|S_t - S_{t-1}|_F = beta |v - S k||k|");
    points.push_back(whole);
    const Vector closer = mix(0.75, x.old_value(), 0.25, x.value); // a quarter of the error
    points.push_back(as_statement(exact_point(change("delta_net", closer), beta * error * norm / 4, units), p,
                                  "at a quarter of the error"));
    points.push_back(rival_law(whole, "beta |v||k|", beta * size(x.value) * norm));
    if (norm != 1) points.push_back(rival_law(whole, "|k|^2 for |k|", beta * error * norm * norm));
    points.push_back(
        rival_system(exact_point(change("linear", x.value), beta * error * norm, units), p, "linear attention"));
  }
  return points;
}

Claim proportional_claim() {
  return explained(
      at_parameters(running(ledger_row("blog-write-proportional", "002 §4",
                                       "DeltaNet turns the blind addition into an error-correcting write whose size is "
                                       "proportional to how wrong the current read-out at $k_t$ is.",
                                       "$|S_t - S_{t-1}|_F = beta |v - S_{t-1} k||k|$.", proportional),
                            {"delta_net", "linear"}),
                    write_params({beta_param(), norm_param(0.7)})),
      "Linear attention writes $|v||k|$ whatever it reads already.");
}

// ---- A pair written twice -------------------------------------------------------------------------------------------

std::vector<Point> twice(const Protocol &protocol) {
  std::vector<Point> points;
  std::vector<Params> own;
  for (double step : {0.5, 1.0, 1.5, 2.0, 2.5}) own.push_back(write_point({{"step", num(step)}}));
  for (const Params &p : points_of(protocol, own)) {
    const double step = p.real("step"), norm = 1.4, beta = step / (norm * norm);
    const Setting x(Params(p).set("norm", norm), protocol.seed);
    const auto second_write = [&](const std::string &variant) {
      return after(variant, x.S, {x.write(beta), x.write(beta)}) - after(variant, x.S, {x.write(beta)});
    };
    const auto leaving = [&](const Dense &change, double share) { // of the first write, beta (v - S k) k^T
      return exact_point(change.data, (share * beta * outer(x.residual(), x.key)).data, x.units(beta));
    };
    const Dense change = second_write("delta_net");
    points.push_back(as_statement(leaving(change, 1 - step), p, "the second write is 1 - beta |k|^2 of the first"));
    points.push_back(rival_system(leaving(second_write("linear"), 1 - step), p, "linear attention"));
    if (step != 1 && step != 2)
      points.push_back(rival_law(leaving(change, (1 - step) * (1 - step)), p, "(1 - beta |k|^2)^2 of the first"));
    points.push_back(rival_law(leaving(change, 1), p, "as large as the first"));
  }
  return points;
}

Claim twice_claim() {
  return explained(
      at_parameters(
          running(
              ledger_row("blog-write-twice", "002 §4",
                         "Writing the same ($k$, $v$) twice is a near no-op in DeltaNet: the residual is already small "
                         "on the second write.",
                         "The second write is $1 - beta |k|^2$ times the first: nothing at $beta |k|^2 = 1$, half of "
                         "it at 0.5, as large at 2, larger beyond.",
                         twice),
              {"delta_net", "linear"}),
          write_params({real_param("step", 1, 1e-3, 4, "beta |k|^2")})),
      "Near means near $beta |k|^2 = 1$. A write strength of one half leaves half the error for the second write.");
}

} // namespace

std::vector<Claim> section_4_delta_rule() {
  return {gradient_claim(), shrink_claim(), overwrite_claim(), orthogonal_claim(), proportional_claim(), twice_claim()};
}

} // namespace recollect::theory
