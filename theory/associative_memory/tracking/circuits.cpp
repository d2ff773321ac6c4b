// SPDX-License-Identifier: Apache-2.0
// The circuit classes that 000 §2.2.1 and §3.3 rely on. Inclusions between classes are statements about limits and
// cannot be measured. What is finite can: which inputs a gate of bounded depth depends on. The group behind the
// argument is in exchange_group.cpp.
#include "harness/numerics/random.hpp"
#include "theory/support/claims.hpp"
#include <cmath>
#include <functional>

namespace recollect::theory {
namespace {

using Gate = std::function<bool(unsigned inputs)>;

/// The number of the n inputs on which an output depends: those whose flip changes it somewhere.
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

/// AND of inputs 0 ... n-1 as a balanced tree of fan-in-2 gates, and the depth of that tree.
struct AndTree {
  bool output;
  int depth;
};
AndTree and_tree(unsigned x, int n) {
  std::vector<bool> level;
  for (int i = 0; i < n; ++i) level.push_back(x >> i & 1);
  int depth = 0;
  for (; level.size() > 1; ++depth) {
    std::vector<bool> next;
    for (size_t i = 0; i < level.size(); i += 2)
      next.push_back(i + 1 < level.size() ? level[i] && level[i + 1] : bool(level[i]));
    level = next;
  }
  return {level[0], depth};
}

/// The number of the 2^n inputs for which a tree over the first m of them gives the AND of all n.
int right_answers(int n, int m) {
  int right = 0;
  for (unsigned x = 0; x < (1u << n); ++x) right += and_tree(x, m).output == (x + 1 == 1u << n);
  return right;
}

int largest_shallow_dependence(int depth, int n, std::uint64_t seed, int draws = 20) {
  int largest = 0;
  for (int draw = 0; draw < draws; ++draw)
    largest = std::max(largest, dependence(shallow(depth, n, Stream(seed, "circuits/gates", 100 * depth + draw)), n));
  return largest;
}

Params of_size(int n) { return labels({{"n", num(n)}}); }

Claim neighbourhood() {
  Claim claim = refuted_row(
      "tc0-neighbourhood",
      asserted(
          "§2.2.1, TC0 vs. NC1: 'A key limitation of TC0 is its constant depth: each output can only depend on "
          "information within a constant-sized neighborhood of the input, making arbitrary-length element swaps "
          "impossible.'",
          "constant depth", "The next sentence contrasts NC1's logarithmic depth; it leaves this one as it is.",
          "The two examples are introduced as intuition. Our conclusion, that swaps are beyond TC0, follows from "
          "the completeness of $S_5$ for NC1 and from TC0 being believed smaller; we should have said so, and kept "
          "the neighbourhood for NC0."),
      "000 §2.2.1, TC0 vs. NC1",
      "TC0 has constant depth, so that each output can only depend on a constant-sized neighbourhood of the input, "
      "which makes swaps in sequences of arbitrary length impossible.",
      "That is true of NC0, with bounded fan-in: depth $D$ sees at most $2^D$ inputs. One threshold gate of depth 1 "
      "depends on all $n$ inputs.",
      [](const Protocol &protocol) {
        std::vector<Point> points;
        const auto one_gate = [](int n) { return dependence([n](unsigned x) { return majority(x, n); }, n); };
        const std::vector<int> sizes =
            protocol.point ? std::vector<int>{protocol.point->integer("n")} : std::vector<int>{9, 13};
        for (int n : sizes) {
          points.push_back(
              as_statement(exact_point(one_gate(n), 3, 0), of_size(n), "inputs of one majority gate, as at n = 3"));
          const Point all = as_obligation(exact_point(one_gate(n), n, 0), of_size(n), "inputs of one majority gate: n");
          points.push_back(all);
          points.push_back(rival_system(exact_point(largest_shallow_dependence(2, n, protocol.seed, 3), n, 0),
                                        of_size(n), "fan-in 2 at depth 2 (NC0)"));
          points.push_back(rival_law(all, "the majority's own (n+1)/2", (n + 1) / 2));
        }
        return points;
      });
  claim.explanation =
      "The paper's own definition of TC gives threshold gates unlimited fan-in. Its conclusion does not rest on this "
      "sentence but on $S_5$ (s5_nonsolvable, s5_beyond_tc0).";
  return at_parameters(claim, {integer_param("n", 9, 5, 17, "inputs")});
}

Claim depth_and_reach() {
  Claim claim = ledger_row(
      "nc0-and-depth", "000 Eq 43 (measured beside it)",
      "With gates of fan-in 2 an output of depth $D$ depends on at most $2^D$ inputs, so that the AND of $n$ inputs "
      "needs "
      "depth $ceil(log2 n)$.",
      "Attained by the balanced tree.", [](const Protocol &protocol) {
        std::vector<Point> points;
        for (int depth : {1, 2, 3}) {
          const int n = 10;
          const Params params = labels({{"depth", num(depth)}, {"n", num(n)}});
          const int random = largest_shallow_dependence(depth, n, protocol.seed),
                    tree = dependence([&](unsigned x) { return and_tree(x, 1 << depth).output; }, n);
          points.push_back(as_statement(at_most_point(random, 1 << depth, 0), params, "inputs of random circuits"));
          points.push_back(
              rival_system(at_most_point(dependence([n](unsigned x) { return x + 1 == 1u << n; }, n), 1 << depth, 0),
                           params, "one gate of unbounded fan-in"));
          const Point attained = as_obligation(exact_point(tree, 1 << depth, 0), params, "inputs of the full tree");
          points.push_back(attained);
          if (depth == 3) points.push_back(rival_law(attained, "2 D inputs", 2 * depth));
        }
        const std::vector<int> sizes =
            protocol.point ? std::vector<int>{protocol.point->integer("n")} : std::vector<int>{3, 8, 12};
        for (int n : sizes) {
          const Point depth =
              as_statement(exact_point(and_tree(0, n).depth, std::ceil(std::log2(n)), 0), of_size(n), "depth of AND");
          points.push_back(depth);
          points.push_back(as_obligation(exact_point(right_answers(n, n), std::exp2(n), 0), of_size(n),
                                         "inputs that it answers right"));
          points.push_back(rival_system(exact_point(right_answers(n, n - 1), std::exp2(n), 0), of_size(n),
                                        "a tree that leaves one input out"));
          if (n & (n - 1)) points.push_back(rival_law(depth, "floor(log2 n)", std::floor(std::log2(n))));
        }
        return points;
      });
  return at_parameters(claim, {integer_param("n", 12, 3, 16, "inputs of the AND")});
}

} // namespace

std::vector<Claim> circuits() {
  return {
      explained(
          untested_row("s5-beyond-tc0", Reason::not_numeric, "000 §2.2.1, Model Expressivity",
                       "Because it tracks the exchanges of $n >= 5$ elements, DeltaFormer's expressivity surpasses TC0 "
                       "and theoretically reaches NC1, whereas constant-depth Transformers without chain of thought "
                       "stay within TC0.",
                       "Conditional on TC0 != NC1."),
          "Tracking $S_5$ is complete for NC1 (Barrington); that NC1 is more than TC0 is believed and not proved. The "
          "algebraic premise is measured by s5_nonsolvable, the tracking by theorem1_round."),
      explained(
          untested_row("circuit-hierarchy", Reason::not_numeric, "000 Eq 43, Fig 1",
                       "NC0 is strictly within AC0, AC0 strictly within TC0, and TC0, NC1, AC1, TC1, NC2, ..., $P$ are "
                       "each within the next.",
                       "Known inclusions."),
          "Classes are sets of families of circuits of every size: no run decides an inclusion. The finite facts "
          "behind the first of them are measured by nc0_and_depth."),
      depth_and_reach(), neighbourhood(),
      explained(
          untested_row("matrix-inverse-beyond-tc0", Reason::not_numeric, "000 §3.3, end",
                       "The matrix inversion in $u$ goes far beyond TC0 and so makes the Transformer more expressive.",
                       "Conditional: inversion lies in NC2, and TC0 != NC2 is open."),
          "What inversion buys on graphs is measured by dag_neumann and dag_deltaformer_construction.")};
}

} // namespace recollect::theory
