// SPDX-License-Identifier: Apache-2.0
// 002 §4-5: the capacity of DeltaNet and of Gated DeltaNet after one pass with beta = 1 over n random unit keys.
//
// Let F = E|S|_F^2 / dv, p = E|S k_i|^2 / dv, and s the mean amplitude of v_i in the read at k_i. By the fourth moments
// of the keys, E k k k k = (sum over the 3 pairings) / (d (d+2)), every later write changes them to
//
//   p' = alpha^2 [p (1 - 2/d + 2/(d(d+2))) + F / (d(d+2))] + 1/d
//   F' = alpha^2 F (1 - 1/d) + 1,   s' = alpha (1 - 1/d) s
//
// At the write of item i, p = s = 1. The error of the item after the pass is p - 2 s + 1.
#include "theory/unifying_view/stored_pairs.hpp"

namespace recollect::theory {
namespace {
/// The coefficients of this recursion. Each rival law changes one coefficient.
struct Recursion {
  double width;               // d
  double decay_of_squares;    // alpha^2
  double decay = 1;           // alpha
  bool from_the_state = true; // the term in F

  /// Mean error of the items [from, to) of n.
  double mean(int from, int to, int n) const {
    double sum = 0;
    for (int i = from; i < to; ++i) sum += of_item(i, n) / (to - from);
    return sum;
  }
  double of_item(int i, int n) const {
    const double pairs = 1 / (width * (width + 2));
    double F = 0, p = 1, s = 1;
    for (int t = 0; t < n; ++t) {
      if (t > i) {
        p = decay_of_squares * (p * (1 - 2 / width + 2 * pairs) + (from_the_state ? F * pairs : 0)) + 1 / width;
        s *= decay * (1 - 1 / width);
      }
      F = decay_of_squares * F * (1 - 1 / width) + 1;
    }
    return p - 2 * s + 1;
  }
};

/// Items from ... to - 1 of n.
struct Items {
  int n, d, from, to;
  double alpha = 1;
  Params params() const {
    return labels({{"n", num(n)}, {"d", num(d)}, {"from", num(from)}, {"to", num(to)}, {"alpha", num(alpha)}});
  }
};
/// The items of a point; all n items if it does not set from and to.
Items items_of(const Params &p) {
  const int n = p.integer("n"), to = p.has("to") ? p.integer("to") : n;
  return {n, p.integer("d"), p.has("from") ? p.integer("from") : 0, to, p.has("alpha") ? p.real("alpha") : 1};
}
Mean error_of(const std::string &variant, const Items &x, const Protocol &protocol, double wanted) {
  return mean_error({variant, x.n, x.d, x.alpha}, x.from, x.to, protocol, wanted);
}

using Rivals = std::vector<std::pair<std::string, Recursion>>;

/// Adds points that compare the mean error of these items in `variant` with the recursion and with the rivals.
void hold_to_recursion(const std::string &variant, const Items &x, const Recursion &law, const Rivals &rivals,
                       const std::string &label, const Protocol &protocol, Points &points) {
  const double expected = law.mean(x.from, x.to, x.n);
  // Takes only rivals that these items can distinguish from the law; other points test the remaining rivals.
  std::vector<std::string> names;
  Vector predictions;
  for (const auto &[name, other] : rivals) {
    const double predicted = other.mean(x.from, x.to, x.n);
    if (std::fabs(predicted / expected - 1) < 0.04) continue;
    names.push_back(name), predictions.push_back(predicted);
  }
  const Mean error = error_of(variant, x, protocol, wanted_sensitivity(protocol, expected, predictions));
  auto held = points.at(x.params()).statement(label, error, expected);
  for (size_t i = 0; i < names.size(); ++i) held.but_not(names[i], predictions[i]);
}

Claim delta_net_capacity() {
  ClaimBuilder c("blog-capacity-deltanet", "002 §4, Capacity is unchanged");
  c.says("DeltaNet ends up with the same capacity ceiling as linear attention: it still saturates around $n ~ d_k$.");
  c.exactly("No state of $d$ columns holds $n > d$ arbitrary pairs (the error is at least $1 - d/n$). In one pass over "
            "random unit keys at $beta = 1$ the errors of the items follow a recursion in the moments of the state. "
            "The error of an old item tends to 2 (in linear attention it is about $n/d$), the mean error of all items "
            "at $n = d$ is about 0.6, and the last item is read exactly.");
  c.because(
      "The ceiling is the same, but the failure differs: in linear attention all reads drown in noise; in DeltaNet old "
      "items are overwritten, while the last $d/2$ items are read better than any item in linear attention.");
  c.runs({"delta_net", "linear"}), c.draws({"capacity", "recall"});
  c.takes({integer_param("n", 32, 3, 256, "pairs stored"), integer_param("d", 8, 3, 128, "key width")});
  c.at({{{"to", 8}}, {{"from", 28}, {"to", 31}}, {{"n", 8}, {"to", 8}}});
  return c.measure([](Points &points, const Params &p, const Protocol &protocol) {
    const Items x = items_of(p);
    const double d = x.d;
    hold_to_recursion(
        "delta_net", x, {d, 1},
        {{"the recursion without its term in $|S|_F^2$", {d, 1, 1, false}}, {"$d-1$ in place of $d$", {d - 1, 1}}},
        "relative error of the items [from, to), against the recursion", protocol, points);
    points.wrong_system("linear attention", error_of("linear", x, protocol, 0.04),
                        Recursion{d, 1}.mean(x.from, x.to, x.n));
    if (x.n <= x.d || x.from > 0) return;
    // The limit that no state can exceed: d columns read n > d pairs with a mean error of at least 1 - d/n.
    const double least = least_error(x.n, x.d);
    const Mean all = mean_error({"delta_net", x.n, x.d}, 0, x.n, protocol, wanted_sensitivity(protocol));
    points.statement("relative error of all items, at least $1 - d/n$", at_least_point(all, least));
    const Dense K(x.n, 2 * x.d, stored_keys(x.n, 2 * x.d, protocol.seed, 0, 1)), reads = K * pseudo_inverse(K);
    const double wider = std::pow(frobenius_norm(reads - Dense::identity(x.n)), 2) / x.n;
    points.wrong_system("the best state of $2 d$ columns", at_least_point(wider, least, 1e-9));
  });
}

Claim gated_capacity() {
  ClaimBuilder c("blog-capacity-gated", "002 §5");
  c.says("Gated DeltaNet has the same capacity limits, $n ~ d_k$: gating does not raise the ceiling, but it lets the "
         "$d_k$ slots be recycled, at best for about $d_k$ useful pairs at a time.");
  c.exactly("The errors follow the recursion of DeltaNet (blog_capacity_deltanet), with a factor $alpha^2$ on the "
            "second moments and $alpha$ on the first moment. At $n = 4 d$ recent items are read better than in "
            "DeltaNet; at $n = d$, with a strong gate, all items are read worse.");
  c.because("The gate frees the space of stale items for recent ones. If no item is stale, nothing is gained.");
  c.runs({"gated_delta_net", "delta_net"}), c.draws({"capacity", "recall"});
  c.takes({integer_param("n", 32, 3, 256, "pairs stored"), integer_param("d", 8, 3, 128, "key width"),
           real_param("alpha", 0.95, 0.5, 0.98, "decay per step")});
  c.at({{{"to", 8}}, {{"from", 28}}, {{"n", 8}, {"alpha", 0.8}}});
  c.also([](Points &points, const Protocol &protocol) {
    // For n > d, where directions are used again, Gated DeltaNet reads recent items better than DeltaNet. For n <= d it
    // does not.
    const Items recent{32, 8, 28, 32, 0.95}, strong{32, 8, 28, 32, 0.5}, few{8, 8, 0, 8, 0.8}, later{8, 8, 4, 8};
    const auto gated = [&](const Items &x) {
      return error_of("gated_delta_net", x, protocol, wanted_sensitivity(protocol));
    };
    const auto plain = [](const Items &x) { return Recursion{double(x.d), 1}.mean(x.from, x.to, x.n); };
    points.at(recent.params());
    points.statement("relative error of the last items at $n = 4 d$, at most as in DeltaNet",
                     at_most_point(gated(recent), plain(recent)));
    points.at(few.params())
        .statement("relative error of all items at $n = d$, at least as in DeltaNet",
                   at_least_point(gated(few), plain(few)));
    points.at(strong.params())
        .wrong_system("a gate of 0.5 in place of 0.95", at_most_point(gated(strong), plain(recent)));
    points.at(later.params());
    points.wrong_system("the later half of the items in DeltaNet",
                        at_least_point(error_of("delta_net", later, protocol, 0.04), plain(few)));
  });
  return c.measure([](Points &points, const Params &p, const Protocol &protocol) {
    const Items x = items_of(p);
    const double d = x.d, a = x.alpha;
    hold_to_recursion("gated_delta_net", x, {d, a * a, a},
                      {{"$alpha$ in place of $alpha^2$", {d, a, a}},
                       {"the recursion without the gate", {d, 1, 1}},
                       {"$d-1$ in place of $d$", {d - 1, a * a, a}}},
                      "relative error of the items [from, to), against the recursion with $alpha^2$", protocol, points);
  });
}
} // namespace

std::vector<Claim> section_4_5_capacity() { return {delta_net_capacity(), gated_capacity()}; }
} // namespace recollect::theory
