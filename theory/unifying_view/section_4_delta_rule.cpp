// SPDX-License-Identifier: Apache-2.0
// 002 §4: the delta rule as one gradient step, and its effect at the written key and at orthogonal keys.
#include "theory/support/differences.hpp"
#include "theory/unifying_view/one_write.hpp"

namespace recollect::theory {
namespace {
Claim gradient_step() {
  ClaimBuilder c("blog-delta-gradient", "002 §4");
  c.says("The gradient of $L(S) = |v - S k|^2 / 2$ is $-(v - S k) k^T$, and one step of size $beta$ from $S_{t-1}$ is "
         "$S_{t-1} (I - beta k k^T) + beta v k^T$, the delta rule.");
  c.exactly("An identity, for keys of any length.");
  c.because("The gradient is measured by finite differences of the loss. The layer's write is compared with one step "
            "down this gradient.");
  c.runs({"delta_net", "linear"}), c.takes(write_params({beta_param(), norm_param(1)}));
  c.at({{}, {{"beta", 1}, {"norm", 0.7}}});
  return measure(c, [](Points &points, Seed seed, int d, int dv, double beta, double norm) {
    const Setting x(seed, d, dv, norm);
    const auto loss = [&](const Dense &S) { // |v - S k|^2 / 2
      const Vector error = mix(1, x.value, -1, times(S, x.key));
      return inner(error, error) / 2;
    };
    const Dense slope = gradient(x.S, loss), erased = x.S * (Dense::identity(d) - beta * outer(x.key, x.key));
    const Dense layer = after("delta_net", x.S, {x.write(beta)}), step = x.S - beta * slope;
    // The two losses whose difference is taken are at most loss + |residual||k| + |k|^2 / 2.
    points.rounding(x.units(beta) + 8 * d * (loss(x.S) + inner(x.key, x.key)));
    points.statement("state after the write, against one step down the measured gradient", layer, step)
        .but_not("the gradient of the loss without its $1/2$", x.S - 2 * beta * slope)
        .but_not("a step up the gradient", x.S + beta * slope);
    auto rule = points.statement("state after the write: $S (I - beta k k^T) + beta v k^T$", layer,
                                 erased + beta * outer(x.value, x.key));
    if (beta != 1) rule.but_not("$v k^T$ in place of $beta v k^T$", erased + outer(x.value, x.key));
    points.statement("the gradient is $-(v - S k) k^T$", slope, -1.0 * outer(x.residual(), x.key));
    points.wrong_system("linear attention", after("linear", x.S, {x.write(beta)}), step);
  });
}

Claim shrink() {
  ClaimBuilder c("blog-shrink", "002 §4");
  c.says("With $|k| = 1$, $I - beta k k^T$ shrinks the component along $k$ by a factor $1 - beta$ and leaves "
         "everything orthogonal to $k$ untouched.");
  c.exactly("The eigenvalues of $I - beta k k^T$ are $1 - beta |k|^2$ (once) and 1. For $|k| = 1$ and $beta$ in (1, 2) "
            "the component along $k$ changes its sign.");
  c.because("$k k^T$ projects onto the line of $k$ only for keys of length 1, which the text assumes.");
  c.runs({"delta_net", "gated_delta_net"}), c.takes(write_params({beta_param()}));
  c.at({{}, {{"beta", 1}}, {{"beta", 1.5}}});
  return measure(c, [](Points &points, Seed seed, int d, int dv, double beta) {
    const Setting x(seed, d, dv);
    // The state after a write of v = 0 to S = I is the matrix by which the write multiplies S.
    const auto factor = [&](const std::string &variant, double length, double alpha) {
      return after(variant, Dense::identity(d), {{scaled(length, x.key), Vector(d, 0.0), beta, alpha}});
    };
    const auto spectrum = [&](double along) { // one eigenvalue is `along`, all others are 1
      Vector expected(d, 1.0);
      expected[0] = along;
      std::sort(expected.begin(), expected.end());
      return expected;
    };
    const Dense A = factor("delta_net", 1, 1);
    const Vector values = symmetric_eigenvalues(A), longer = symmetric_eigenvalues(factor("delta_net", 1.3, 1)),
                 gated = symmetric_eigenvalues(factor("gated_delta_net", 1, 0.9));
    points.rounding(8 * A.rows * (1 + beta));
    auto shrunk =
        points.statement("eigenvalues of $I - beta k k^T$: $1 - beta$ once, and 1", values, spectrum(1 - beta))
            .but_not("$1 + beta$ in place of $1 - beta$", spectrum(1 + beta));
    if (beta != 1) shrunk.but_not("$(1 - beta)^2$ in place of $1 - beta$", spectrum((1 - beta) * (1 - beta)));
    points.statement("$k$ is multiplied by $1 - beta$, an orthogonal direction by 1",
                     times(A, mix(1, x.key, 1, x.other)), mix(1 - beta, x.key, 1, x.other));
    points.obligation("eigenvalues for a key of length 1.3: $1 - beta |k|^2$ once, and 1", longer,
                      spectrum(1 - beta * 1.69));
    points.wrong_system("a key of length 1.3", longer, spectrum(1 - beta));
    points.wrong_system("a gate of 0.9", gated, spectrum(1 - beta));
  });
}

Claim overwrite() {
  ClaimBuilder c("blog-overwrite", "002 §4");
  c.says("With $|k_t| = 1$ the read-out at the key just written is $S_t k_t = (1 - beta) v_old + beta v_t$ with $v_old "
         "= S_{t-1} k_t$. This is a full overwrite at $beta = 1$ and none at $beta = 0$.");
  c.exactly("For keys of any length, $beta |k|^2$ replaces $beta$.");
  c.because("The squared length of the key acts as a step size, which is why keys are normalised in practice.");
  c.runs({"delta_net", "linear"}), c.takes(write_params({beta_param(), norm_param(0.7)}));
  c.at({{}, {{"beta", 1}}, {{"beta", 1.5}, {"norm", 1.5}}});
  return measure(c, [](Points &points, Seed seed, const Params &p, int d, int dv, double beta, double norm) {
    const Setting unit(seed, d, dv), x(seed, d, dv, norm);
    const auto blend = [](const Setting &at, double share) { return mix(1 - share, at.old_value(), share, at.value); };
    const Write w = unit.write(beta);
    const auto read = [&](const std::string &variant, const Write &w) { return unit.read(variant, w, unit.key); };
    points.at(Params(p).set("norm", 1)).rounding(unit.units(beta));
    points.statement("the read at the written key: $(1 - beta) v_old + beta v$", read("delta_net", w),
                     blend(unit, beta));
    points.wrong_system("erasure with the opposite sign", read("delta_net", turned(w)), blend(unit, beta));
    points.wrong_system("linear attention", read("linear", w), blend(unit, beta));
    if (norm == 1) return;
    const Vector longer = x.read("delta_net", x.write(beta), x.key);
    points.at(p).rounding(x.units(beta));
    points
        .obligation("the read at a written key of any length: $(1 - beta |k|^2) v_old + beta |k|^2 v$", longer,
                    blend(x, beta * norm * norm))
        .but_not("$beta$ in place of $beta |k|^2$", blend(x, beta))
        .but_not("$beta |k|$ in place of $beta |k|^2$", blend(x, beta * norm));
  });
}

Claim orthogonal() {
  ClaimBuilder c("blog-orthogonal-untouched", "002 §4");
  c.says("Writing at $k_t$ does not affect the read-out of exactly orthogonal keys: $S_t k' = S_{t-1} k'$ where $k_t$ "
         ". $k' = 0$.");
  c.exactly("This holds for every $beta$ and every $|k|$.");
  c.because("At a cosine $c$ the read changes by $beta c (v - S k)$. With $beta = 1$ and $c = 0.1$ this is already a "
            "tenth of the residual $v - S k$.");
  c.runs({"delta_net", "gated_delta_net"}), c.takes(write_params({beta_param(), norm_param(1)}));
  c.at({{}, {{"beta", 1.7}, {"norm", 2}}});
  return measure(c, [](Points &points, Seed seed, int d, int dv, double beta, double norm) {
    const auto untouched = [&](const std::string &variant, double cosine, double alpha) {
      const Setting x(seed, d, dv, norm, cosine);
      return exact_point(x.read(variant, x.write(beta, alpha), x.other), times(x.S, x.other), x.units(beta));
    };
    points.statement("the read at $k'$ with $k' . k = 0$: the same before and after the write",
                     untouched("delta_net", 0, 1));
    points.wrong_system("a key $k'$ of cosine 0.1 with $k$", untouched("delta_net", 0.1, 1));
    points.wrong_system("a gate of 0.99", untouched("gated_delta_net", 0, 0.99));
  });
}

Claim proportional() {
  ClaimBuilder c("blog-write-proportional", "002 §4");
  c.says("DeltaNet turns the blind addition into an error-correcting write whose size is proportional to how wrong the "
         "current read-out at $k_t$ is.");
  c.exactly("The size of the write is $|S_t - S_{t-1}|_F = beta |v - S_{t-1} k||k|$.");
  c.because("In linear attention the size of the write is $|v||k|$, whatever the state already returns.");
  c.runs({"delta_net", "linear"}), c.takes(write_params({beta_param(), norm_param(0.7)}));
  c.at({{{"norm", 1}}, {{"beta", 1}}});
  return measure(c, [](Points &points, Seed seed, int d, int dv, double beta, double norm) {
    const Setting x(seed, d, dv, norm);
    const auto size = [](const Vector &v) { return std::sqrt(inner(v, v)); };
    const auto change = [&](const std::string &variant, const Vector &v) {
      return frobenius_norm(after(variant, x.S, {{x.key, v, beta, 1}}) - x.S);
    };
    const double error = size(x.residual()), law = beta * error * norm;
    const Vector closer = mix(0.75, x.old_value(), 0.25, x.value); // the read if a quarter of the error is removed
    points.rounding(x.units(beta) * std::sqrt(double(x.S.rows)));
    auto whole = points.statement("$|S_t - S_{t-1}|_F = beta |v - S k||k|$", change("delta_net", x.value), law)
                     .but_not("$beta |v||k|$", beta * size(x.value) * norm);
    if (norm != 1) whole.but_not("$|k|^2$ in place of $|k|$", law * norm);
    points.statement("if the error before the write is a quarter, the change of the state is a quarter",
                     change("delta_net", closer), law / 4);
    points.wrong_system("linear attention", change("linear", x.value), law);
  });
}

Claim twice() {
  ClaimBuilder c("blog-write-twice", "002 §4");
  c.says("Writing the same ($k$, $v$) twice is a near no-op in DeltaNet: the residual is already small on the second "
         "write.");
  c.exactly("The second write is $1 - beta |k|^2$ times the first: zero at $beta |k|^2 = 1$, half as large at 0.5, "
            "equally large at 2, and larger beyond 2.");
  c.because("It is a near no-op if $beta |k|^2$ is near 1. At $beta |k|^2 = 1/2$ half of the error is left for the "
            "second write.");
  c.runs({"delta_net", "linear"}), c.takes(write_params({real_param("step", 1, 1e-3, 4, "$beta |k|^2$")}));
  c.at({{{"step", 0.5}}, {}, {{"step", 1.5}}, {{"step", 2}}, {{"step", 2.5}}});
  return measure(c, [](Points &points, Seed seed, int d, int dv, double step) {
    const double norm = 1.4, beta = step / (norm * norm);
    const Setting x(seed, d, dv, norm);
    const Write w = x.write(beta);
    const auto second = [&](const char *layer) { return after(layer, x.S, {w, w}) - after(layer, x.S, {w}); };
    const auto share = [&](double of_first) { return of_first * beta * outer(x.residual(), x.key); };
    const Dense delta = second("delta_net");
    points.rounding(x.units(beta));
    auto write = points.statement("the second write is $1 - beta |k|^2$ times the first", delta, share(1 - step))
                     .but_not("as large as the first", share(1));
    if (step != 1 && step != 2) write.but_not("$(1 - beta |k|^2)^2$ times the first", share((1 - step) * (1 - step)));
    points.wrong_system("linear attention", second("linear"), share(1 - step));
  });
}
} // namespace

std::vector<Claim> section_4_delta_rule() {
  return {gradient_step(), shrink(), overwrite(), orthogonal(), proportional(), twice()};
}
} // namespace recollect::theory
