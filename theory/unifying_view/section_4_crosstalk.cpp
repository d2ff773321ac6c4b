// SPDX-License-Identifier: Apache-2.0
// 002 §3-5: the effect of a write on the read at another key. In linear attention a second write doubles the effect;
// the delta rule partly overwrites the other value; a gate scales it.
#include "theory/unifying_view/one_write.hpp"

namespace recollect::theory {
namespace {
Claim linear_doubles() {
  ClaimBuilder c("blog-linear-doubles", "002 §3-4");
  c.says("In linear attention, writing the same ($k$, $v$) twice doubles the stored value at $k$ and amplifies the "
         "cross-talk for every other key, without new information.");
  c.exactly(
      "After two writes the read at $k$ is $2 |k|^2 v$, and the read at any other key $k'$ contains $2 (k . k') v$.");
  c.because("The write does not depend on what is already stored. A gate $alpha$ only changes the 2 into $1 + alpha$.");
  c.runs({"linear", "gated_linear", "delta_net"}), c.takes(write_params({norm_param(1), cosine_param(0.3)}));
  c.at({{}, {{"norm", 1.5}, {"cosine", -0.6}}});
  return measure(c, [](Points &points, Seed seed, int d, int dv, double norm, double cosine) {
    const Setting x(seed, d, dv, norm, cosine);
    const double overlap = norm * cosine, kk = norm * norm;
    const auto read = [&](const std::string &variant, const Vector &at, double alpha = 1) {
      const Write w = x.write(1, alpha);
      return times(after(variant, Dense(dv, d), {w, w}), at);
    };
    const auto value = [&](double factor) { return scaled(factor, x.value); };
    points.rounding(x.units());
    auto doubled = points.statement("the read at k: $2 |k|^2 v$", read("linear", x.key), value(2 * kk));
    doubled.but_not("$|k|^2 v$, as after one write", value(kk));
    if (norm != 1) doubled.but_not("$2 v$, without $|k|^2$", value(2));
    points.wrong_system("a gate of 0.9, which gives $1.9 |k|^2 v$", read("gated_linear", x.key, 0.9), value(2 * kk));
    points.wrong_system("DeltaNet", read("delta_net", x.key), value(2 * kk));
    if (overlap == 0) return;
    points.statement("the cross-talk at k': 2 v (k . k')", read("linear", x.other), value(2 * overlap))
        .but_not("v (k . k'), as after one write", value(overlap));
  });
}

/// a S k_old + b S k_new + c v, of which a read at the old key consists.
Vector blend(const Setting &x, double a, double b, double c) {
  return mix(1, mix(a, times(x.S, x.other), b, x.old_value()), c, x.value);
}

Claim old_key() {
  ClaimBuilder c("blog-kold-readout", "002 §4");
  c.says("After the write of a new key, $S_t k_old = S_{t-1} k_old - beta (S_{t-1} k_new) cos theta + beta v_new cos "
         "theta$ with $cos theta = k_new$ . $k_old$. So what is stored at $k_old$ is overwritten in part.");
  c.exactly("An identity. It holds for keys of any length if $cos theta$ stands for the inner product.");
  c.because("The read at $k_old$ stays exact only if the new key is exactly orthogonal. The write scales down the old "
            "content along $k_new$, not the content at $k_old$.");
  c.runs({"delta_net"}), c.takes(write_params({beta_param(0.6), cosine_param(0.3)}));
  c.at({{}, {{"beta", 1}, {"cosine", -0.9}}});
  c.also([](Points &points, const Protocol &protocol) { // cos theta is the inner product; norms need not be 1
    const double turn = 0.6 * 0.3 * 1.7;
    const Setting x(protocol.seed, 8, 4, 1.7, 0.3);
    const Vector read = x.read("delta_net", x.write(0.6), x.other);
    points.at(labels({{"d", num(8)}, {"dv", num(4)}, {"beta", num(0.6)}, {"cosine", num(0.3)}, {"norm", num(1.7)}}));
    points.rounding(x.units(0.6))
        .obligation("the read at $k_old$ for keys of lengths 1.7 and 1", read, blend(x, 1, -turn, turn));
  });
  return measure(c, [](Points &points, Seed seed, int d, int dv, double beta, double cosine) {
    const Setting x(seed, d, dv, 1, cosine);
    const double turn = beta * cosine;
    const Write w = x.write(beta);
    const Vector expected = blend(x, 1, -turn, turn);
    auto law =
        points.rounding(x.units(beta)).statement("the read at $k_old$", x.read("delta_net", w, x.other), expected);
    if (turn == 0) return;
    law.but_not("$- beta (S k_new) cos theta$ left out", blend(x, 1, 0, turn))
        .but_not("$+ beta v_new cos theta$ left out", blend(x, 1, -turn, 0))
        .but_not("$+ beta (S k_new) cos theta$ in place of $- beta (S k_new) cos theta$", blend(x, 1, turn, turn))
        .but_not("$- beta (S k_old) cos theta$ in place of $- beta (S k_new) cos theta$", blend(x, 1 - turn, 0, turn));
    points.wrong_system("erasure with the opposite sign", x.read("delta_net", turned(w), x.other), expected);
  });
}

Claim gated_old_key() {
  ClaimBuilder c("blog-gated-kold", "002 §5");
  c.says("In Gated DeltaNet the cross-talk equation picks up an $alpha$ in front of the $S_{t-1}$ terms: $S_t k_old = "
         "alpha S_{t-1} k_old - alpha beta (S_{t-1} k_new) cos theta + beta v_new cos theta$.");
  c.exactly("An identity. The read at $k_new$ is $alpha (1 - beta) v_old + beta v$. The read at an orthogonal key is "
            "scaled by $alpha$, whereas in DeltaNet it does not change.");
  c.because("The new value is added after the gate, so the gate does not scale it.");
  c.runs({"gated_delta_net", "delta_net"});
  c.takes(write_params({beta_param(0.6), cosine_param(0.3), real_param("alpha", 0.8, 0, 0.999, "decay")}));
  c.at({{}, {{"alpha", 0.95}, {"cosine", -0.9}}, {{"cosine", 0}}});
  return measure(c, [](Points &points, Seed seed, int d, int dv, double beta, double cosine, double a) {
    const Setting x(seed, d, dv, 1, cosine);
    const double turn = beta * cosine;
    const Write w = x.write(beta, a);
    const Vector law = blend(x, a, -a * turn, turn), blended = mix(a * (1 - beta), x.old_value(), beta, x.value);
    points.rounding(x.units(beta));
    auto read = points.statement("the read at $k_old$", x.read("gated_delta_net", w, x.other), law)
                    .but_not("the law without $alpha$", blend(x, 1, -turn, turn));
    points.obligation("the read at $k_new$: $alpha (1 - beta) v_old + beta v$", x.read("gated_delta_net", w, x.key),
                      blended);
    points.wrong_system("the read at $k_new$ in DeltaNet", x.read("delta_net", w, x.key), blended);
    if (turn == 0) return;
    read.but_not("$alpha$ also on the new value", blend(x, a, -a * turn, a * turn))
        .but_not("$alpha$ on $S_{t-1} k_old$ only", blend(x, a, -turn, turn));
    points.wrong_system("erasure with the opposite sign", x.read("gated_delta_net", turned(w), x.other), law);
  });
}
} // namespace

std::vector<Claim> section_4_crosstalk() { return {linear_doubles(), old_key(), gated_old_key()}; }
} // namespace recollect::theory
