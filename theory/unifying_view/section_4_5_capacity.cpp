// SPDX-License-Identifier: Apache-2.0
// 002 §4-5: the capacity of DeltaNet and of Gated DeltaNet, one pass with beta = 1 over n random unit keys.
//
// With F = E|S|_F^2 / dv, p = E|S k_i|^2 / dv and s the mean amplitude of v_i in the read at k_i, the keys' fourth
// moments E k k k k = (3 pairings) / (d (d+2)) give for every later write
//
//   p' = alpha^2 [p (1 - 2/d + 2/(d(d+2))) + F / (d(d+2))] + 1/d,  F' = alpha^2 F (1 - 1/d) + 1,  s' = alpha (1 - 1/d) s,
//
// from p = s = 1 at the item's own write; its error is then p - 2 s + 1.
#include "theory/unifying_view/stored_pairs.hpp"

namespace recollect::theory {
namespace {

/// The coefficients of the recursion; each rival changes one.
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

struct Items {
  int n, d, from, to;
  double alpha = 1;
  Params params() const {
    return labels({{"n", num(n)}, {"d", num(d)}, {"from", num(from)}, {"to", num(to)}, {"alpha", num(alpha)}});
  }
};

using Rivals = std::vector<std::pair<std::string, Recursion>>;

/// The items' mean error in `variant` against the recursion, and the rivals' predictions.
void held_to_recursion(const std::string &variant, const Items &x, const Recursion &law, const Rivals &rivals,
                       const std::string &label, const Protocol &protocol, std::vector<Point> &points) {
  const double expected = law.mean(x.from, x.to, x.n);
  Rivals told; // at these items; the others are told at other items
  std::vector<double> predictions;
  for (const auto &[name, other] : rivals) {
    const double predicted = other.mean(x.from, x.to, x.n);
    if (std::fabs(predicted / expected - 1) < 0.04) continue;
    told.push_back({name, other}), predictions.push_back(predicted);
  }
  const Mean error = mean_error({variant, x.n, x.d, x.alpha}, x.from, x.to, protocol,
                                wanted_sensitivity(protocol, expected, predictions));
  const Point point = as_statement(sampled_point(error, expected), x.params(), label);
  points.push_back(point);
  for (size_t i = 0; i < told.size(); ++i) points.push_back(rival_law(point, told[i].first, predictions[i]));
}

// ---- DeltaNet -------------------------------------------------------------------------------------------------------

std::vector<Point> delta_net_capacity(const Protocol &protocol) {
  std::vector<Point> points;
  std::vector<Items> own{{32, 8, 0, 8}, {32, 8, 28, 31}, {8, 8, 0, 8}};
  if (protocol.point) {
    const int n = protocol.point->integer("n"), d = protocol.point->integer("d");
    own = {{n, d, 0, n}};
  }
  for (const Items &x : own) {
    const double d = x.d;
    held_to_recursion("delta_net", x, {d, 1}, {{"the term in F dropped", {d, 1, 1, false}}, {"d-1 for d", {d - 1, 1}}},
                      "relative error of these items, by the recursion", protocol, points);
    const Mean added = mean_error({"linear", x.n, x.d}, x.from, x.to, protocol, 0.04);
    points.push_back(
        rival_system(sampled_point(added, Recursion{d, 1}.mean(x.from, x.to, x.n)), x.params(), "linear attention"));
    if (x.n <= x.d || x.from > 0) continue;
    // The ceiling itself: no state of d columns reads n > d pairs with less than 1 - d/n in the mean.
    const Mean all = mean_error({"delta_net", x.n, x.d}, 0, x.n, protocol, wanted_sensitivity(protocol));
    points.push_back(
        as_statement(at_least_point(all, least_error(x.n, x.d)), x.params(), "all items: at least 1 - d/n"));
    const Dense K(x.n, 2 * x.d, stored_keys(x.n, 2 * x.d, protocol.seed, 0, 1)), reads = K * pseudo_inverse(K);
    const double wider = std::pow(frobenius_norm(reads - Dense::identity(x.n)), 2) / x.n;
    points.push_back(rival_system(at_least_point(wider, least_error(x.n, x.d), 1e-9), x.params(),
                                  "the best state of twice as many columns"));
  }
  return points;
}

Claim delta_net_claim() {
  Claim c = explained(
      at_parameters(
          running(ledger_row(
                      "blog-capacity-deltanet", "002 §4, Capacity is unchanged",
                      "DeltaNet ends up with the same capacity ceiling as linear attention: it still saturates "
                      "around $n ~ d_k$.",
                      "No state of $d$ columns holds $n > d$ free pairs (at best $1 - d/n$). One pass over random unit "
                      "keys at $beta = 1$ follows a recursion of moments: the error of an old item tends to 2 and not "
                      "to $n/d$, that of all items at $n = d$ is about 0.6, the last item is exact.",
                      delta_net_capacity),
                  {"delta_net", "linear"}),
          {integer_param("n", 32, 3, 256, "pairs stored"), integer_param("d", 8, 3, 128, "key width")}),
      "The same ceiling, another failure: linear attention's reads drown in noise, DeltaNet's old ones are overwritten "
      "while the last $d/2$ stay better than anything that linear attention reads.");
  c.tasks = {"capacity", "recall"};
  return c;
}

// ---- Gated DeltaNet -------------------------------------------------------------------------------------------------

std::vector<Point> gated_capacity(const Protocol &protocol) {
  std::vector<Point> points;
  std::vector<Items> own{{32, 8, 0, 8, 0.95}, {32, 8, 28, 32, 0.95}, {8, 8, 0, 8, 0.8}};
  if (protocol.point) {
    const int n = protocol.point->integer("n"), d = protocol.point->integer("d");
    own = {{n, d, 0, n, protocol.point->real("alpha")}};
  }
  for (const Items &x : own) {
    const double d = x.d, a = x.alpha;
    held_to_recursion("gated_delta_net", x, {d, a * a, a},
                      {{"alpha for alpha^2", {d, a, a}}, {"no gate", {d, 1, 1}}, {"d-1 for d", {d - 1, a * a, a}}},
                      "relative error of these items, by the recursion with alpha^2", protocol, points);
  }
  if (protocol.point) return points;
  // Recycled slots: recent items are read better than by DeltaNet beyond the ceiling, and no better than it below.
  const auto against = [&](const Items &x) {
    return std::pair{
        mean_error({"gated_delta_net", x.n, x.d, x.alpha}, x.from, x.to, protocol, wanted_sensitivity(protocol)),
        Recursion{double(x.d), 1}.mean(x.from, x.to, x.n)};
  };
  const auto [recent, plain] = against(own[1]);
  points.push_back(
      as_statement(at_most_point(recent, plain), own[1].params(), "recent items at n = 4 d: below DeltaNet's"));
  const auto [few, fewer] = against(own[2]);
  points.push_back(as_statement(at_least_point(few, fewer), own[2].params(), "all items at n = d: above DeltaNet's"));
  const Items strong{32, 8, 28, 32, 0.5};
  points.push_back(rival_system(at_most_point(against(strong).first, plain), strong.params(), "a gate of 0.5"));
  const Items later{8, 8, 4, 8};
  points.push_back(rival_system(at_least_point(mean_error({"delta_net", 8, 8}, 4, 8, protocol, 0.04), fewer),
                                later.params(), "the later half of the items in DeltaNet"));
  return points;
}

Claim gated_claim() {
  Claim c = explained(
      at_parameters(
          running(
              ledger_row(
                  "blog-capacity-gated", "002 §5",
                  "Gated DeltaNet has the same capacity limits, $n ~ d_k$: gating does not raise the ceiling, but "
                  "it lets the $d_k$ slots be recycled, at best for about $d_k$ useful pairs at a time.",
                  "The recursion of DeltaNet with $alpha^2$ on $p$ and $F$ and $alpha$ on $s$: recent items are read "
                  "better than in DeltaNet at $n = 4 d$, all items worse at $n = d$ for a strong gate.",
                  gated_capacity),
              {"gated_delta_net", "delta_net"}),
          {integer_param("n", 32, 3, 256, "pairs stored"), integer_param("d", 8, 3, 128, "key width"),
           real_param("alpha", 0.95, 0.5, 0.98, "decay a step")}),
      "The slots are recycled from the stale to the recent; nothing is gained where nothing is stale.");
  c.tasks = {"capacity", "recall"};
  return c;
}

} // namespace

std::vector<Claim> section_4_5_capacity() { return {delta_net_claim(), gated_claim()}; }

} // namespace recollect::theory
