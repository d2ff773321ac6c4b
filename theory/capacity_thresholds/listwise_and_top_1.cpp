// SPDX-License-Identifier: Apache-2.0
// 2605.05189: how many Gaussian pairs n a d x d linear memory holds depends on what counts as retrieved. If the right
// value must be among the strongest candidates, d^2 ~ n suffices; if it must be the first, d^2 ~ n log n is needed.
// Measured on the sum of outer products.
#include "theory/support/measure.hpp"
#include "theory/support/one_head.hpp"

namespace recollect::theory {
namespace {
/// Means over memories, each averaged over its pairs.
struct Margins {
  Mean first;        // share of pairs whose value scores higher than all others
  Mean ahead;        // share of the other values that score at least as high as the right one
  Mean mean, square; // of x and x^2, where x = (score of the right value - score of another value) / d^2
};

/// Writes n Gaussian pairs of width d, then reads at each key and compares the read with every value. Every step first
/// multiplies the state by `kept`; 1 gives the plain sum.
Margins margins(int n, int d, int memories, Seed seed, double kept = 1) {
  Sequence s;
  s.shape = {memories, 1, 2 * n, d, d}; // all writes, then all reads
  const size_t size = s.shape.heads() * s.shape.T * d, half = size_t(n) * d;
  s.q.assign(size, 0), s.k.assign(size, 0), s.v.assign(size, 0);
  const Stream keys(seed, "capacity/keys", n), values(seed, "capacity/values", n);
  for (int m = 0; m < memories; ++m) {
    const Vector k = keys.normals(half, m * half), v = values.normals(half, m * half);
    std::copy(k.begin(), k.end(), s.k.begin() + 2 * m * half);
    std::copy(k.begin(), k.end(), s.q.begin() + (2 * m + 1) * half);
    std::copy(v.begin(), v.end(), s.v.begin() + 2 * m * half);
  }
  const Output out =
      kept == 1 ? run("linear", s, {}, "chunked") : run("retnet", s, {{"gamma", number(kept)}}, "chunked");
  Vector first, ahead, mean, square;
  for (int m = 0; m < memories; ++m) {
    double best = 0, beaten = 0, sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
      const double *read = &out.o[(2 * m + 1) * half + size_t(i) * d];
      const auto score = [&](int j) { return inner(&s.v[2 * m * half + size_t(j) * d], read, d); };
      const double right = score(i);
      int losses = 0;
      for (int j = 0; j < n; ++j) {
        if (j == i) continue;
        const double margin = (right - score(j)) / (double(d) * d);
        losses += margin <= 0, sum += margin, squares += margin * margin;
      }
      best += losses == 0, beaten += losses;
    }
    const double others = double(n) * (n - 1);
    first.push_back(best / n), ahead.push_back(beaten / others);
    mean.push_back(sum / others), square.push_back(squares / others);
  }
  return {mean_of(first), mean_of(ahead), mean_of(mean), mean_of(square)};
}

/// The difference of two independent means.
Mean difference(const Mean &a, const Mean &b) {
  return {a.mean - b.mean, std::hypot(a.standard_error, b.standard_error)};
}

Params place(int n, int d) { return labels({{"n", num(n)}, {"d", num(d)}}); }

Claim capacity_listwise() {
  ClaimBuilder c("capacity-listwise", "2605.05189 abstract (secondary source)");
  c.says("A $d x d$ linear memory can hold $n ~ d^2$ pairs of isotropic Gaussian keys and values, without a logarithm "
         "in n, such that the right value remains among the strongest candidates.");
  c.exactly("The sum of outer products holds that many. The margin between the scores of the right value and of "
            "another value has the mean $d^2$ and the variance $d^2 (2n + 6d + 5)$. So on average a share of at most "
            "$(2n + 6d + 5) / (d^2 + 2n + 6d + 5)$ of the other values scores higher than the right value. At $n = "
            "alpha d^2$ this bound tends to $2 alpha / (1 + 2 alpha)$ for large $d$.");
  c.because("The bound on the share follows from Cantelli's inequality. The source also shows that the minimiser of "
            "its criterion holds no more pairs than this scale. Here a memory without training shows that this many "
            "pairs fit. The abstract was read, not the paper.");
  c.runs({"linear", "retnet"});
  c.takes({integer_param("d", 8, 6, 16, "width; $d^2 / 4$ pairs")});
  c.also([](Points &points, const Protocol &protocol) {
    // n = d^2 / 4 at d = 8 and at d = 16
    const int memories = protocol.full() ? 1024 : 128;
    const Margins small = margins(16, 8, 8 * memories, protocol.seed), large = margins(64, 16, memories, protocol.seed);
    points.at(place(64, 16));
    points.statement(
        "share of values ahead of the right one at $n = d^2 / 4$: share at $n = 64$ minus share at $n = 16$",
        at_most_point(difference(large.ahead, small.ahead), 0));
    points.wrong_system(
        "share of values ahead of the right one at $n = 2 d$: share at $n = 64$ minus share at $n = 16$",
        at_least_point(difference(margins(64, 32, memories, protocol.seed).ahead, small.ahead), 0));
    points.wrong_system("share of values ahead of the right one at $d = 8$: share at $n = 64$ minus share at $n = 16$",
                        at_most_point(difference(margins(64, 8, memories, protocol.seed).ahead, small.ahead), 0));
  });
  return measure(c, [](Points &points, const Protocol &protocol, int d) {
    const int n = d * d / 4, memories = (protocol.full() ? 4 : 1) * 100000 / n;
    const double spread = (2.0 * n + 6 * d + 5) / (d * d);
    const Margins x = margins(n, d, memories, protocol.seed);
    points.statement("share of values ahead of the right one, at most Cantelli's bound",
                     at_most_point(x.ahead, spread / (1 + spread)));
    points.obligation("mean margin of the right value, divided by $d^2$: 1", x.mean, 1.0);
    points.obligation("mean squared margin of the right value, divided by $d^4$", x.square, 1 + spread)
        .but_not("$n$ for $2 n$ in the variance", 1 + spread - double(n) / (d * d))
        .but_not("without $6 d$ in the variance", 1 + spread - 6.0 / d);
    points.wrong_system("a state that decays by 0.9: mean margin", margins(n, d, memories, protocol.seed, 0.9).mean,
                        1.0);
  });
}

Claim capacity_top_1() {
  ClaimBuilder c("capacity-top-1", "2605.05189 abstract (secondary source)");
  c.says("For n pairs of isotropic Gaussian keys and values, top-1 retrieval, in which every right value scores above "
         "all distractors, takes $d^2 ~ n log n$; the sum of outer products achieves this scale.");
  c.exactly("At $d^2 = 4 n$ the share of pairs whose right value has the highest score falls as n grows; at $d^2 = 8 n "
            "ln(n)$ it rises.");
  c.because("The scale is measured as a trend over $n = 16, 64, 256$. The trend shows that at these sizes $d^2 = 4 n$ "
            "is too small and $d^2 = 8 n ln(n)$ large enough; it proves no limit. The factor 8 is from public notes on "
            "the paper and is itself asymptotic: at $n = 256$ and $d^2 = 8 n ln(n)$ the variance of a margin divided "
            "by $d^2$ is $2n + 6d + 5$, still more than twice its limit $2n$. The sizes and the factor 4 were chosen "
            "after a simulation. Two statements of the source are not measured: that no linear memory does better, and "
            "the conjecture that the best one needs $2 n ln(n)$. The abstract was read, not the paper.");
  c.runs({"linear"});
  return measure(c, [](Points &points, const Protocol &protocol) {
    const auto rate = [&](int n, double square) {
      const int memories = (protocol.full() ? 4 : 1) * 40 * 256 / n;
      return margins(n, int(std::lround(std::sqrt(square))), memories, protocol.seed).first;
    };
    const std::vector<int> sizes{16, 64, 256};
    std::vector<Mean> flat, grown;
    for (int n : sizes) flat.push_back(rate(n, 4.0 * n)), grown.push_back(rate(n, 8 * n * std::log(n)));
    for (size_t i = 0; i + 1 < sizes.size(); ++i) {
      points.at(labels({{"n", num(sizes[i + 1])}}));
      const Mean fall = difference(flat[i + 1], flat[i]), rise = difference(grown[i + 1], grown[i]);
      points.statement("share of pairs whose right value has the highest score, at $d^2 = 4 n$: with $n$ pairs minus "
                       "with $n / 4$ pairs",
                       at_most_point(fall, 0));
      points.statement("share of pairs whose right value has the highest score, at $d^2 = 8 n ln n$: with $n$ pairs "
                       "minus with $n / 4$ pairs",
                       at_least_point(rise, 0));
      points.wrong_system("share of pairs whose right value has the highest score, at $d^2 = 4 n$: rises with $n$",
                          at_least_point(fall, 0));
      points.wrong_system("share of pairs whose right value has the highest score, at $d^2 = 8 n ln n$: falls with $n$",
                          at_most_point(rise, 0));
    }
    points.obligation("share of pairs whose right value has the highest score, at $d^2 = 8 n ln n$, $n = 256$",
                      at_least_point(grown.back(), 0.95));
    points.wrong_system("share of pairs whose right value has the highest score, at $d^2 = 4 n$, $n = 256$",
                        at_least_point(flat.back(), 0.95));
  });
}
} // namespace

std::vector<Claim> listwise_and_top_1() { return {capacity_listwise(), capacity_top_1()}; }
} // namespace recollect::theory
