// SPDX-License-Identifier: Apache-2.0
// 004 §6.4 without training: how many pairs each layer recalls on three kinds of keys, at the paper's d_h = 32.
#include "theory/variational/recall.hpp"

namespace recollect::theory {
namespace {
const int width = 32;
const ParamSpec pairs = integer_param("n", 24, 2, 96, "pairs");

/// Accuracy of softmax attention. Each key is queried after all pairs have been written, in a separate head.
double softmax_accuracy(const Memories &x, double scale) {
  Sequence s;
  s.shape = {x.count * x.n, 1, x.n, x.d, x.d};
  for (int m = 0; m < x.count; ++m)
    for (int i = 0; i < x.n; ++i) {
      append_row(s.k, x.K(m).data), append_row(s.v, x.V(m).data);
      for (int t = 0; t < x.n; ++t) append_row(s.q, row(x.keys, m * x.n + i, x.d));
    }
  const Output out = run("softmax", s, {{"scale", number(scale)}});
  Vector reads;
  for (int head = 0; head < s.shape.B; ++head) append_row(reads, row(out.o, head * x.n + x.n - 1, x.d));
  return accuracy(reads, x);
}

Claim orthonormal() {
  ClaimBuilder c("vla-untrained-orthonormal", "004 §6.4 (untrained)");
  c.says("With $n <= 32$ orthonormal keys at $d_h = 32$ every layer decodes all pairs.");
  c.exactly("Linear attention, DeltaNet, Eq 4, VLA with $u$ along $k$, and RLS decode all pairs at $n = 8$, 24, 32. "
            "Softmax attention does so if the scale of its logits is large (20); at the scale $1/sqrt d$ it decodes "
            "the shares 0.22, 0.06, 0.05.");
  c.runs({"linear", "delta_net", "scalar_gated_delta", "vla", "rls", "softmax"});
  c.takes({integer_param("n", 24, 4, 32, "pairs")}), c.at({{{"n", 8}}, {}, {{"n", 32}}});
  return measure(c, [](Points &points, const Protocol &protocol, const Params &p, int n) {
    if (n > width) usage_error("there are no more than 32 orthonormal keys at d = 32");
    const Memories x = make_memories(KeyKind::orthonormal, protocol.full() ? 24 : 4, n, width, protocol.seed);
    for (const Reader &r : {linear_reader, delta_reader, gated_reader, vla_reader, rls_reader})
      points.append(recalled(x, r, p, protocol.seed).points);
    points.rounding(4);
    for (const Reader &r : {linear_reader, delta_reader, gated_reader, vla_reader, rls_reader})
      points.obligation(std::string(r.name) + ": all pairs", accuracy(layer_reads(x, r, protocol.seed), x), 1);
    // The right value has the weight exp(scale), the n - 1 others have the weight 1. So the right value dominates from
    // a scale of about ln n on.
    points.wrong_system("softmax attention at scale $1/sqrt d$: accuracy 1",
                        softmax_accuracy(x, 1 / std::sqrt(double(width))), 1);
    points.obligation("softmax attention at scale 20: accuracy 1", softmax_accuracy(x, 20), 1);
  });
}

/// The statement that `first` >= `second`, for two accuracies.
Point ranked(double first, double second) { return at_least_point(first, second, 0); }

const std::vector<Reader> all_readers{linear_reader,         delta_reader,    gated_reader, vla_reader,
                                      short_u_reader(width), random_u_reader, rls_reader};
/// The accuracy of every reader, by the reader's name. Adds the points of all readers.
std::map<std::string, double> recall_all(Points &points, const Memories &x, const Params &at, Seed seed) {
  std::map<std::string, double> found;
  for (const Reader &r : all_readers) {
    const Recalled result = recalled(x, r, at, seed);
    found[r.name] = result.accuracy;
    points.append(result.points);
  }
  return found;
}
std::vector<Changes> sizes(const std::vector<int> &pairs) {
  std::vector<Changes> all;
  for (int n : pairs) all.push_back({{"n", double(n)}});
  return all;
}
const std::vector<Changes> of_full_suite = sizes({8, 16, 24, 32, 48, 96});

Claim unit_keys() {
  ClaimBuilder c("vla-untrained-unit-keys", "004 §6.4 (untrained)");
  c.says("With random unit keys and values at $d_h = 32$ untrained layers do not show the ranking reported after "
         "training (VLA 1.000, linear attention 0.07, DeltaNet 0.01 at $n = 24$).");
  c.exactly("The accuracies follow from the layers' closed forms. At $n = 24$, 48 and 96 linear attention has about "
            "1.00, .93, .62; DeltaNet .92, .60, .29; Eq 4 .52, .25, .13; VLA with unit $u = k$ 1.00, .99, .41, and "
            "with Algorithm 1's $u$ .97, .70, .33; RLS 1.00, 1.00, .81.");
  c.because("Linear attention decodes well because the errors from many independent keys average out. So the additive "
            "state does not explain the reported 0.07.");
  c.runs({"linear", "delta_net", "scalar_gated_delta", "vla", "rls"}), c.takes({pairs});
  c.at(sizes({24, 48}), of_full_suite);
  return measure(c, [](Points &points, const Protocol &p, const Params &at, int n) {
    const Memories x = make_memories(KeyKind::unit, p.full() ? 64 : 20, n, width, p.seed);
    std::map<std::string, double> found = recall_all(points, x, at, p.seed);
    const Reader other{"DeltaNet, $beta = 0.9$", "delta_net", Rule::delta, 0.9};
    points.at(at).rounding(1e6).wrong_system("DeltaNet with $beta = 0.9$: reads of DeltaNet with $beta = 1$",
                                             layer_reads(x, other, p.seed), algebra_reads(x, delta_reader, p.seed));
    const double linear = found[linear_reader.name], delta = found[delta_reader.name], gated = found[gated_reader.name];
    if (n == 24)
      points.append({rival_law(exact_point(linear, 0.074, 4), at, "linear attention as trained: 0.074"),
                     rival_law(exact_point(delta, 0.011, 4), at, "DeltaNet as trained: 0.011")});
    if (n == 48) {
      points.obligation("accuracy of VLA above that of linear attention", ranked(found[vla_reader.name], linear));
      points.wrong_system("accuracy of VLA with Algorithm 1's u above that of linear attention",
                          ranked(found[short_u_reader(width).name], linear));
      points.obligation("accuracy of linear attention above that of DeltaNet", ranked(linear, delta));
      points.wrong_system("accuracy of Eq 4 above that of DeltaNet", ranked(gated, delta));
    }
  });
}

Claim feature_keys() {
  ClaimBuilder c("vla-untrained-elu-keys", "004 §6.4 (untrained)");
  c.says("With normalised elu + 1 keys and unit $u = k$ at $d_h = 32$, the reported ranking (VLA far above linear "
         "attention, and linear attention above DeltaNet) appears without training.");
  c.exactly("The accuracies follow from the layers' closed forms. At $n = 8$, 24 and 48 VLA with unit $u = k$ has "
            "1.00, 1.00, .99, and with Algorithm 1's $u$ .64, .74, .63; linear attention .36, .10, .05; DeltaNet .15, "
            ".06, .04; RLS 1.00, 1.00, 1.00.");
  c.because(
      "In the authors' favour: positive features have a direction in common. VLA's $A_t$ removes this direction from "
      "the write direction; linear attention and DeltaNet keep it. So VLA's 1.000 at $n <= 24$ is plausible.");
  c.runs({"linear", "delta_net", "scalar_gated_delta", "vla", "rls"}), c.takes({pairs});
  c.at(sizes({8, 24}), of_full_suite);
  return measure(c, [](Points &points, const Protocol &p, const Params &at, int n) {
    const Memories x = make_memories(KeyKind::features, n == 8 ? 96 : p.full() ? 48 : 12, n, width, p.seed);
    std::map<std::string, double> found = recall_all(points, x, at, p.seed);
    const double vla = found[vla_reader.name], linear = found[linear_reader.name], delta = found[delta_reader.name];
    points.at(at).rounding(1e6);
    points.wrong_system("VLA with Algorithm 1's u: reads of VLA with unit u",
                        layer_reads(x, short_u_reader(width), p.seed), algebra_reads(x, vla_reader, p.seed));
    points.append({rival_law(exact_point(vla, 1.0 / n, 4), at, "VLA as a guess that ignores the key")});
    if (n == 8) {
      points.obligation("accuracy of VLA above that of linear attention", ranked(vla, linear));
      points.wrong_system("accuracy of DeltaNet above that of linear attention", ranked(delta, linear));
      points.obligation("accuracy of linear attention above that of DeltaNet", ranked(linear, delta));
      points.wrong_system("accuracy of Eq 4 above that of linear attention", ranked(found[gated_reader.name], linear));
    }
    if (n == 24) {
      points.obligation("accuracy of VLA: at least 0.994, as the paper's after 1000 steps",
                        at_least_point(vla, 0.994, 0));
      points.wrong_system("accuracy of VLA with Algorithm 1's u: at least 0.994",
                          at_least_point(found[short_u_reader(width).name], 0.994, 0));
    }
  });
}
} // namespace

std::vector<Claim> section_6_4_untrained_recall() { return {orthonormal(), unit_keys(), feature_keys()}; }
} // namespace recollect::theory
