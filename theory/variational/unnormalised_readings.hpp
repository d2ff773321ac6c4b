// SPDX-License-Identifier: Apache-2.0
// 004 Table 2 does not say which normalisations its "unnormalised" layer keeps, nor what the inputs are. These are six
// readings, at the width and lambda0 of the table.
#pragma once
#include "theory/variational/unit_jacobian.hpp"

namespace recollect::theory {
const double paper_lambda0 = 0.1;
const int paper_width = 96;

enum class Penalty { key, random };
struct Reading {
  const char *name;
  bool features;       // keys are elu + 1 of Gaussian pre-activations, else the pre-activations
  double variance;     // variance of the pre-activations
  Penalty direction;   // of u
  double length;       // of u
  bool unit_a, unit_k; // whether a, or k, is still scaled to length 1
};
const double algorithm_1_length = 1 / std::sqrt(double(paper_width));
const std::vector<Reading> readings{
    {"elu + 1 keys, unit u along k", true, 1, Penalty::key, 1, false, false},
    {"elu + 1 keys of variance 1/3, random unit u", true, 1.0 / 3, Penalty::random, 1, false, false},
    {"elu + 1 keys, random u of length 1/sqrt d", true, 1, Penalty::random, algorithm_1_length, false, false},
    {"raw keys of variance 1/3, random unit u", false, 1.0 / 3, Penalty::random, 1, false, false},
    {"elu + 1 keys, unit u along k, only a normalised", true, 1, Penalty::key, 1, true, false},
    {"elu + 1 keys, random unit u, only k normalised", true, 1, Penalty::random, 1, false, true}};

/// Rows of keys and of penalty directions.
struct Draw {
  Vector keys, penalties;
};
inline Draw draw(const Reading &r, int steps, Seed seed, std::uint64_t run) {
  const int d = paper_width;
  Draw x{Stream(seed, "table 2/keys", run).normals(size_t(steps) * d),
         random_units(steps, d, Stream(seed, "table 2/penalties", run))};
  for (double &k : x.keys) k = r.features ? elu1(std::sqrt(r.variance) * k) : std::sqrt(r.variance) * k;
  if (r.unit_k) normalise_rows(x.keys, d);
  if (r.direction == Penalty::key) x.penalties = x.keys, normalise_rows(x.penalties, d);
  x.penalties = scaled(r.length, x.penalties);
  return x;
}

/// One step of the reading. The layer is vla_unnormalized, which normalises nothing. If the reading normalises a = A k,
/// the write uses another matrix, which maps k to a / |a|; then A is restored.
inline void step(Vla &layer, const Reading &r, const Vector &k, const Vector &u) {
  if (!r.unit_a) return layer.step(k, u, {0.0});
  layer.update_inverse(u);
  const Dense A = layer.A;
  layer.A = 1 / inner(k, k) * outer(unit(times(A, k)), k);
  layer.write(k, {0.0});
  layer.A = A;
}
/// The norm of the step's Jacobian by largest_stretch(), with A_t = M_t^{-1}.
inline double predicted_norm(const VlaAlgebra &run, const Reading &r, const Vector &k) {
  const Vector a = r.unit_a ? unit(run.a) : run.a;
  return largest_stretch(inner(a, k), norm(a) * norm(k));
}
/// |J| by power iteration from k. The iteration stays in the plane of a and k. There one singular value of J is |J|,
/// the other at most 1. So each iteration multiplies the error of the vector by at most 1 / |J|^2, which is below 1/30
/// here.
inline double power_norm(const Dense &J, Vector x) {
  for (int i = 0; i < 14; ++i) x = times(transpose(J), times(J, unit(x)));
  return norm(times(J, unit(x)));
}
} // namespace recollect::theory
