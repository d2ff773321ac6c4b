// SPDX-License-Identifier: Apache-2.0
// The circuit classes of 000 §2.2.1 and §3.3. Inclusions of classes are statements about limits. What can be measured
// is the number of inputs on which a circuit of bounded depth depends. exchange_group.cpp measures the group on which
// the paper's argument rests.
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
using Gate = std::function<bool(unsigned inputs)>;

/// The number of the n inputs on which the output depends: inputs whose flip changes the output for some values of the
/// others.
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

/// A random circuit of fan-in 2 and the given depth over n inputs (NC0): a tree of random gates on random inputs.
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

/// The number of the 2^n assignments for which a tree over the first m inputs gives the AND of all n inputs.
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

Claim neighbourhood() {
  ClaimBuilder c("tc0-neighbourhood", "000 §2.2.1, TC0 vs. NC1");
  c.says("TC0 has constant depth, so that each output can only depend on a constant-sized neighbourhood of the input, "
         "which makes swaps in sequences of arbitrary length impossible.");
  c.is_refuted(asserted(
      "§2.2.1, TC0 vs. NC1: 'A key limitation of TC0 is its constant depth: each output can only depend on information "
      "within a constant-sized neighborhood of the input, making arbitrary-length element swaps impossible.'",
      "constant depth",
      "The next sentence contrasts NC1's logarithmic depth; it does not limit the sentence quoted here.",
      "The two examples are introduced as intuition. Our conclusion, that swaps are beyond TC0, follows from the "
      "completeness of $S_5$ for NC1 and from TC0 being believed smaller; we should have said so, and spoken of a "
      "neighbourhood for NC0 only."));
  c.exactly("The sentence is true of NC0, whose gates have bounded fan-in: at depth $D$ an output sees at most $2^D$ "
            "inputs. A single threshold gate of depth 1 depends on all $n$ inputs.");
  c.because("The paper's own definition of TC gives threshold gates unlimited fan-in. The paper's conclusion rests on "
            "$S_5$, not on this sentence (s5_nonsolvable, s5_beyond_tc0).");
  c.takes({integer_param("n", 9, 5, 17, "inputs")}), c.at({{}, {{"n", 13}}});
  return measure(c, [](Points &points, Seed seed, int n) {
    const int inputs = dependence([n](unsigned x) { return majority(x, n); }, n);
    points.rounding(0).statement("number of inputs on which one majority gate depends, against 3", inputs, 3);
    points.obligation("number of inputs on which one majority gate depends: n", inputs, n)
        .but_not("$(n+1)/2$, as if only a majority of the inputs mattered", (n + 1) / 2);
    points.wrong_system("a circuit of fan-in 2 and depth 2 (NC0)", largest_shallow_dependence(2, n, seed, 3), n);
  });
}

Claim depth_and_reach() {
  ClaimBuilder c("nc0-and-depth", "000 Eq 43 (not in the text)");
  c.says("With gates of fan-in 2 an output of depth $D$ depends on at most $2^D$ inputs, so that the AND of $n$ inputs "
         "needs depth $ceil(log2 n)$.");
  c.exactly("The balanced tree of fan-in-2 gates attains this depth.");
  c.takes({integer_param("n", 12, 3, 16, "inputs of the AND")}), c.at({{{"n", 3}}, {{"n", 8}}, {}});
  c.first([](Points &points, const Protocol &protocol) {
    for (int depth : {1, 2, 3}) {
      const int n = 10, most = 1 << depth;
      const int random = largest_shallow_dependence(depth, n, protocol.seed),
                tree = dependence([&](unsigned x) { return and_tree(x, most).output; }, n),
                one_gate = dependence([n](unsigned x) { return x + 1 == 1u << n; }, n);
      points.at({{"depth", depth}, {"n", n}}).rounding(0);
      points.statement("number of inputs on which random circuits of fan-in 2 depend, at most $2^D$",
                       at_most_point(random, most, 0));
      points.wrong_system("one gate of unbounded fan-in", at_most_point(one_gate, most, 0));
      auto attained = points.obligation("number of inputs on which the full tree depends: $2^D$", tree, most);
      if (depth == 3) attained.but_not("$2 D$ in place of $2^D$", 2 * depth);
    }
  });
  return measure(c, [](Points &points, int n) {
    auto depth = points.rounding(0).statement("depth of the balanced tree for AND: $ceil(log2 n)$",
                                              and_tree(0, n).depth, std::ceil(std::log2(n)));
    if (n & (n - 1)) depth.but_not("$floor(log2 n)$ in place of $ceil(log2 n)$", std::floor(std::log2(n)));
    points.obligation("number of inputs for which the balanced tree gives the AND: all $2^n$", right_answers(n, n),
                      std::exp2(n));
    points.wrong_system("a tree that leaves one input out", right_answers(n, n - 1), std::exp2(n));
  });
}
} // namespace

std::vector<Claim> circuits() {
  return {
      not_tested(
          "s5-beyond-tc0", "000 §2.2.1, Model Expressivity", Reason::not_numeric,
          "Because it tracks the exchanges of $n >= 5$ elements, DeltaFormer's expressivity surpasses TC0 and "
          "theoretically reaches NC1, whereas constant-depth Transformers without chain of thought stay within TC0.",
          "The statement is conditional on TC0 != NC1.",
          "Tracking $S_5$ is complete for NC1 (Barrington). That NC1 is larger than TC0 is believed but not proved. "
          "The claim s5_nonsolvable measures the algebraic premise, and theorem1_round measures the tracking."),
      not_tested("circuit-hierarchy", "000 Eq 43, Fig 1", Reason::not_numeric,
                 "NC0 is strictly within AC0, AC0 strictly within TC0, and of TC0, NC1, AC1, TC1, NC2, ..., $P$ each "
                 "is within the next.",
                 "These are known inclusions.",
                 "Classes are sets of families of circuits of every size, so no run can decide an inclusion. The claim "
                 "nc0_and_depth measures the finite facts behind the first inclusion."),
      depth_and_reach(), neighbourhood(),
      not_tested("matrix-inverse-beyond-tc0", "000 §3.3, end", Reason::not_numeric,
                 "The matrix inversion in $u$ goes far beyond TC0 and so makes the Transformer more expressive.",
                 "The statement is conditional: inversion is in NC2, and whether TC0 differs from NC2 is open.",
                 "The claims dag_neumann and dag_deltaformer_construction measure what inversion adds on graphs.")};
}
} // namespace recollect::theory
