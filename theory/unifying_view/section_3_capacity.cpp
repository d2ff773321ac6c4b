// SPDX-License-Identifier: Apache-2.0
// 002 §3: the capacity limit of a fixed-size state: it is n ~ d if reads are judged by squared error, but may be larger
// if reads are decoded.
#include "theory/unifying_view/stored_pairs.hpp"

namespace recollect::theory {
namespace {
/// The best state for one-hot values, by least squares. Its reads are K K^+; their squared distance from I, per item,
/// is the error.
Point best_state(int n, int columns, double law, Seed seed) {
  const Dense K(n, columns, stored_keys(n, columns, seed, 0, 1)), reads = K * pseudo_inverse(K);
  const double error = std::pow(frobenius_norm(reads - Dense::identity(n)), 2) / n;
  const Vector s = singular_values(K);
  return exact_point(error, law, 16.0 * n * s.front() / s.back());
}

Claim ceiling() {
  ClaimBuilder c("blog-capacity-linear", "002 §3; 000 §2.1");
  c.says("Linear attention compresses the cache into a state whose capacity ceiling is at about $d_k$ stored pairs. "
         "Reliable recall needs $n <~ d_k$ pairs, since a cross-talk larger than the signal hides the value.");
  c.exactly(
      "For random unit keys of width $d$ and $N(0, I)$ values the relative squared error is $(n-1)/d$, so it reaches a "
      "level $rho$ at $n = 1 + rho d$. For $n > d$ no state of $d$ columns has a smaller error than $1 - d/n$.");
  c.because("The scale $n ~ d$ is right: at $n = d + 1$ the noise equals the signal. Which $n$ is reliable depends on "
            "the error that one accepts (about $d/10$ pairs for an error of 10 %), and the text names no criterion.");
  c.holds_asymptotically(), c.runs({"linear", "gated_linear"}), c.draws({"capacity", "recall"});
  c.takes({integer_param("n", 32, 2, 256, "pairs stored"), integer_param("d", 32, 3, 512, "key width")});
  c.at({{{"n", 8}, {"d", 8}}, {}, {{"n", 64}, {"d", 16}}});
  return measure(c, [](Points &points, const Protocol &protocol, int n, int d) {
    const double exact = (n - 1.0) / d, crowded = double(n) / d, narrower = (n - 1.0) / (d - 1);
    const double wanted = wanted_sensitivity(protocol, exact, {crowded, narrower});
    const Mean error = mean_error({"linear", n, d, 1}, 0, n, protocol, wanted);
    points.statement("relative error $n/d$: noise as large as the signal at $n = d$", error, crowded);
    points.limit("linear attention: relative error $(n-1)/d$", error, exact).but_not("$(n-1)/(d-1)$", narrower);
    if (n > d) {
      const double least = least_error(n, d);
      points
          .obligation("relative error of the best state of $d$ columns: $1 - d/n$",
                      best_state(n, d, least, protocol.seed))
          .but_not("$1 - (d-1)/n$", 1 - (d - 1.0) / n);
      points.wrong_system("the best state of $d-1$ columns", best_state(n, d - 1, least, protocol.seed));
    }
    points.wrong_system("linear attention with a gate of 0.8",
                        mean_error({"gated_linear", n, d, 0.8}, 0, n, protocol, 0.04), exact);
  });
}

/// Reads of n items by linear attention with q = k. Row i of C [n,n] = K K^T has the weights of the stored values in
/// the read of item i.
struct Reads {
  Dense C, V;
  Reads(int n, int d, int dv, Seed seed, size_t memory)
      : V(n, dv, Stream(seed, "002/decoded values").normals(size_t(n) * dv, memory * n * dv)) {
    // with one-hot values, a read has the weights of the stored values as its channels
    const Sequence s = stored({1, 1, n, d, n}, stored_keys(n, d, seed, memory, 1), Dense::identity(n).data);
    const Dense S(n, d, forward(find_variant("linear"), s, {"fast", Real::f64, 32, {}}).state);
    C = Dense(n, d, s.k) * transpose(S);
  }
  Dense scores() const { return C * V * transpose(V); } // [item, candidate]
};

/// P(t > x) of Student's distribution with an even number nu of degrees of freedom (a finite series).
double student_tail(double x, int nu) {
  const double sine = x / std::sqrt(nu + x * x), square = nu / (nu + x * x);
  double term = 1, sum = 0;
  for (int k = 1; k <= nu / 2; ++k) sum += term, term *= square * (2 * k - 1) / (2.0 * k);
  return (1 - sine * sum) / 2;
}

/// P(v_l . o > v_i . o) over N(0, I_dv) values: the probability that the value v_l of another item has a larger inner
/// product with the read o of item i than v_i has. Let c be the weight of v_l in o, and u = (v_i - v_l) / sqrt 2. The
/// difference v_i . o - v_l . o is distributed as (1 - c)|u|^2 + sqrt 2 sigma |u| g, where g is N(0, 1) and sigma^2 =
/// (1 + c)^2 / 2 + the sum of the squares of all other weights. |u|^2 is chi-square, so the difference has the sign of
/// a Student variable.
struct Contest {
  double c, others; // others: the sum of the squares of the other weights
  double argument(double own) const { return (1 - c) / std::sqrt(2 * (own + others)); }
  double mistaken(int dv) const { return student_tail(argument((1 + c) * (1 + c) / 2) * std::sqrt(double(dv)), dv); }
  double without_own(int dv) const { return student_tail(argument(0) * std::sqrt(double(dv)), dv); }
  double as_if_normal(int dv) const { return std::erfc(argument((1 + c) * (1 + c) / 2) * std::sqrt(dv / 2.0)) / 2; }
};

/// Over all pairs (item, other candidate): the share of pairs in which the other candidate scores higher, and its law
/// for the same keys.
struct Mistakes {
  Mean measured;
  double law = 0, without_own = 0, as_if_normal = 0;
};
Mistakes pair_mistakes(int n, int d, int dv, const Protocol &protocol) {
  Vector difference;
  Mistakes sum;
  const double wanted = wanted_sensitivity(protocol);
  for (size_t enough = pilot_size(protocol, 200);;) {
    while (difference.size() < enough) {
      const Reads x(n, d, dv, protocol.seed, difference.size());
      const Dense scores = x.scores();
      double wrong = 0, law = 0;
      const double pairs = double(n) * (n - 1);
      for (int i = 0; i < n; ++i) {
        double squares = -1; // sum of the squares of all weights except the item's own weight, 1
        for (int l = 0; l < n; ++l) squares += x.C(i, l) * x.C(i, l);
        for (int l = 0; l < n; ++l) {
          if (l == i) continue;
          const Contest contest{x.C(i, l), squares - x.C(i, l) * x.C(i, l)};
          wrong += (scores(i, l) > scores(i, i)) / pairs, law += contest.mistaken(dv) / pairs;
          sum.without_own += contest.without_own(dv) / pairs, sum.as_if_normal += contest.as_if_normal(dv) / pairs;
        }
      }
      difference.push_back(wrong - law), sum.law += law;
    }
    const double memories = double(enough);
    const Mean gap = mean_of(difference); // measured minus law, so the variance over keys cancels
    const Mistakes found{{gap.mean + sum.law / memories, gap.standard_error},
                         sum.law / memories,
                         sum.without_own / memories,
                         sum.as_if_normal / memories};
    const double short_by = sensitivity(sampled_point(found.measured, found.law)) / wanted;
    if (short_by <= 1 || enough >= 100'000) return found;
    enough = size_t(1 + 1.2 * memories * std::min(16.0, short_by * short_by));
  }
}

/// The share of items, over all memories, whose own value has the largest product with the read.
Mean decoded(int n, int d, int dv, Seed seed, bool all) {
  Vector right(all ? 32 : 6, 0.0);
  for (size_t memory = 0; memory < right.size(); ++memory) {
    const Dense scores = Reads(n, d, dv, seed, memory).scores();
    for (int i = 0; i < n; ++i) {
      int best = 0;
      for (int j = 1; j < n; ++j)
        if (scores(i, j) > scores(i, best)) best = j;
      right[memory] += double(best == i) / n;
    }
  }
  return mean_of(right);
}

Claim decoding() {
  ClaimBuilder c("blog-capacity-argmax", "002 §3, boxed; a stricter reading");
  c.says("Reliable recall needs $n <~ d_k$ pairs. (Recall is read here as decoding: choosing the right one of the "
         "stored values.)");
  c.exactly("A decoder that chooses the stored value whose inner product with the read is largest works up to about $n "
            "= d_k d_v / (2 ln n)$. At $n = 8 d_k$, where the relative squared error is 8, it decodes nearly all items "
            "if the values are wide. The probability that a given wrong value has a larger product with the read than "
            "the right value is a tail of Student's distribution.");
  c.because("The text names no criterion for 'reliable'. For the squared error the ceiling is $d_k$. For decoding the "
            "ceiling grows with the width of the values, because the cross-talk is spread over $d_v$ channels.");
  c.is_refuted(stricter("§3, boxed: $n <~ d_k$ for reliable recall.", "'reliable', without a criterion",
                        "The text compares cross-talk with the signal, as the squared error does."));
  c.runs({"linear"}), c.draws({"capacity", "recall"});
  c.takes({integer_param("n", 128, 3, 512, "pairs stored"), integer_param("d", 16, 2, 256, "key width"),
           integer_param("dv", 512, 8, 4096, "value width")});
  return measure(c, [](Points &points, const Protocol &protocol, const Params &p, int n, int d, int dv) {
    const int few = 4;
    if (n <= d || double(d) * dv < 8 * n * std::log(double(n)))
      usage_error("decoding beyond the ceiling needs n > d, and wide values: d dv well above 2 n ln n");
    const auto right = [&](int width) { return decoded(n, d, width, protocol.seed, protocol.full()); };
    const Mean wide = right(dv);
    points.statement("share of items decoded at $n > d$, at most half", at_most_point(wide, 0.5));
    points.obligation("share of items decoded if the values are wide, at least 0.9", at_least_point(wide, 0.9));
    points.at(Params(p).set("dv", few)).wrong_system("values of width 4", at_least_point(right(few), 0.9));
    const Mistakes mistakes = pair_mistakes(2 * d, d, few, protocol); // few enough that mistakes can be counted
    points.at(Params(p).set("n", 2 * d).set("dv", few))
        .obligation("probability that a given wrong value has the larger product with the read, against Student's tail",
                    mistakes.measured, mistakes.law)
        .but_not("the spread of the two compared values left out", mistakes.without_own)
        .but_not("a normal tail in place of Student's", mistakes.as_if_normal);
  });
}
} // namespace

std::vector<Claim> section_3_capacity() { return {ceiling(), decoding()}; }
} // namespace recollect::theory
