// SPDX-License-Identifier: Apache-2.0
// Compares one array of a candidate with the definition, in units of rounding noise.
#pragma once
#include "harness/check/noise.hpp"

namespace recollect {

/// Largest errors, in units of the noise sigma (noise.hpp), that count as rounding. docs/checking-a-kernel.md shows how
/// they were calibrated.
struct Limits {
  double row;  // RMS error of a row over its noise
  double head; // RMS error of a head of many rows over its noise
  /// The limit for a head of this many rows. Errors average out less over few rows, so the limit is then higher; a head
  /// of one row has the limit of a row.
  double head_of(size_t rows) const;
};
Limits limits_of(Precision precision);

enum class Judgement { right, wrong, undecided };

struct Judged {
  std::string name;
  Judgement judgement = Judgement::right;
  bool finite = true;          // no NaN or infinity where the definition is finite
  double row = 0, head = 0;    // largest errors in units of sigma; 0 if all is exact
  double worst = 0, rms = 0;   // worst: largest |error| over largest |reference|; rms: ratio of Euclidean norms
  std::vector<long> first_bad; // b, h, row, column of the first element beyond the limits; empty: none
  std::vector<size_t> bad_heads;
  /// Heads whose noise is as large as their values, so that zeros would be accepted. In these heads only NaN and
  /// infinity count as wrong, because the noise, measured with small disturbances, does not predict errors this large.
  std::vector<size_t> without_power;
  std::vector<double> ratios; // [heads, rows] error over noise, to show where errors are
};

/// `candidate` [heads, rows, columns] has the reference's shape. The limits are those of noise.precision. `H` is the
/// number of heads per batch entry.
Judged judge(const Part &reference, const PartNoise &noise, const std::vector<double> &candidate, size_t H);

} // namespace recollect
