// SPDX-License-Identifier: Apache-2.0
// 002 §6 and Outlook, the needle in a haystack: the share of one stored pair that remains in each layer after m later
// writes.
#include "harness/numerics/keys.hpp"
#include "theory/unifying_view/retention.hpp"

namespace recollect::theory {
namespace {
Claim retention() {
  ClaimBuilder c("blog-needle-retention", "002 §6 (not in its table)");
  c.says("After $m$ later writes less of a needle (a pair written earlier) is left. DeltaNet erases it at keys that "
         "resemble its key, Mamba2 decays it together with the haystack, and Gated DeltaNet does both.");
  c.exactly("After $m$ random unit keys, at $beta = 1$, the mean share of the needle that is left is $(1 - 1/d)^m$ in "
            "DeltaNet, $alpha^m$ in Mamba2 and the product of both in Gated DeltaNet. After $r$ orthonormal keys, "
            "repeated any number of times, DeltaNet keeps $1 - r/d$.");
  c.because("The text explains its table of trained models by these three mechanisms, which can be measured without "
            "training. In DeltaNet a haystack that repeats a few keys, as in the passkey task, erases nothing more "
            "after each key was written once. A gate reduces the needle at every write.");
  c.runs({"delta_net", "gated_delta_net", "mamba2", "linear"}), c.draws({"needle"});
  c.takes({integer_param("d", 16, 4, 256, "key width"), integer_param("m", 16, 2, 500, "later writes"),
           integer_param("r", 4, 1, 256, "distinct keys of the repeated haystack"),
           real_param("alpha", 0.97, 0.5, 0.999, "decay per step")});
  c.at({{{"m", 8}}, {}});
  return measure(c, [](Points &points, const Protocol &protocol, int d, int m, int r, double alpha) {
    const double delta = std::pow(1 - 1.0 / d, m), gate = std::pow(alpha, m), late = gate / alpha;
    if (r > std::min(d, m)) usage_error("take r <= d and r <= m, so that all r keys are orthonormal and written");
    // Rivals of the two sampled laws.
    const double other_width = std::pow(1 - 1.0 / (d - 1), m), fewer = std::pow(1 - 1.0 / d, m - 1);
    const auto mean = [&](const std::string &variant, double law, const Vector &rivals) {
      return mean_kept(variant, m, d, 1, alpha, protocol, wanted_sensitivity(protocol, law, rivals));
    };
    points
        .statement("mean share of the needle left in DeltaNet: $(1 - 1/d)^m$",
                   mean("delta_net", delta, {other_width, fewer}), delta)
        .but_not("$d-1$ in place of $d$", other_width)
        .but_not("$m-1$ in place of $m$", fewer);
    const Mean both = mean("gated_delta_net", gate * delta, {gate, delta, late * delta});
    points.statement("mean share of the needle left in Gated DeltaNet: $alpha^m (1 - 1/d)^m$", both, gate * delta)
        .but_not("the gate alone: $alpha^m$", gate)
        .but_not("the erasure alone: $(1 - 1/d)^m$", delta)
        .but_not("$alpha^(m-1)$ in place of $alpha^m$", late * delta);
    // These laws need no random keys: the gate does not depend on keys, and repeated keys erase their directions
    // completely.
    Vector keys = repeated(make_keys({"orthonormal", r, d}, 1, protocol.seed), m / r + 1);
    keys.resize(size_t(m) * d);
    const auto left = [&](const std::string &variant) { return kept(variant, keys, m, d, 1, alpha)[0]; };
    const double cleared = 1 - double(r) / d;
    points.rounding(16.0 * m * d);
    points.statement("share of the needle left in Mamba2: $alpha^m$, whatever the keys", left("mamba2"), gate)
        .but_not("$alpha^(m-1)$ in place of $alpha^m$", late);
    points
        .statement("share of the needle left in DeltaNet after r repeated keys: $1 - r/d$", left("delta_net"), cleared)
        .but_not("$(1 - 1/d)^m$, as if each repeat erased again", delta)
        .but_not("$r-1$ in place of $r$", 1 - (r - 1.0) / d);
    points.wrong_system("linear attention", left("linear"), cleared);
  });
}

Claim trained_table() {
  ClaimBuilder c("blog-sniah", "002 §6, Table 2 of Yang, Kautz, Hatamizadeh 2024");
  c.says("The post gives accuracies in % on RULER's needle tasks at contexts of 1K, 2K, 4K and 8K. On S-NIAH-1 "
         "(passkey) DeltaNet stays near perfect through 8K (about 99), Mamba2 falls from 99.2 to 30.4, and Gated "
         "DeltaNet is around 90 at 8K. On S-NIAH-2 (number) DeltaNet falls from 98.4 to 14.4. Gated DeltaNet wins "
         "every cell of S-NIAH-2 and S-NIAH-3 (uuid).");
  c.exactly("The numbers are of trained models. The table is an image in the post, which gives neither model size, "
            "data, tokens, training length nor seeds. The claim blog_needle_retention measures the mechanisms.");
  return c.is_not_tested(Reason::needs_training);
}

Claim state_aware() {
  ClaimBuilder c("blog-state-aware", "002 §4, §6, Outlook");
  c.says("Learned gates see $x_t$ but not the state, so they do not see the error of the read at $k_t$. A step size "
         "that depends on the residual would be the natural next step.");
  c.exactly("This is a proposal, not a numerical statement.");
  return c.is_not_tested(Reason::not_numeric);
}
} // namespace

std::vector<Claim> section_6_needle() { return {retention(), trained_table(), state_aware()}; }
} // namespace recollect::theory
