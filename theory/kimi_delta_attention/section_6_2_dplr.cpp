// SPDX-License-Identifier: Apache-2.0
// 2510.26692 §6.2 and Table 7: Kimi delta attention as a diagonal-plus-low-rank recurrence, as a gradient step on the
// decayed state, and the reduction to the gated delta rule. The layer is compared with dense recursions.
#include "theory/support/differences.hpp"
#include "theory/support/measure.hpp"
#include "theory/support/one_head.hpp"

namespace recollect::theory {
namespace {
const std::vector<ParamSpec> head = one_head_params(point_P);

/// A sequence with gates and an initial state of N(0,1) elements.
Sequence gated_sequence(const Shape &shape, Seed seed) {
  Sequence s = theory::gated_sequence(shape, seed, "kda");
  s.state = normal_matrix(shape.Dv, shape.Dk, seed, "kda/state").data;
  return s;
}
/// diag(lambda_t).
Dense decay(const Sequence &s, int t) { return diagonal(column(s.lambda, t, s.shape.Dk).data); }

Claim kda_dplr() {
  ClaimBuilder c("kda-dplr", "2510.26692 §6.2");
  c.says("KDA is the diagonal-plus-low-rank recurrence $S_t = (D - a b^T) S_{t-1} + beta k v^T$ with $D = "
         "Diag(alpha)$, $a = beta k$ and $b = alpha . k$.");
  c.exactly("This is an identity, in which the written pair keeps its factor beta. The equation of §6.2 that names a "
            "and b writes $k v^T$; in it beta is part of v.");
  c.because(
      "This is Eq 1 of the paper in the form of §6.2. The list below that form sets $a = b = k$ to describe which "
      "variables the kernel shares. In this list k is the key before the multiplication by beta and the decays.");
  c.runs({"kda"}), c.takes(head);
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = gated_sequence(shape, seed);
    const Measured kda = measured("kda", s);
    // S [Dv,Dk] is the transpose of the paper's state, so it is multiplied by (D - a b^T)^T from the right.
    const auto dplr = [&](bool decayed_key, double write_strength) {
      return stepped(s, [&](const Dense &S, const Dense &k, const Dense &v, int t) {
        const Dense D = decay(s, t), a = s.beta[t] * k, b = decayed_key ? D * k : k;
        return S * (D - b * transpose(a)) + (write_strength < 0 ? s.beta[t] : write_strength) * write(v, k);
      });
    };
    const Output late = stepped(s, [&](const Dense &S, const Dense &k, const Dense &v, int t) {
      return S * (Dense::identity(k.rows) - s.beta[t] * k * transpose(k)) * decay(s, t) + s.beta[t] * write(v, k);
    });
    Sequence swapped = s; // the sequence without decay
    swapped.lambda.assign(s.lambda.size(), 1.0);
    points
        .statement("KDA is $S_t = (D - a b^T) S_{t-1} + beta k v^T$ with $a = beta k$, $b = alpha . k$",
                   kda.against(dplr(true, -1)))
        .but_not("$b = k$: the state is erased before it decays", kda.against(dplr(false, -1)))
        .but_not("a write of $k v^T$, without $beta$", kda.against(dplr(true, 1)))
        .but_not("the decay after the erasure", kda.against(late));
    points.wrong_system("KDA without decay", measured("kda", swapped).against(dplr(true, -1)));
  });
}

Claim kda_gradient_step() {
  ClaimBuilder c("kda-gradient-step", "2510.26692 §6.3");
  c.says("KDA's update is a gradient step $S_t = S' - grad L(S')$ from the decayed state $S' = Diag(alpha_t) S_{t-1}$ "
         "on $L(S') = beta_t |S'^T k_t - v_t|^2 / 2$.");
  c.exactly("This is an identity.");
  c.because("The gradient is measured from the loss by differences.");
  c.runs({"kda"}), c.takes(head);
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    const Sequence s = gated_sequence(shape, seed);
    const Measured kda = measured("kda", s);
    const auto descend = [&](double step, bool decayed) {
      return stepped(s, [&](const Dense &S, const Dense &k, const Dense &v, int t) {
        const Dense kept = S * decay(s, t);
        const auto loss = [&](const Dense &M) { return s.beta[t] * square(M * k - v) / 2; };
        return kept - step * gradient(decayed ? kept : S, loss);
      });
    };
    // A gradient computed by differences contains the rounding errors of losses of size up to |S|^2 + |v|^2.
    const double factor = inner(s.state, s.state) + inner(s.v, s.v);
    Sequence stronger = s;
    for (double &beta : stronger.beta) beta *= 1.1;
    points
        .statement("KDA's state is S' minus the gradient of $beta |S' k - v|^2 / 2$, S' the decayed state",
                   kda.against(descend(1, true), factor))
        .but_not("the gradient at the state before its decay", kda.against(descend(1, false), factor))
        .but_not("the loss without its $1/2$", kda.against(descend(2, true), factor));
    points.wrong_system("KDA with $beta$ a tenth larger", measured("kda", stronger).against(descend(1, true), factor));
  });
}

Claim kda_reductions() {
  ClaimBuilder c("kda-reductions", "2510.26692 Abstract, §6.3");
  c.says("KDA extends gated DeltaNet by a gate per channel: with the same gate in every channel it is gated DeltaNet.");
  c.exactly("This is an identity. With gates of 1 KDA is DeltaNet.");
  c.because(
      "If the gate is one number for all channels, decay and erasure commute, so their order makes no difference.");
  c.runs({"kda", "gated_delta_net", "delta_net", "rwkv7"}), c.takes(head);
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    Sequence s = gated_sequence(shape, seed), unequal = s;
    const int Dk = s.shape.Dk;
    s.alpha.clear();
    for (int t = 0; t < s.shape.T; ++t) {
      s.alpha.push_back(s.lambda[size_t(t) * Dk]);
      for (int c = 0; c < Dk; ++c) s.lambda[size_t(t) * Dk + c] = s.alpha[t];
    }
    unequal.alpha = s.alpha;
    Sequence kept = s;
    kept.alpha.assign(s.alpha.size(), 1.0), kept.lambda.assign(s.lambda.size(), 1.0);
    const Output gated = run("gated_delta_net", s), delta = run("delta_net", kept);
    points.statement("KDA with one gate for all channels is gated DeltaNet", measured("kda", s).against(gated));
    points.statement("KDA without decay is DeltaNet", measured("kda", kept).against(delta))
        .but_not("KDA with decay is DeltaNet", measured("kda", s).against(delta));
    points.wrong_system("KDA with a gate per channel is gated DeltaNet", measured("kda", unequal).against(gated));
    points.wrong_system("rwkv7, which erases before the decay, is gated DeltaNet", measured("rwkv7", s).against(gated));
  });
}
} // namespace

std::vector<Claim> section_6_2_dplr() { return {kda_dplr(), kda_gradient_step(), kda_reductions()}; }
} // namespace recollect::theory
