// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of tasks: instances by name, metrics by name, and two memories whose scores are known.
#pragma once
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {

struct Instance {
  const Task &task;
  Params params;
  Problem problem;

  Instance(const std::string &name, const Assignments &given, std::uint64_t seed = 1)
      : task(find_task(name)), params(resolve(task.params, given, name)), problem(task.generate(params, seed)) {}
  Score score(const Output &output) const { return task.score(params, problem, output); }
  Score score(const std::string &variant) const { return score(forward(find_variant(variant), problem.sequence)); }
};

inline double metric(const Score &score, const std::string &name) {
  for (const auto &[known, value] : score.metrics)
    if (known == name) return value;
  BOOST_FAIL("no metric is called " + name);
  return std::nan("");
}

/// The token whose embedding, a candidate, is row `step` of `x`; -1 if there is none.
inline int token_of(const Instance &row, const std::vector<double> &x, size_t step) {
  const size_t d = row.problem.sequence.shape.Dk, V = row.problem.candidates.size() / d;
  for (size_t token = 0; token < V; ++token)
    if (std::equal(&x[step * d], &x[step * d] + d, &row.problem.candidates[token * d])) return int(token);
  return -1;
}

/// Output of a memory that always gives the correct read.
inline Output perfect(const Problem &problem) { return {problem.target, {}, {}}; }

/// The delta rule S += beta (v - S k) k^T, read by S q, implemented here again so that tests of tasks do not depend on
/// a variant.
inline Output delta_rule(const Sequence &s) {
  const int Dk = s.shape.Dk, Dv = s.shape.Dv, T = s.shape.T;
  Output out;
  for (size_t head = 0; head < s.shape.heads(); ++head) {
    Dense S(Dv, Dk);
    for (int t = 0; t < T; ++t) {
      const size_t step = head * T + t;
      const auto row = [&](const std::vector<double> &from, int width) {
        return std::vector<double>(from.begin() + step * width, from.begin() + (step + 1) * width);
      };
      const std::vector<double> k = row(s.k, Dk);
      const Dense error = Dense(Dv, 1, row(s.v, Dv)) - S * Dense(Dk, 1, k);
      S = S + s.beta[step] * outer(error.data, k);
      const Dense read = S * Dense(Dk, 1, row(s.q, Dk));
      out.o.insert(out.o.end(), read.data.begin(), read.data.end());
    }
  }
  return out;
}

/// Two calls with one seed agree, another seed does not, and the input passes the checks of the variant `linear`.
inline void check_generator(const std::string &name, const Assignments &given) {
  const Instance one(name, given, 3), same(name, given, 3), other(name, given, 4);
  BOOST_TEST((one.problem.sequence.q == same.problem.sequence.q && one.problem.target == same.problem.target));
  BOOST_TEST((one.problem.sequence.k == same.problem.sequence.k && one.problem.sequence.v == same.problem.sequence.v));
  const bool differs = one.problem.sequence.k != other.problem.sequence.k ||
                       one.problem.sequence.q != other.problem.sequence.q ||
                       one.problem.sequence.v != other.problem.sequence.v;
  BOOST_TEST(differs);
  const Variant &linear = find_variant("linear");
  BOOST_CHECK_NO_THROW(check_inputs(linear, one.problem.sequence, variant_params(linear)));
}

} // namespace recollect
