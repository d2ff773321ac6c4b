// SPDX-License-Identifier: Apache-2.0
// The group that exchanges of n elements generate (000 §2.2.1, Fig 3): whether it is solvable, because the comparison
// of circuit classes depends on that, and how many exchanges there are.
#include "theory/support/measure.hpp"
#include <numeric>
#include <set>

namespace recollect::theory {
namespace {
Params of_size(int n) { return labels({{"n", n}}); }
using Permutation = std::vector<int>;
using Group = std::set<Permutation>;

Permutation after(const Permutation &a, const Permutation &b) { // the permutation that applies b, then a
  Permutation c(a.size());
  for (size_t i = 0; i < a.size(); ++i) c[i] = a[b[i]];
  return c;
}

Permutation inverse_of(const Permutation &a) {
  Permutation c(a.size());
  for (size_t i = 0; i < a.size(); ++i) c[a[i]] = int(i);
  return c;
}

Permutation identity_of(int n) {
  Permutation p(n);
  std::iota(p.begin(), p.end(), 0);
  return p;
}

/// The group that the generators generate.
Group closure(const Group &generators, int n) {
  Group group{identity_of(n)};
  std::vector<Permutation> frontier{identity_of(n)};
  while (!frontier.empty()) {
    const Permutation g = frontier.back();
    frontier.pop_back();
    for (const Permutation &s : generators)
      if (group.insert(after(s, g)).second) frontier.push_back(after(s, g));
  }
  return group;
}

/// The cycle (0 1 ... n-1), which generates a commutative group.
Group one_cycle(int n) {
  Permutation p = identity_of(n);
  std::rotate(p.begin(), p.begin() + 1, p.end());
  return {p};
}

Group transpositions(int n) {
  Group swaps;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) {
      Permutation p = identity_of(n);
      std::swap(p[i], p[j]);
      swaps.insert(p);
    }
  return swaps;
}

/// Orders of the groups in the derived series: the generated group, its commutator subgroup, and so on, until the order
/// no longer decreases.
Vector derived_orders(const Group &generators, int n) {
  Group group = closure(generators, n);
  Vector orders{double(group.size())};
  while (true) {
    Group commutators;
    for (const Permutation &a : group)
      for (const Permutation &b : group) commutators.insert(after(after(a, b), after(inverse_of(a), inverse_of(b))));
    group = closure(commutators, n);
    orders.push_back(double(group.size()));
    if (orders.back() == orders[orders.size() - 2] || orders.back() == 1) return orders;
  }
}

/// Compares the last order of the derived series with the law: the order of A_n for n >= 5, and 1 for smaller n.
Points::Stated<double> last_of_series(Points &points, int n, const Vector &orders) {
  points.at(of_size(n)).rounding(0);
  return points.statement("order of the last derived group of $S_n$", orders.back(),
                          n >= 5 ? std::tgamma(n + 1) / 2 : 1);
}

Claim solvability() {
  ClaimBuilder c("s5-nonsolvable", "000 §2.2.1, Appendix E (premise)");
  c.says("The group behind tracking the exchanges of $n$ elements is not solvable for $n >= 5$.");
  c.exactly("$S_n$ is solvable exactly for $n <= 4$: there its derived series ends in the trivial group. From $n = 5$ "
            "on the series stops at $A_n$ (120, 60, 60, ...).");
  c.because("Therefore the word problem of $S_5$ is complete for NC1. That NC1 is larger than TC0 is a conjecture.");
  c.takes({integer_param("n", 5, 3, 6, "elements")}), c.at(std::vector<Changes>{});
  c.also([](Points &points, const Protocol &) {
    const std::map<int, Vector> series{{3, {6, 3, 1}}, {4, {24, 12, 4, 1}}, {5, {120, 60, 60}}};
    for (const auto &[n, known] : series) {
      const Vector orders = derived_orders(transpositions(n), n);
      auto last = last_of_series(points, n, orders);
      if (n == 5) last.but_not("solvable", 1);
      points.obligation("orders of the derived series", orders, known);
    }
    points.at(of_size(4))
        .wrong_system("$A_4$ taken for the end of the series of $S_4$", derived_orders(transpositions(4), 4).back(),
                      12);
    points.at(of_size(5))
        .wrong_system("rotations of five elements for exchanges", derived_orders(one_cycle(5), 5).back(), 60);
  });
  return measure(c, [](Points &points, int n) {
    last_of_series(points, n, derived_orders(transpositions(n), n))
        .but_not(n >= 5 ? "solvable" : "not solvable", n >= 5 ? 1 : std::tgamma(n + 1) / 2);
  });
}

/// The number of different keys and the number of different answers in the swap steps of one generated memory.
std::pair<double, double> vocabulary_of(int n, const std::string &order, std::uint64_t seed) {
  const Task &task = find_task("swap");
  const Problem problem = task.generate(resolve(task.params,
                                                {{"memories", "1"},
                                                 {"n", std::to_string(n)},
                                                 {"d", std::to_string(n)},
                                                 {"swaps", std::to_string(40 * n * n)},
                                                 {"keys", "orthonormal"},
                                                 {"order", order},
                                                 {"read", "one"}},
                                                "swap"),
                                        seed);
  const Shape &shape = problem.sequence.shape;
  std::set<Vector> inputs;
  std::set<int> outputs;
  for (int t = n; t < shape.T; ++t) {
    const auto key = problem.sequence.k.begin() + size_t(t) * shape.Dk;
    inputs.insert({key, key + shape.Dk});
    outputs.insert(problem.answer[t]);
  }
  return {inputs.size(), outputs.size()};
}

Claim vocabulary() {
  ClaimBuilder c("vocab-10", "000 Fig 3");
  c.says("If every step exchanges two of five tokens and asks for one token, the task has $C(5,2) = 10$ inputs and 5 "
         "outputs.");
  c.exactly("The generated task has $n (n-1)/2$ inputs and $n$ outputs.");
  c.draws({"swap"}), c.takes({integer_param("n", 5, 4, 12, "tokens")}), c.at({{}, {{"n", 7}}});
  return measure(c, [](Points &points, Seed seed, int n) {
    // There are 40 n^2 swaps, so the probability that some pair never occurs is at most n^2/2 exp(-80).
    const auto [inputs, outputs] = vocabulary_of(n, "theorem", seed);
    const double pairs = n * (n - 1) / 2.0;
    points.rounding(0).statement("different swap steps", inputs, pairs).but_not("with the identity", pairs + 1);
    points.statement("different answers", outputs, n).but_not("one answer per pair", pairs);
    points.wrong_system("ordered pairs", vocabulary_of(n, "any", seed).first, pairs);
  });
}
} // namespace

std::vector<Claim> exchange_group() { return {solvability(), vocabulary()}; }
} // namespace recollect::theory
