// SPDX-License-Identifier: Apache-2.0
// 004 §6.5: eight pairs in a growing context, without training. Further pairs overwrite the eight pairs; filler that is
// not written does not. The width d_h is 32.
#include "theory/support/sampling.hpp"
#include "theory/variational/recall.hpp"

namespace recollect::theory {
namespace {
const int width = 32, eight = 8;

/// |S_m|_F^2 / d after m writes of 0 at unit keys, from S_0 = I: what is left of a row of the state.
Vector kept_squares(const char *layer, double beta, int m, int d, const Stream &keys, size_t first, size_t count) {
  Sequence s =
      stored({int(count), 1, m, d, d}, random_units(count * m, d, keys, first * m), Vector(count * m * d), beta);
  s.state = repeated(Dense::identity(d).data, count);
  return state_squares(forward(find_variant(layer), s).state, count, d * d, d);
}

/// The accuracy of the first eight pairs. All later keys and values are multiplied by `others`; with others = 0 they
/// write nothing.
double first_eight(Memories x, double others, Seed seed, bool algebra) {
  for (int m = 0; m < x.count; ++m)
    for (size_t i = (size_t(m) * x.n + eight) * x.d; i < size_t(m + 1) * x.n * x.d; ++i)
      x.keys[i] *= others, x.values[i] *= others;
  return accuracy(algebra ? algebra_reads(x, vla_reader, seed) : layer_reads(x, vla_reader, seed), x, eight);
}

Claim long_context() {
  ClaimBuilder c("vla-longcontext-untrained", "004 §6.5, §7.4");
  c.says("VLA recalls 1.000 of eight pairs up to $T = 512$: no association is overwritten before its query appears, "
         "and VLA is robust to padding and long-range noise.");
  c.exactly("If $m$ further unit pairs follow a write, the delta rule keeps the share $(1 - 1/d)^m$ of the squared "
            "norm of this write: .467 for $m = 24$, .169 for $m = 56$. VLA with unit $u = k$ recalls .85 of the first "
            "eight pairs if there are 64 pairs in all, and .00 if there are 256. Recall stays flat only if the filler "
            "does not write, or repeats the pairs.");
  c.because("The paper does not say what fills the context. If the layer has learned not to write the filler, this "
            "explains the recall of 1.000 (vla_longcontext_trained).");
  c.is_refuted(of_trained("§6.5, §7.4: 1.000 from $T = 64$ to 512.", "a trained model; the filler is not described",
                          "Fig 6 reports trained models."));
  c.runs({"vla", "delta_net", "scalar_gated_delta"});
  c.takes({integer_param("m", 24, 8, 128, "further keys of the delta rule")}), c.at({{}, {{"m", 56}}});
  c.last([](Points &points, const Protocol &protocol) {
    const auto recall = [&](int n, double others, bool algebra = false) {
      const Memories x = make_memories(KeyKind::unit, protocol.full() ? 24 : 8, n, width, protocol.seed);
      return first_eight(x, others, protocol.seed, algebra);
    };
    const auto place = [](int n) { return labels({{"n", num(eight)}, {"pairs in all", num(n)}}); };
    const double found = recall(256, 1);
    points.at(place(64)).rounding(4).obligation(
        "VLA's recall of the first eight of 64 pairs, computed by dense algebra", recall(64, 1), recall(64, 1, true));
    points.at(place(256)).statement("VLA's recall of eight pairs, followed by other pairs: 1.000", found, 1);
    points.wrong_system("filler of other pairs: VLA's recall of eight pairs is 1.000", found, 1);
    points.obligation("filler that writes nothing: VLA's recall of eight pairs is 1.000", recall(256, 0), 1);
  });
  return measure(c, [](Points &points, const Protocol &protocol, int m) {
    const Stream keys(protocol.seed, "long context/keys", m);
    const auto kept = [&](const char *layer, double beta, size_t first, size_t count) {
      return kept_squares(layer, beta, m, width, keys, first, count);
    };
    const auto law = [&](double d) { return std::pow(1 - 1 / d, m); };
    const double gap = 1 - law(width - 1) / law(width),
                 wanted = std::min(wanted_sensitivity(protocol), std::max(gap, 0.02) / 2);
    const auto draw = [&](size_t first, size_t count) { return kept("delta_net", 1, first, count); };
    const Mean delta = sample_mean(wanted, 30, 5000, in_blocks(cached_block((m + width) * width), draw));
    auto keeps = points.obligation("share of a write's squared norm that the delta rule keeps: $(1 - 1/d)^m$", delta,
                                   law(width));
    if (gap > 0.015) keeps.but_not("$d - 1$ for $d$", law(width - 1));
    points.wrong_system("share that Eq 4 with $beta = 0.9$ keeps: $(1 - 1/d)^m$",
                        mean_of(kept("scalar_gated_delta", 0.9, 0, 30)), law(width));
  });
}

Claim gate_forgets_by_length() {
  ClaimBuilder c("eq4-forgets-by-length", "004 §6.5");
  c.says("Stricter reading: how much the gate of Eq 4 forgets does not depend on the length of the text.");
  c.exactly("After $m$ later pairs the share $beta^m$ of a stored value is left, which depends on the length. So the "
            "gate's decay does not explain equal accuracies of .01 at $T = 64$ and 512.");
  c.because("A model whose state diverged gives flat numbers near $1/127$ at every length. Eq 4 can diverge because "
            "its keys are not normalised (deltanet_eq4_bounded).");
  c.is_refuted(stricter("§6.5: 'DeltaNet's scalar gate decays older associations before the query section arrives, so "
                        "stored pairs are partially forgotten regardless of sequence length'.",
                        "a trained gate; $n = 8$; $T = 64$ to 512",
                        "'Regardless' may mean that something is forgotten at every length, which is true; a gate's "
                        "decay grows with the length."));
  c.runs({"scalar_gated_delta", "delta_net"});
  c.takes({integer_param("m", 16, 2, 60, "later pairs, of keys orthogonal to the first"),
           real_param("beta", 0.9, 0.5, 0.99, "Eq 4's gate")});
  return measure(c, [](Points &points, int m, double beta) {
    const int d = 64;
    // What is left of the first pair after `later` pairs, if all keys are orthonormal.
    const auto left = [&](const char *layer, int later) {
      const Vector axes = rows_of(Dense::identity(d).data, later + 1, d).data;
      const double strength = std::string(layer) == "delta_net" ? 1 : beta;
      Sequence s = stored({1, 1, later + 1, d, 1}, axes, Vector(later + 1, 1.0), strength);
      s.q.assign(s.k.size(), 0.0), s.q[size_t(later) * d] = 1;
      return forward(find_variant(layer), s).o.back();
    };
    const double units = 16.0 * m, found = left("scalar_gated_delta", m);
    points.rounding(units).statement("the same share is left after one later pair as after $m$",
                                     left("scalar_gated_delta", 1), found);
    points.obligation("share of a stored value left after $m$ later pairs: $beta^m$", found, std::pow(beta, m))
        .but_not("$beta^(m-1)$ for $beta^m$", std::pow(beta, m - 1));
    points.wrong_system("no gate (DeltaNet): share left after $m$ later pairs, $beta^m$", left("delta_net", m),
                        std::pow(beta, m));
  });
}
} // namespace

std::vector<Claim> section_6_5_long_context() { return {long_context(), gate_forgets_by_length()}; }
} // namespace recollect::theory
