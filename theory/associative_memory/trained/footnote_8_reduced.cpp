// SPDX-License-Identifier: Apache-2.0
// 000 §2.2, footnote 8, in a form that trains in seconds: the delta rule with step size 1, with and without momentum,
// on 8 pairs, in 8 heads of 4 channels after a convolution of two taps. The claim on the footnote itself,
// momentum-helps, is not tested (table_2_momentum.cpp; suites/trained_momentum.toml).
#include "theory/support/training.hpp"

namespace recollect::theory {
namespace {
Mean trained(const Assignments &shown, int seed) {
  const Assignments recall = settings("keys=unit convolution=2 positions=none pairs=8 vocabulary=16 width=32 heads=8 "
                                      "ffn=64 batch=16 steps=300 lr=0.003 dtype=f32");
  return trained_accuracy(changed(recall, shown), std::uint64_t(seed));
}

Claim momentum() {
  ClaimBuilder c("momentum-reduced", "000 §2.2, footnote 8, reduced");
  c.says("The delta rule with step size 1 is trained on key-value recall, with and without first-order momentum, at "
         "the same learning rate. It does better with momentum.");
  c.exactly("After 300 steps at the learning rate .003, the accuracy with momentum .9 is at least .5, and at least .1 "
            "above the accuracy without momentum.");
  c.because("Five seeds reach .64 to .78 with momentum and .34 to .48 without. At the best of four learning rates the "
            "delta rule reaches .998 with momentum and .96 without. DeltaNet, whose step size is learned, reaches "
            ".9995 without (suites/trained_momentum.toml).");
  c.is_reduced(), c.runs({"delta_momentum"});
  return measure(c, [](Points &points, const Protocol &protocol) {
    const Assignments with{{"mixer", "delta_momentum"}, {"delta_momentum.eta", "0.9"}},
        without = changed(with, {{"delta_momentum.eta", "0"}});
    gain_points(points,
                {with, without, 0.5, 0.1, "accuracy with momentum .9, at least .5",
                 "accuracy with momentum .9 minus accuracy without momentum, at least .1"},
                protocol.full() ? 2 : 1, trained);
  });
}
} // namespace

std::vector<Claim> footnote_8_reduced() { return {momentum()}; }
} // namespace recollect::theory
