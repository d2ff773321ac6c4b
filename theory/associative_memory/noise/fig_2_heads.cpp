// SPDX-License-Identifier: Apache-2.0
// What 000 says about heads, widths and similarities after training (Fig 2, §2.1.1-2.1.2), and the one part that can be
// tested without training: the retrieval noise of one head.
#include "theory/associative_memory/noise/noise_points.hpp"

namespace recollect::theory {
namespace {
Claim fig2_head_noise() {
  ClaimBuilder c("fig2-head-noise", "000 §2.1.1 (3), §3.1");
  c.says("Addition to Fig 2, not in the text: for the linear and the exp kernel the retrieval noise of one head falls "
         "as its width $D / n_h$ grows ($D$: width of all heads together, $n_h$: number of heads).");
  c.exactly("With one other pair and Gaussian keys the noise is $1/(d-2)$ for the linear kernel, and $(1+2a)^(-d/2)$ "
            "with $a = 2 (tau-1)/tau^2$ for the exp kernel at $tau = sqrt(d)$.");
  c.because("With fewer and wider heads retrieval is more precise for both kernels, and far more so for exp. This says "
            "nothing about what heads learn in training, which is the subject of Fig 2.");
  c.runs({"linear", "exp_unnormalized"});
  c.takes(
      {integer_param("D", 192, 10, 256, "width of all heads together"), integer_param("heads", 12, 2, 32, "heads")});
  return measure(c, [](Points &points, const Protocol &protocol, int D, int most) {
    for (const KernelLaw &law : {linear_law(), exp_law()}) {
      Integral wider{0};
      for (int heads : protocol.point ? std::vector<int>{1, most} : std::vector<int>{1, 3, 12}) {
        const double d = double(D / heads), tau = std::sqrt(d);
        if (d < 5 || D % heads) usage_error("heads must divide D into widths of at least 5");
        points.at({{"kernel", law.kernel}, {"D", D}, {"heads", heads}, {"d", d}});
        const Integral noise = mean_noise(law, int(d), tau, protocol.seed);
        if (heads > 1) {
          const Integral ratio = wider / noise;
          points.wrong_system("the ratio inverted: noise with more heads / noise with fewer",
                              at_most_point(1 / ratio.value, 1, ratio.error));
          points.obligation("noise with fewer heads / noise with this number of heads, at most 1",
                            at_most_point(ratio.value, 1, ratio.error));
        }
        auto stated = points.obligation("noise of one pair in one head", noise, law.mean(d, tau));
        law.tempered
            ? stated.but_not("exponent $-(d-1)/2$ in place of $-d/2$", std::pow(1 + 2 * decay_rate(tau), -(d - 1) / 2))
            : stated.but_not("$1/d$ in place of $1/(d-2)$", 1 / d);
        wider = noise;
      }
    }
  });
}
} // namespace

std::vector<Claim> fig_2_heads() {
  return {
      fig2_head_noise(),
      not_tested(
          "fig2-training", "000 §3.1, Fig 2, footnote 16, §2.1.1 (3)", Reason::needs_training,
          "GPT-2 small (12 layers, width 768) is trained with the dataset and configuration of the open BlaGPT code. "
          "One model has the linear kernel in place of softmax, with an RMS norm per head. The softmax baseline also "
          "has no normaliser and an RMS norm per head. At fixed width, as the number of heads falls to 1, the "
          "validation loss of linear attention improves markedly, and that of softmax attention gets worse.",
          "The paper does not give the losses, the head counts tried, the number of tokens, batch, length, optimiser, "
          "learning rate, schedule, seeds, commit, nor the temperature of the exp kernel without normaliser. The claim "
          "fig2_head_noise measures the noise of one head. A small text model (2 layers of width 64, 2 million bytes, "
          "suites/trained_text.toml) shows neither trend: with 16 heads and with one, the loss of linear attention is "
          "2.74 and 2.76, and the loss of softmax attention is 2.54 and 2.39. Whether GPT-2 small would show these "
          "trends stays open."),
      not_tested("dimension-scaling", "000 §2.1.1 (1)-(2)", Reason::needs_training,
                 "In LLM training longer contexts need a larger $d$ to keep retrieval accurate, and a lower "
                 "temperature retrieves better (cited work).",
                 "The text gives no set-up: no model, text or lengths, and no criterion of accuracy. The claims "
                 "snr_log2n and snr_temperature are related and need no training."),
      not_tested("polysemantic-hypothesis", "000 §2.1.2, Kernel", Reason::needs_training,
                 "A kernel of lower retrieval precision stores more, in superposition. In support the text cites that "
                 "replacing ReLU by SoLU made representations monosemantic and lowered the score on TriviaQA. "
                 "Multi-head FFNs and a gate $g_i = W_G(x_i)^T x_t$ are suggested as future work.",
                 "The paper calls this a hypothesis. It is about what single neurons of a language model represent. "
                 "The paper gives no set-up, and no experiment here has a corpus of facts. Only the noise of the "
                 "kernels can be computed (snr_solu, snr_relu).")};
}
} // namespace recollect::theory
