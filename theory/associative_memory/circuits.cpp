// SPDX-License-Identifier: Apache-2.0
// The circuit classes that 000 §2.2.1 leans on. Inclusions between classes are statements about limits and cannot be
// measured; what is finite in them can: derived series of permutation groups, which inputs a gate depends on, how many
// swaps there are.
#include "harness/numerics/random.hpp"
#include "theory/associative_memory/swaps.hpp"
#include "theory/support/claims.hpp"
#include <functional>
#include <map>
#include <numeric>
#include <set>

namespace recollect::theory {
namespace {

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

/// Orders of S_n, its commutator subgroup, that one's, ... until they stop shrinking.
std::vector<double> derived_orders(int n) {
  Group group = closure(transpositions(n), n);
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

Params labelled(const std::string &quantity, int n) {
  Params p;
  return p.set("quantity", quantity).set("n", n);
}

std::vector<Point> solvability(const Protocol &) {
  std::vector<Point> points;
  const std::map<int, std::vector<double>> known{{2, {2, 1}}, {3, {6, 3, 1}}, {4, {24, 12, 4, 1}}, {5, {120, 60, 60}}};
  for (const auto &[n, orders] : known) {
    const std::vector<double> found = derived_orders(n);
    for (size_t i = 0; i < std::max(found.size(), orders.size()); ++i)
      points.push_back(at(exact_point(i < found.size() ? found[i] : 0, i < orders.size() ? orders[i] : 0, 0, 0.5),
                          "exact", labelled("order of derived group " + std::to_string(i), n)));
    points.push_back(at(exact_point(found.back() == 1, n <= 4, 0, 0.5), "exact", labelled("solvable", n)));
  }
  return points;
}

using Gate = std::function<bool(unsigned inputs)>;

/// On how many of its n inputs an output depends: those whose flip changes it somewhere.
int dependence(const Gate &gate, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    bool matters = false;
    for (unsigned x = 0; x < (1u << n) && !matters; ++x) matters = gate(x) != gate(x ^ (1u << i));
    count += matters;
  }
  return count;
}

bool majority(unsigned x, int n) {
  int ones = 0;
  for (; x; x &= x - 1) ++ones;
  return 2 * ones > n;
}

/// A random fan-in-2 circuit of the given depth over n inputs (NC0 for a fixed depth): a tree of random gates on random
/// inputs.
Gate shallow(int depth, int n, const Stream &draw) {
  const int leaves = 1 << depth;
  std::vector<int> wires(leaves), tables(leaves);
  for (int l = 0; l < leaves; ++l) wires[l] = int(draw.below(2 * l, n)), tables[l] = int(draw.below(2 * l + 1, 16));
  return [=](unsigned x) {
    std::vector<int> level(leaves);
    for (int l = 0; l < leaves; ++l) level[l] = x >> wires[l] & 1;
    int gate = 0;
    while (level.size() > 1) {
      std::vector<int> next;
      for (size_t i = 0; i < level.size(); i += 2) next.push_back(tables[gate++] >> (2 * level[i] + level[i + 1]) & 1);
      level = next;
    }
    return level[0] != 0;
  };
}

/// AND of n inputs as a balanced tree of fan-in-2 gates: its depth, and whether it is right on every input.
std::pair<int, bool> and_tree(int n) {
  int depth = 0;
  bool right = true;
  for (unsigned x = 0; x < (1u << n); ++x) {
    std::vector<bool> level;
    for (int i = 0; i < n; ++i) level.push_back(x >> i & 1);
    for (depth = 0; level.size() > 1; ++depth) {
      std::vector<bool> next;
      for (size_t i = 0; i < level.size(); i += 2)
        next.push_back(i + 1 < level.size() ? level[i] && level[i + 1] : bool(level[i]));
      level = next;
    }
    right = right && level[0] == (x + 1 == 1u << n);
  }
  return {depth, right};
}

int largest_shallow_dependence(int depth, int n, std::uint64_t seed) {
  int largest = 0;
  for (int draw = 0; draw < 20; ++draw)
    largest = std::max(largest, dependence(shallow(depth, n, Stream(seed, 100 * depth + draw)), n));
  return largest;
}

std::vector<Point> neighbourhood(const Protocol &protocol) {
  std::vector<Point> points;
  const auto one_gate = [](int n) { return dependence([n](unsigned x) { return majority(x, n); }, n); };
  points.push_back(at(exact_point(one_gate(9), one_gate(3), 0, 0.5), "paper",
                      labelled("inputs that one majority gate depends on, said to be those of n = 3", 9)));
  for (int n : {3, 9, 13})
    points.push_back(at(exact_point(one_gate(n), n, 0, 0.5), "corrected",
                        labelled("inputs that one majority gate (depth 1, TC0) depends on", n)));
  for (int depth : {1, 2})
    points.push_back(
        at(bounded_point(largest_shallow_dependence(depth, 8, protocol.seed), Point::at_most, 1 << depth, 0, 0.5),
           "corrected",
           labelled("inputs that a fan-in-2 circuit of depth " + std::to_string(depth) + " (NC0) depends on", 8)));
  return points;
}

std::vector<Point> hierarchy(const Protocol &protocol) {
  std::vector<Point> points;
  const int n = 12;
  points.push_back(at(exact_point(dependence([](unsigned x) { return x + 1 == 1u << 12; }, n), n, 0, 0.5), "exact",
                      labelled("inputs that one AND gate (AC0) depends on", n)));
  points.push_back(at(bounded_point(largest_shallow_dependence(2, 8, protocol.seed), Point::at_most, 4, 0, 0.5),
                      "exact", labelled("inputs that depth 2 and fan-in 2 (NC0) can depend on", 8)));
  for (int m : {3, 8, 12}) {
    const auto [depth, right] = and_tree(m);
    points.push_back(at(exact_point(depth, std::ceil(std::log2(m)), 0, 0.5), "exact",
                        labelled("depth of AND by fan-in 2 (NC1): ceil(log2 n)", m)));
    points.push_back(at(exact_point(right, 1, 0, 0.5), "exact", labelled("and it is right on every input", m)));
  }
  return points;
}

std::vector<Point> vocabulary(const Protocol &protocol) {
  const int n = 5;
  std::set<std::vector<double>> steps;
  std::set<double> reads;
  const SwapStory story = tell_swaps(Dense::identity(n), 2000, protocol.seed);
  for (int t = n; t < story.sequence.shape.T; ++t) {
    steps.insert({story.sequence.k.begin() + t * n, story.sequence.k.begin() + (t + 1) * n});
    reads.insert(story.target[t]);
  }
  return {at(exact_point(double(transpositions(n).size()), n * (n - 1) / 2, 0, 0.5), "exact",
             labelled("transpositions", n)),
          at(exact_point(double(steps.size()), 10, 0, 0.5), "exact", labelled("distinct swap steps among 2000", n)),
          at(exact_point(double(reads.size()), 5, 0, 0.5), "exact", labelled("distinct reads among 2000", n))};
}

} // namespace

std::vector<Claim> circuits() {
  Claim solvable =
      ledger_row("s5-nonsolvable", "000 §2.2.1, n >= 5", "Tracking the exchange of n >= 5 elements is beyond TC0.",
                 "Measured: the algebraic premise, S_n is solvable exactly for n <= 4 (S_5, A_5, A_5, ...), which "
                 "makes the word problem of S_5 NC1-complete. "
                 "That NC1 exceeds TC0 is a conjecture and not numeric.",
                 solvability);

  Claim near =
      refuted_row("tc0-neighbourhood", Scope::paper, "000 §2.2.1, TC0 vs NC1",
                  "TC0 has constant depth: each output can only depend on information within a constant-sized "
                  "neighbourhood of the input.",
                  "That is NC0, with bounded fan-in: depth D sees at most 2^D inputs. One majority gate of depth 1 "
                  "depends on all n. The paper's conclusion rests on S_5, not on this.",
                  neighbourhood);

  Claim classes =
      ledger_row("circuit-hierarchy", "000 Eq 43", "NC0 c AC0 c TC0 c= NC1 c= AC1 c= TC1 c= NC2 c= ... c= P.",
                 "Not numeric: the inclusions are known, and those between unbounded classes cannot be measured. "
                 "Measured: one AND gate depends on more inputs than NC0 of that depth can, "
                 "and fan-in 2 reaches it at depth ceil(log2 n).",
                 hierarchy);

  Claim ten = ledger_row("vocab-10", "000 Fig 3", "Swapping five elements has C(5,2) = 10 inputs and 5 outputs.",
                         "10 transpositions and 5 values.", vocabulary);
  ten.tasks = {"swap"};
  return {solvable, near, classes, ten};
}

} // namespace recollect::theory
