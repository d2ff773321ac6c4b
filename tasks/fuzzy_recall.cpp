// SPDX-License-Identifier: Apache-2.0
// Recall from an inexact cue (000 §2.1): items have keys and values of several tokens, and the query is the key turned
// by a given angle.
//
// The key of an item is the normalised sum of its tokens' embeddings, each multiplied by a row of signs for its place,
// so that items which share tokens have similar keys. Value token j is stored under the key multiplied by row r_j of
// signs. Example: 2 items of 2 value tokens, seen by the head that asks for value token 2 of item 1 (*: element by
// element):
//   t      1          2          3          4
//   k,v    k1*r1,a    k1*r2,b    k2*r1,c    k2*r2,d
//   q      ...                              (cos(x) k1 + sin(x) e)*r2       e: random unit vector orthogonal to k1
//   o  ->                                   b
//
// The angle x grows in equal steps from 0 to `widest` over the batch; the series have one value per angle. Head j asks
// for value token j. "exact" is the fraction of items whose value tokens are all right.
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/keys.hpp"
#include "harness/numerics/random.hpp"
#include "harness/numerics/scoring.hpp"
#include "tasks/gates.hpp"
#include "tasks/rows.hpp"
#include "tasks/steps.hpp"

namespace recollect::tasks {
namespace {

/// n item keys of one memory: [n,d] unit rows, each a sum over `parts` places of (embedding of a random token) * (signs
/// of the place).
std::vector<double> item_keys(int n, int parts, const std::vector<double> &embeddings, int d, const Stream &draw,
                              const Stream &signs, size_t memory) {
  const size_t words = embeddings.size() / d;
  std::vector<double> keys(size_t(n) * d, 0.0);
  for (int i = 0; i < n; ++i)
    for (int part = 0; part < parts; ++part) {
      const size_t word = draw.below((memory * n + i) * parts + part, words);
      for (int c = 0; c < d; ++c)
        keys[size_t(i) * d + c] += embeddings[word * d + c] * (signs.below(size_t(part) * d + c, 2) ? 1 : -1);
    }
  normalise_rows(keys, d);
  return keys;
}

/// A unit vector at `angle` from the unit vector `key`.
std::vector<double> turned(const double *key, std::vector<double> direction, double angle) {
  double overlap = 0;
  for (size_t c = 0; c < direction.size(); ++c) overlap += direction[c] * key[c];
  for (size_t c = 0; c < direction.size(); ++c) direction[c] -= overlap * key[c];
  normalise_rows(direction, direction.size());
  for (size_t c = 0; c < direction.size(); ++c)
    direction[c] = std::cos(angle) * key[c] + std::sin(angle) * direction[c];
  return direction;
}

Shape shape_of(const Params &p) {
  const int d = p.integer("d"), L = p.integer("value_tokens");
  return {p.integer("angles") * p.integer("memories"), L, steps_of(p.real("n") * L, "fuzzy_recall"), d, d};
}

Problem generate(const Params &p, std::uint64_t seed) {
  const int memories = p.integer("memories"), angles = p.integer("angles"), n = p.integer("n"), d = p.integer("d");
  const int L = p.integer("value_tokens"), words = p.integer("words"), T = shape_of(p).T;
  const std::vector<double> embeddings = make_keys({"unit", words, d}, 1, 2 * seed);
  const std::vector<double> values = make_keys({"orthonormal", words, d}, 1, 2 * seed + 1);
  const Stream key_word(seed, "fuzzy_recall/key_words"), place_signs(seed, "fuzzy_recall/place_signs"),
      value_signs(seed, "fuzzy_recall/value_signs"), value_word(seed, "fuzzy_recall/value_words"),
      ask(seed, "fuzzy_recall/ask"), aside(seed, "fuzzy_recall/aside");
  Problem problem;
  Sequence &s = problem.sequence;
  s.shape = shape_of(p);
  const size_t size = s.shape.heads() * T * d;
  s.q.resize(size), s.k.resize(size), s.v.resize(size);
  problem.target.assign(size, 0.0), problem.answer.assign(s.shape.heads() * T, -1);
  problem.scored.assign(T, 0), problem.scored[T - 1] = 1;
  append(problem.candidates, values, int(s.shape.heads()));
  fill_gates(s, p);
  const auto sign = [&](int j, int c) { return value_signs.below(size_t(j) * d + c, 2) ? 1 : -1; };
  for (int m = 0; m < memories; ++m) {
    const std::vector<double> keys = item_keys(n, p.integer("key_tokens"), embeddings, d, key_word, place_signs, m);
    const auto word = [&](int item, int j) { return int(value_word.below((size_t(m) * n + item) * L + j, words)); };
    const int asked = int(ask.below(m, n));
    for (int a = 0; a < angles; ++a) {
      const std::vector<double> cue =
          turned(&keys[size_t(asked) * d], aside.normals(d, size_t(m) * d), angle_at(a, angles, 0, p.real("widest")));
      for (int h = 0; h < L; ++h) {
        const size_t first = ((size_t(a) * memories + m) * L + h) * T, last = first + T - 1;
        for (int t = 0; t < T; ++t) {
          for (int c = 0; c < d; ++c) s.k[(first + t) * d + c] = keys[size_t(t / L) * d + c] * sign(t % L, c);
          copy_row(values, word(t / L, t % L), s.v, first + t, d);
          copy_row(s.k, first + t, s.q, first + t, d);
        }
        for (int c = 0; c < d; ++c) s.q[last * d + c] = cue[c] * sign(h, c);
        problem.answer[last] = word(asked, h);
        copy_row(values, problem.answer[last], problem.target, last, d);
      }
    }
  }
  return problem;
}

Score score(const Params &p, const Problem &problem, const Output &output) {
  Score result = score_reads(problem, output);
  const Shape &shape = problem.sequence.shape;
  const int memories = p.integer("memories"), angles = p.integer("angles");
  std::vector<double> accuracy(angles, 0.0), cosine(angles, 0.0), exact(angles, 0.0);
  for (int b = 0; b < shape.B; ++b) {
    int right = 0;
    for (int h = 0; h < shape.H; ++h) {
      const Read read = score_read(problem, output, size_t(b) * shape.H + h, shape.T - 1);
      right += read.right;
      cosine[b / memories] += read.cosine / (memories * shape.H);
    }
    accuracy[b / memories] += double(right) / (memories * shape.H);
    exact[b / memories] += double(right == shape.H) / memories;
  }
  result.metrics.emplace_back("exact", mean_of_range(exact, 0, angles));
  result.series = {{"accuracy_by_angle", accuracy}, {"cosine_by_angle", cosine}, {"exact_by_angle", exact}};
  return result;
}

} // namespace

Task fuzzy_recall() {
  Task t;
  t.summary = "recall a value of several tokens from a cue at a given angle from its key";
  t.source = "000 §2.1, Eq 4-6";
  t.params =
      with_gates({integer_param("memories", 4, 1, 1e6, "independent memories per angle"),
                  integer_param("angles", 10, 1, 1000, "angles of the cue, from 0 up"),
                  real_param("widest", 90, 0, 180, "largest angle, in degrees"), integer_param("n", 8, 1, 1e6, "items"),
                  integer_param("key_tokens", 3, 1, 1e6, "tokens of a key"),
                  integer_param("value_tokens", 3, 1, 1e6, "tokens of a value"),
                  integer_param("words", 16, 1, 1e6, "number of different words"),
                  integer_param("d", 32, 2, 65536, "width of keys and values")});
  t.metrics = {accuracy, mse, cosine, {"exact", Metric::larger}};
  t.ends = [](const Params &p) { return Ends{1 / p.real("words"), 1}; };
  t.shape = shape_of;
  t.generate = generate;
  t.score = score;
  return t;
}

} // namespace recollect::tasks
