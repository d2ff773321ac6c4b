// SPDX-License-Identifier: Apache-2.0
// Stacks: values are pushed on several stacks, and each pop asks for the most recent value that has not been popped
// yet.
//
// The key of a push depends only on the stack and the height, so that a later push at the same height writes the same
// key again. A pop reads that key and writes nothing (v = 0, beta = 0, a spare key x).
//
// Example: one stack (p: keys of heights):
//   t      1      2      3      4      5
//          push   push   pop    push   pop
//   k,v    p1,a   p2,b   x,0    p2,c   x,0
//   q      p1     p2     p2     p2     p2
//   o  ->                b             c       <- a memory that does not erase reads b + c
//
// Every step chooses a random stack. It pushes or pops with probability 1/2 each, but always pushes on an empty stack
// and pops from a full one. `height` is the largest number of values that a stack can hold.
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"

namespace recollect::tasks {
namespace {

Shape shape_of(const Params &p) { return {p.integer("memories"), 1, p.integer("T"), p.integer("d"), p.integer("d")}; }

Problem generate(const Params &p, std::uint64_t seed) {
  const int memories = p.integer("memories"), T = p.integer("T"), d = p.integer("d"), stacks = p.integer("stacks"),
            height = p.integer("height"), vocabulary = p.integer("vocabulary"), places = stacks * height;
  const std::vector<double> keys = make_keys({p.text("keys"), places + 1, d, p.real("cosine")}, memories, seed);
  std::vector<double> words = Stream(seed, "stack/words").normals(size_t(vocabulary) * d);
  normalise_rows(words, d);
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  s.q.resize(size_t(memories) * T * d), s.k.resize(s.q.size());
  s.v.assign(s.q.size(), 0.0), problem.target = s.v;
  problem.answer.assign(size_t(memories) * T, -1);
  problem.scored.assign(T, 1);
  append(problem.candidates, words, memories);
  fill_gates(s, p);
  const Stream which(seed, "stack/which"), coin(seed, "stack/pop"), word(seed, "stack/values");
  for (int m = 0; m < memories; ++m) {
    std::vector<std::vector<int>> held(stacks);
    const size_t first_key = size_t(m) * (places + 1);
    for (size_t step = size_t(m) * T; step < size_t(m + 1) * T; ++step) {
      const int chosen = int(which.below(step, stacks));
      std::vector<int> &stack = held[chosen];
      const bool pop = int(stack.size()) == height || (!stack.empty() && coin.below(step, 2) == 1);
      const size_t key = first_key + chosen * height + stack.size() - pop;
      copy_row(keys, key, s.q, step, d);
      if (pop) {
        copy_row(keys, first_key + places, s.k, step, d);
        s.beta[step] = 0;
        problem.answer[step] = stack.back();
        copy_row(words, stack.back(), problem.target, step, d);
        stack.pop_back();
      } else {
        stack.push_back(int(word.below(step, vocabulary)));
        copy_row(keys, key, s.k, step, d);
        copy_row(words, stack.back(), s.v, step, d);
      }
    }
  }
  return problem;
}

/// The metrics of score_reads, and "late_accuracy", the accuracy over the second half of the steps, where places on the
/// stacks have been overwritten more often.
Score score(const Params &, const Problem &problem, const Output &output) {
  Score result = score_reads(problem, output);
  const Shape &shape = problem.sequence.shape;
  double asked = 0, right = 0;
  for (int m = 0; m < shape.B; ++m)
    for (int t = shape.T / 2; t < shape.T; ++t) {
      if (!is_asked(problem, m, t)) continue;
      ++asked, right += score_read(problem, output, m, t).right;
    }
  if (asked > 0) result.metrics.emplace_back("late_accuracy", right / asked);
  return result;
}

} // namespace

Task stack() {
  Task t;
  t.summary = "push values on several stacks and give back the one on top at every pop";
  t.source = "Kimi Linear, arXiv 2510.26692 (trained), here with constructed keys";
  t.params = with_gates(
      {integer_param("memories", 8, 1, 1e6, "independent texts (batch)"), integer_param("T", 128, 2, 1e7, "steps"),
       integer_param("stacks", 2, 1, 65536, "stacks"),
       integer_param("height", 6, 1, 65536, "largest number of values on a stack"),
       integer_param("d", 32, 1, 65536, "width of keys and values; recall is exact if it exceeds stacks x height"),
       integer_param("vocabulary", 16, 1, 1e6, "number of words that a value can be"), keys_param("orthonormal"),
       cosine_param(0.5)});
  t.metrics = {accuracy, mse, cosine, {"late_accuracy", Metric::larger}};
  t.ends = [](const Params &p) { return Ends{1 / p.real("vocabulary"), 1}; };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
