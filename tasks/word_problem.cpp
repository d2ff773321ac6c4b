// SPDX-License-Identifier: Apache-2.0
// Word problems over a group: each letter is an element of the group. After each letter the product of all letters so
// far is asked for.
//
// The group permutes `points` keys. They are written first. Then a letter rearranges their values by exchanging two at
// a time: a write of k = k_i - k_j with v = 0 and beta = 1, whose transition I - k k^T is a reflection (000 Theorem 1).
// A letter has `reflections` steps, by default enough for every letter. Steps that a letter does not need write v = 0
// with beta = 0 under a spare key x. If a letter needs more steps, the rest are left out, as in a layer with too few
// reflections.
//
// Example: S3 (3 points, 2 steps per letter): the letters (1 2 3) and (1 2), seen by the head that follows key 1
//   t      1        2        3        4          5          6          7
//   k,v    k1,v1    k2,v2    k3,v3    k1-k2,0    k2-k3,0    k1-k2,0    x,0
//   q      k1       k1       k1       k1         k1         k1         k1
//   right  -        -        -        -          v2         -          v3
//
// Head h follows key h; the product is right if all heads are. "length" is the number of letters before the first
// letter at which fewer than `level` of the memories are right. `eigenvalue` is the eigenvalue of a step's transition
// along the step's key: -1 is an exchange; 0 is a projection, which loses the order (the smallest eigenvalue that beta
// <= 1 allows at unit keys); and 1 changes nothing.
#include "harness/numerics/groups.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"
#include "tasks/steps.hpp"

namespace recollect::tasks {
namespace {

int reflections_of(const Params &p) { return int(p.real_or("reflections", group_named(p.text("group")).points - 1)); }

Shape shape_of(const Params &p) {
  const int n = group_named(p.text("group")).points;
  return {p.integer("memories"), n, steps_of(n + p.real("letters") * reflections_of(p), "word_problem"), p.integer("d"),
          p.integer("d")};
}

/// Sets the key of step `step` to `scale` * (key i - key j). The value of the step must be 0.
void write_difference(Sequence &s, size_t step, const std::vector<double> &keys, size_t i, size_t j, double scale) {
  const size_t d = s.shape.Dk;
  for (size_t c = 0; c < d; ++c) s.k[step * d + c] = scale * (keys[i * d + c] - keys[j * d + c]);
}

Problem generate(const Params &p, std::uint64_t seed) {
  const PermutationGroup group = group_named(p.text("group"));
  const int memories = p.integer("memories"), letters = p.integer("letters"), d = p.integer("d"), n = group.points,
            reflections = reflections_of(p), T = shape_of(p).T;
  const double scale = std::sqrt((1 - p.real("eigenvalue")) / 2);
  const std::vector<double> keys = make_keys({"orthonormal", n + 1, d}, memories, seed); // the last is the spare key
  const std::vector<double> values = make_keys({"orthonormal", n, d}, memories, ~seed);
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  const size_t steps = s.shape.heads() * T;
  s.q.resize(steps * d), s.k.resize(steps * d);
  s.v.assign(steps * d, 0.0), problem.target.assign(steps * d, 0.0);
  fill_gates(s, p);
  problem.answer.assign(steps, -1);
  problem.scored.assign(T, 0);
  for (int t = n + reflections - 1; t < T; t += reflections) problem.scored[t] = 1;
  const Stream draw(seed, "word_problem/letters");
  for (int m = 0; m < memories; ++m)
    for (int h = 0; h < n; ++h) {
      const size_t first = (size_t(m) * n + h) * T, key = size_t(m) * (n + 1), value = size_t(m) * n;
      for (int t = 0; t < T; ++t) copy_row(keys, key + h, s.q, first + t, d);
      for (int i = 0; i < n; ++i) {
        copy_row(keys, key + i, s.k, first + i, d);
        copy_row(values, value + i, s.v, first + i, d);
      }
      Permutation held = group.elements[0]; // which value each key holds
      for (int letter = 0; letter < letters; ++letter) {
        const Permutation &element = group.elements[draw.below(size_t(m) * letters + letter, group.elements.size())];
        const auto exchanges = exchanges_of(element);
        held = product(held, element);
        for (int r = 0; r < reflections; ++r) {
          const size_t step = first + n + size_t(letter) * reflections + r;
          if (size_t(r) < exchanges.size())
            write_difference(s, step, keys, key + exchanges[r].first, key + exchanges[r].second, scale);
          else
            copy_row(keys, key + n, s.k, step, d), s.beta[step] = 0;
        }
        const size_t last = first + n + size_t(letter + 1) * reflections - 1;
        problem.answer[last] = held[h];
        copy_row(values, value + held[h], problem.target, last, d);
      }
      problem.candidates.insert(problem.candidates.end(), values.begin() + value * d, values.begin() + (value + n) * d);
    }
  return problem;
}

/// The number of memories that must be right.
int enough_of(const Params &p) { return int(std::ceil(p.real("level") * p.integer("memories"))); }

Score score(const Params &p, const Problem &problem, const Output &output) {
  Score result = score_reads(problem, output);
  const Shape &shape = problem.sequence.shape;
  std::vector<double> products;
  int length = 0;
  bool solved = true;
  for (int t = 0; t < shape.T; ++t) {
    if (!problem.scored[t]) continue;
    int right = 0;
    for (int m = 0; m < shape.B; ++m) {
      bool all = true;
      for (int h = 0; h < shape.H; ++h) all = all && score_read(problem, output, size_t(m) * shape.H + h, t).right;
      right += all;
    }
    solved = solved && right >= enough_of(p);
    length += solved;
    products.push_back(double(right) / shape.B);
  }
  result.metrics.emplace_back("length", length);
  result.metrics.emplace_back("product_accuracy", mean_of_range(products, 0, products.size()));
  result.series["product_accuracy_by_letter"] = products;
  return result;
}

/// The expected length if every head guesses one of the n values.
double guessed_length(const Params &p) {
  const int memories = p.integer("memories"), n = group_named(p.text("group")).points;
  const double right = std::pow(n, -n);
  double solved = 0, length = 0; // probability that enough memories are right: the tail of the binomial distribution
  for (int m = enough_of(p); m <= memories; ++m)
    solved += std::exp(std::lgamma(memories + 1.0) - std::lgamma(m + 1.0) - std::lgamma(memories - m + 1.0) +
                       m * std::log(right) + (memories - m) * std::log1p(-right));
  for (int letter = p.integer("letters"); letter > 0; --letter) length = solved * (1 + length);
  return length;
}

} // namespace

Task word_problem() {
  Task t;
  t.summary = "track the product of random elements of a group: the longest word solved";
  t.source = "Merrill, Petty, Sabharwal 2024; DeltaProduct, arXiv 2502.10297; 000 Theorem 1";
  t.params = with_gates(
      {integer_param("memories", 4, 1, 1e6, "independent words (batch)"),
       choice_param("group", group_names(), "which group; parity is Z2"),
       integer_param("letters", 32, 1, 1e7, "letters of a word"),
       integer_param("d", 8, 1, 65536,
                     "width of keys and values; recall is exact if it exceeds the number of the group's points"),
       automatic_param("reflections", "points - 1", 1, 100,
                       "steps per letter (DeltaProduct's $n_h$); a fraction is rounded down"),
       real_param("eigenvalue", -1, -1, 1,
                  "eigenvalue of a step's transition along its key; -1: the step exchanges two values"),
       real_param("level", 0.9, 0.01, 1, "share of memories that must be right for a length to count as solved")});
  t.metrics = {{"length", Metric::larger}, {"product_accuracy", Metric::larger}, accuracy, mse, cosine};
  t.ends = [](const Params &p) { return Ends{guessed_length(p), p.real("letters")}; };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
