// SPDX-License-Identifier: Apache-2.0
// Statements of 000 that no training-free number decides: what can be measured beside them is, and is said to be no
// more than that.
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/statistics.hpp"
#include "theory/associative_memory/noise_quadrature.hpp"
#include "theory/support/claims.hpp"

namespace recollect::theory {
namespace {

/// Normalised reads stay inside the values they average; un-normalised ones grow with t.
std::vector<Point> normalisation(const Protocol &protocol) {
  const int runs = 500, T = 128, d = 8, dv = 4;
  Sequence s;
  s.shape = {runs, 1, T, d, dv};
  s.k = Stream(protocol.seed, 281).normals(size_t(runs) * T * d), s.q = Stream(protocol.seed, 282).normals(s.k.size());
  s.v = Stream(protocol.seed, 283).normals(size_t(runs) * T * dv);
  const std::vector<double> bounded = forward(find_variant("softmax"), s).o;
  const auto labelled = [](Point p, const std::string &quantity) {
    return at(p, "exact", labels({{"quantity", txt(quantity)}}));
  };
  std::vector<Point> points{labelled(
      bounded_point(max_abs(bounded), Point::at_most, max_abs(s.v), 4 * T * epsilon_of(Real::f64) * max_abs(s.v), 1),
      "softmax: largest |o| against largest |v|")};
  s.v.assign(s.v.size(),
             1.0); // a sum of T kernel values; for |q|^2 = d each has the mean E exp(q.k / sqrt d) = e^(1/2)
  for (size_t i = 0; i < s.q.size(); i += d) {
    const double scale = std::sqrt(d / inner(&s.q[i], &s.q[i], d));
    for (int c = 0; c < d; ++c) s.q[i + c] *= scale;
  }
  const std::vector<double> grown = forward(find_variant("exp_unnormalized"), s).o;
  std::vector<double> last;
  for (int run = 0; run < runs; ++run) last.push_back(grown[(size_t(run + 1) * T - 1) * dv] / T);
  const Mean mean = mean_of(last);
  points.push_back(labelled(sampled_point(mean.mean, std::exp(0.5), mean.standard_error, 0.5),
                            "exp, not normalised: mean read of equal values, over t"));
  return points;
}

/// Fewer, wider heads: what the SNR forms say of Fig 2, without its training.
std::vector<Point> head_width(const Protocol &protocol) {
  std::vector<Point> points;
  const int D = 192;
  for (int heads : {1, 3, 12}) {
    const int d = D / heads;
    for (const KernelLaw &law : {linear_law(), exp_law()}) {
      const double tau = std::sqrt(d);
      const Integral noise = integrated_noise(law, d, tau, protocol.seed);
      points.push_back(at(integral_point(noise, law.mean(d, tau), 1e-3 * noise.value), "exact",
                          labels({{"kernel", txt(law.kernel)},
                                  {"heads", num(heads)},
                                  {"d", num(d)},
                                  {"quantity", txt("mean noise of one pair in one head")}})));
    }
  }
  return points;
}

} // namespace

std::vector<Claim> design_statements() {
  return {
      running(ledger_row("eq18-norm-role", "000 Eq 18, text",
                         "\"We regard normalization primarily as a mechanism for training stability rather than a "
                         "fundamental design requirement.\"",
                         "A design judgement, not a number. Measured beside it: softmax's reads stay within the "
                         "values, un-normalised reads grow with t; the noise over signal of a read does not "
                         "change (snr_norm_invariant).",
                         normalisation),
              {"softmax", "exp_unnormalized"}),
      running(ledger_row("fig2-8-training", "000 Fig 2, 4-8",
                         "Accuracies and losses of trained models, among them: fewer heads help linear attention and "
                         "harm softmax attention (Fig 2).",
                         "Trained results, out of reach of a training-free check. Measured beside Fig 2: the retrieval "
                         "noise of one head of width D / n_h, which falls with the head's width for both "
                         "kernels, and far faster for exp; what a trained model does with its heads is not in it.",
                         head_width),
              {"linear", "exp_unnormalized"}),
  };
}

} // namespace recollect::theory
