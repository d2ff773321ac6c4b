// SPDX-License-Identifier: Apache-2.0
// Is a kernel right? What it computed, held against the float64 definition, and where it is wrong, why.
#pragma once
#include "harness/core/variant.hpp"
#include <array>

namespace recollect {

/// The type that the candidate computed in, by its spacing at 1: f32 2^-23, tf32 and f16 2^-10, bf16 2^-7.
enum class Precision { f32, tf32, f16, bf16 };
Precision parse_precision(const std::string &name);
double spacing(Precision precision);

struct Errors {
  double worst = 0;            // largest |difference| over the largest |reference|
  double rms = 0;              // |difference| over |reference|, Euclidean
  std::vector<long> first_bad; // b, h, t, channel (or b, h, row, column) of the first element beyond the bound in order
                               // of steps; empty: none
};

/// Elements [B*H, rows, columns] of both arrays.
Errors compare(const std::vector<double> &candidate, const std::vector<double> &reference, size_t H, size_t rows,
               size_t columns, double bound);
/// Rounding units that `passages` of a value through the precision lose, beyond sums of `terms` in float32.
double rounding_units(double terms, double passages, Precision precision);

struct Checked {
  Errors outputs, state;
  bool has_state = false;
  double bound = 0, condition = 0;
  std::vector<std::array<double, 3>> by_step; // first step, one past the last, worst error there: octaves
  bool right() const { return outputs.first_bad.empty() && state.first_bad.empty(); }
  std::string diagnosis; // the mistake that reproduces the candidate, "" if none of the known ones does
};

/// `candidate` (its state may be empty) for these inputs. The bound on every element,
/// relative to the largest of its array, is
///   [ (T + Dk + C) eps(f32) + 16 eps(precision) ] kappa      (the second term where the precision is below f32)
/// kappa the response of the definition to relative changes of its inputs (conditioning.hpp): products are summed in
/// float32, and a value passes through the lower precision a handful of times (inputs, scores, state, output), not once
/// a step. Where it is wrong, likely mistakes are re-run, and the one that reproduces it is named.
Checked check(const Variant &variant, const Sequence &sequence, const Params &params, const Output &candidate,
              Precision precision, int chunk = 64);

} // namespace recollect
