// SPDX-License-Identifier: Apache-2.0
// Texts of multi-query associative recall (003 §6), and how much of each text a layer recalls.
#pragma once
#include "harness/numerics/scoring.hpp"
#include "theory/support/layer_points.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
struct Texts {
  Problem problem;

  Texts(int count, int P, int d, int T, const Assignments &set, Seed seed) {
    const Task &task = find_task("mqar");
    Assignments all{{"memories", number(count)}, {"P", number(P)}, {"d", number(d)}, {"T", number(T)}};
    all.insert(set.begin(), set.end());
    problem = task.generate(resolve(task.params, all, "task mqar"), seed);
  }

  Output read_by(const std::string &variant, const Assignments &set = {}) const {
    const Variant &v = find_variant(variant);
    return forward(v, problem.sequence, {"chunked", Real::f64, 16, variant_params(v, set)});
  }

  /// The rows of an array [T,d] of the first text at the steps from `first` on that ask for a cue.
  Vector asked_rows(const Vector &array, int first = 0) const {
    const int d = problem.sequence.shape.Dk;
    Vector rows;
    for (int t = first; t < problem.sequence.shape.T; ++t)
      if (is_asked(problem, 0, t)) rows.insert(rows.end(), &array[size_t(t) * d], &array[size_t(t) * d] + d);
    return rows;
  }
  /// A layer's reads at these steps of the first text.
  Vector reads(const std::string &variant, const Assignments &set = {}, int first = 0) const {
    return asked_rows(read_by(variant, set).o, first);
  }
  /// A layer's share of right answers in each text, from step `first` on.
  Vector shares(const std::string &variant, const Assignments &set = {}, int first = 0) const {
    const Output out = read_by(variant, set);
    Vector shares;
    for (size_t text = 0; text < problem.sequence.shape.heads(); ++text) {
      double asked = 0, right = 0;
      for (int t = first; t < problem.sequence.shape.T; ++t)
        if (is_asked(problem, text, t)) ++asked, right += score_read(problem, out, text, t).right;
      shares.push_back(right / asked);
    }
    return shares;
  }
  /// (n_j + more) v_j at the steps that ask for a cue; n_j is how often the cue was written so far, v_j its response.
  Vector counted_responses(double more = 0) const {
    const Sequence &s = problem.sequence;
    const size_t d = s.shape.Dk;
    Vector rows = asked_rows(problem.target);
    size_t row = 0;
    for (int t = 0; t < s.shape.T; ++t) {
      if (!is_asked(problem, 0, t)) continue;
      double n = more;
      for (int i = 0; i <= t; ++i) n += std::equal(&s.q[t * d], &s.q[t * d] + d, &s.k[i * d]);
      for (size_t c = 0; c < d; ++c) rows[row * d + c] *= n;
      ++row;
    }
    return rows;
  }
};

/// RLS with a negligible ridge: the least-squares memory.
const Assignments least_squares{{"ridge", "1e-6"}};
} // namespace recollect::theory
