// SPDX-License-Identifier: Apache-2.0
// The group behind the exchange of n elements (000 §2.2.1, Fig 3): whether it is solvable, on which the comparison of
// circuit classes rests, and how many exchanges there are.
#include "harness/core/registry.hpp"
#include "theory/support/claims.hpp"
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace recollect::theory {
namespace {

Params of_size(int n) { return labels({{"n", num(n)}}); }

using Permutation = std::vector<int>;
using Group = std::set<Permutation>;

Permutation after(const Permutation &a, const Permutation &b) { // a after b
  Permutation c(a.size());
  for (size_t i = 0; i < a.size(); ++i) c[i] = a[b[i]];
  return c;
}

Permutation inverse_of(const Permutation &a) {
  Permutation c(a.size());
  for (size_t i = 0; i < a.size(); ++i) c[a[i]] = int(i);
  return c;
}

/// The group that the generators span.
Group closure(const Group &generators, int n) {
  Permutation identity(n);
  std::iota(identity.begin(), identity.end(), 0);
  Group group{identity};
  std::vector<Permutation> frontier{identity};
  while (!frontier.empty()) {
    const Permutation g = frontier.back();
    frontier.pop_back();
    for (const Permutation &s : generators)
      if (group.insert(after(s, g)).second) frontier.push_back(after(s, g));
  }
  return group;
}

/// (0 1 ... n-1): generates a group that commutes.
Group one_cycle(int n) {
  Permutation p(n);
  for (int i = 0; i < n; ++i) p[i] = (i + 1) % n;
  return {p};
}

Group transpositions(int n) {
  Group swaps;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) {
      Permutation p(n);
      std::iota(p.begin(), p.end(), 0);
      std::swap(p[i], p[j]);
      swaps.insert(p);
    }
  return swaps;
}

/// Orders of the group that the generators span, of its commutator subgroup, and so on until they no longer shrink.
std::vector<double> derived_orders(const Group &generators, int n) {
  Group group = closure(generators, n);
  std::vector<double> orders{double(group.size())};
  while (true) {
    Group commutators;
    for (const Permutation &a : group)
      for (const Permutation &b : group) commutators.insert(after(after(a, b), after(inverse_of(a), inverse_of(b))));
    group = closure(commutators, n);
    orders.push_back(double(group.size()));
    if (orders.back() == orders[orders.size() - 2] || orders.back() == 1) return orders;
  }
}

Claim solvability() {
  Claim claim = ledger_row(
      "s5-nonsolvable", "000 §2.2.1, Appendix E (premise)",
      "The group behind tracking the exchanges of $n$ elements is not solvable for $n >= 5$.",
      "$S_n$ is solvable exactly for $n <= 4$: its derived series ends in the trivial group there, and stops at $A_n$ "
      "from "
      "$n = 5$ on (120, 60, 60, ...).",
      [](const Protocol &protocol) {
        std::vector<Point> points;
        const std::map<int, std::vector<double>> series{{3, {6, 3, 1}}, {4, {24, 12, 4, 1}}, {5, {120, 60, 60}}};
        const auto add = [&](int n, const std::vector<double> &orders) {
          points.push_back(as_statement(exact_point(orders.back(), n >= 5 ? std::tgamma(n + 1) / 2 : 1, 0), of_size(n),
                                        "order of the last derived group of S_n"));
        };
        if (protocol.point) {
          const int n = protocol.point->integer("n");
          const std::vector<double> orders = derived_orders(transpositions(n), n);
          add(n, orders);
          points.push_back(
              rival_law(points.back(), n >= 5 ? "solvable" : "not solvable", n >= 5 ? 1 : std::tgamma(n + 1) / 2));
          return points;
        }
        for (const auto &[n, known] : series) {
          const std::vector<double> orders = derived_orders(transpositions(n), n);
          add(n, orders);
          points.push_back(as_obligation(exact_point(orders, known, 0), of_size(n), "orders of the derived series"));
        }
        const Point last =
            as_statement(exact_point(derived_orders(transpositions(5), 5).back(), 60, 0), of_size(5), "");
        points.push_back(rival_law(last, "solvable", 1));
        points.push_back(rival_system(exact_point(derived_orders(transpositions(4), 4).back(), 12, 0), of_size(4),
                                      "A_4 taken for the end of the series of S_4"));
        points.push_back(rival_system(exact_point(derived_orders(one_cycle(5), 5).back(), 60, 0), of_size(5),
                                      "rotations of five elements for exchanges"));
        return points;
      });
  claim.explanation = "This makes the word problem of $S_5$ complete for NC1; that NC1 exceeds TC0 is a conjecture.";
  return at_parameters(claim, {integer_param("n", 5, 3, 6, "elements")});
}

/// Distinct numbers among the swap steps of one generated memory: different keys, different answers.
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
  std::set<std::vector<double>> inputs;
  std::set<int> outputs;
  for (int t = n; t < shape.T; ++t) {
    const auto key = problem.sequence.k.begin() + size_t(t) * shape.Dk;
    inputs.insert({key, key + shape.Dk});
    outputs.insert(problem.answer[t]);
  }
  return {inputs.size(), outputs.size()};
}

Claim vocabulary() {
  Claim claim = ledger_row(
      "vocab-10", "000 Fig 3",
      "Exchanging two of five tokens a step and asking for one token makes a task of $C(5,2) = 10$ inputs and 5 "
      "outputs.",
      "Counted in the generated task: $n (n-1)/2$ and $n$.", [](const Protocol &protocol) {
        std::vector<Point> points;
        // 40 n^2 swaps: a pair is missed with probability n^2/2 exp(-80) at most.
        for (int n : protocol.point ? std::vector<int>{protocol.point->integer("n")} : std::vector<int>{5, 7}) {
          const auto [inputs, outputs] = vocabulary_of(n, "theorem", protocol.seed);
          const double pairs = n * (n - 1) / 2.0;
          const Point in = as_statement(exact_point(inputs, pairs, 0), of_size(n), "different swap steps"),
                      out = as_statement(exact_point(outputs, n, 0), of_size(n), "different answers");
          points.insert(points.end(), {in, out});
          points.push_back(rival_system(exact_point(vocabulary_of(n, "any", protocol.seed).first, pairs, 0), of_size(n),
                                        "ordered pairs"));
          points.push_back(rival_law(in, "with the identity", pairs + 1));
          points.push_back(rival_law(out, "one answer a pair", pairs));
        }
        return points;
      });
  claim.tasks = {"swap"};
  return at_parameters(claim, {integer_param("n", 5, 4, 12, "tokens")});
}

} // namespace

std::vector<Claim> exchange_group() { return {solvability(), vocabulary()}; }

} // namespace recollect::theory
