// SPDX-License-Identifier: Apache-2.0
// 000 §3.2, Fig 3 and 4, reduced to seconds of training, by the listing of E.4 where the section is silent: five
// elements, 16 swaps, width 12, one block x + mixer(x) without norm, MLP or position, a separate head; one head instead
// of four, no biases, gates by step, batches of 64. The figure itself: training_experiments.cpp.
#include "theory/support/training.hpp"

namespace recollect::theory {
namespace {
struct Variation {
  std::string mixer, kappa1; // none for what is no DeltaFormer
  int layers = 1;
  std::string labels = "right";
};

Mean trained(const Variation &x, int seed) {
  Assignments all = settings("task=swaps elements=5 pairs=16 vocabulary=10 norm=none head=own ffn=0 width=12 heads=1 "
                             "positions=none batch=64 steps=600 lr=0.03");
  all["mixer"] = x.mixer, all["layers"] = number(x.layers), all["labels"] = x.labels;
  if (!x.kappa1.empty()) all["delta_former.kappa1"] = x.kappa1, all["delta_former.kappa2"] = "softmax";
  return trained_accuracy(all, std::uint64_t(seed));
}

Params place(const Variation &x, int seed) {
  return labels(
      {{"mixer", x.mixer}, {"kappa1", x.kappa1.empty() ? "-" : x.kappa1}, {"layers", x.layers}, {"seed", seed}});
}

/// The accuracy of answering j after the swap (0, j) and 0 after any other: right where place j, or 0, had kept its
/// element until then, which element 0 has after t swaps with p_t = .1 + p_{t-1} / 2 = .2 + .8 / 2^t.
double without_memory() {
  double kept = 1, sum = 0;
  for (int t = 0; t < 16; ++t) sum += kept / 16, kept = 0.1 + kept / 2;
  return sum;
}

int seeds(const Protocol &p) { return p.full() ? 2 : 1; }
const Variation linear{"delta_former", "linear"}, rounding{"delta_former", "round"};

Claim tracking() {
  ClaimBuilder c("fig4-reduced-tracking", "000 §3.2, Fig 4, reduced");
  c.says("Trained to name the element of the first place after each of 16 exchanges of five, a DeltaFormer of one "
         "layer with a suitable $kappa_1$ and $kappa_2$ = softmax is right (100 %) where softmax attention of one and "
         "two layers is not.");
  c.exactly("After 600 steps linear and rounding $kappa_1$ reach at least .98, and attention at most .5. Without a "
            "mixer the accuracy is $.2 + .1 (1 - 2^-16)$, from the swap seen last alone.");
  c.because("suites/trained_swaps.toml trains at rates of .003, .01, .03 and .1 for 1000 steps. Linear and rounding "
            "reach 1.00 at the last three rates under each of five seeds, .78 and .65 at the first. Attention of one "
            "layer reaches .35 to .37, of two .37 to .41, of four .35 to .46, with and without rotary embeddings. "
            "Linear $kappa_1$ does as well as rounding, because five keys fit into twelve channels.");
  c.is_reduced(), c.runs({"delta_former", "softmax"});
  return measure(c, [](Points &points, const Protocol &protocol) {
    const double whole = 0.98, half = 0.5;
    for (int seed = 1; seed <= seeds(protocol); ++seed) {
      for (const Variation &x : {linear, rounding})
        points.at(place(x, seed)).statement("tracks five elements", at_least_point(trained(x, seed), whole));
      for (const Variation &x : {Variation{"softmax", "", 1}, Variation{"softmax", "", 2}})
        points.at(place(x, seed)).statement("does not", at_most_point(trained(x, seed), half));
    }
    const Variation shuffled{"delta_former", "linear", 1, "shuffled"}, removed{"none", ""};
    const Mean alone = trained(removed, 1);
    points.at(place(removed, 1)).obligation("the swap seen last", alone, without_memory());
    points.wrong_system("no mixer", at_least_point(alone, whole));
    points.at(place(shuffled, 1)).wrong_system("answers in random order", at_least_point(trained(shuffled, 1), whole));
  });
}

Claim kernels() {
  ClaimBuilder c("fig4-reduced-kernels", "000 §3.2, Fig 4, reduced");
  c.says("Of the $kappa_1$ of one DeltaFormer layer that is trained to track exchanges, the closer to Theorem 1's "
         "construction the better: rounding above exp, and exp above softmax, whose normaliser harms.");
  c.exactly("After 600 steps the differences are at least .2 (rounding above exp) and .05 (exp above softmax).");
  c.because("Each at the best of four rates (five seeds, 1000 steps): linear and rounding 1.00, relu .63, exp .59, "
            "softmax .42. At rate .03, exp reaches only .36 under one of five seeds.");
  c.is_reduced(), c.runs({"delta_former"});
  return measure(c, [](Points &points, const Protocol &protocol) {
    const Variation exp{"delta_former", "exp"}, softmax{"delta_former", "softmax"},
        shuffled{"delta_former", "round", 1, "shuffled"}, shuffled_exp{"delta_former", "exp", 1, "shuffled"};
    const auto above = [](const Mean &a, const Mean &b, double gap) { return at_least_point(difference(a, b), gap); };
    const double far = 0.2, apart = 0.05;
    for (int seed = 1; seed <= seeds(protocol); ++seed) {
      const Mean middle = trained(exp, seed);
      points.at(place(rounding, seed)).statement("above exp", above(trained(rounding, seed), middle, far));
      points.at(place(exp, seed)).statement("above softmax", above(middle, trained(softmax, seed), apart));
    }
    const Mean wrong = trained(shuffled, 1), middle = trained(shuffled_exp, 1);
    points.at(place(shuffled, 1)).wrong_system("above exp, answers in random order", above(wrong, middle, far));
    points.at(place(shuffled_exp, 1))
        .wrong_system("exp above rounding, answers in random order", above(middle, wrong, apart));
  });
}
} // namespace

std::vector<Claim> figure_4_reduced() { return {tracking(), kernels()}; }
} // namespace recollect::theory
