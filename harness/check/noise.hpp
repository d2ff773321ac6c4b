// SPDX-License-Identifier: Apache-2.0
// Rounding noise: how much a correct kernel that computes in some type differs from the float64 definition.
//
// The definition is run again on disturbed copies of the problem. Every input number x is moved by rounding(x), up or
// down at random; rounding(x) is a few half spacings of its type (array_types.hpp). The logarithm of a gate is moved
// instead of the gate, because kernels store the logarithm. States and their gradients are moved in the same way
// between chunks. The noise sigma of an element combines the RMS response of the element, half a spacing of the element
// itself, and the rounding of float32 sums.
//
// Disturbed inputs do not show the rounding of intermediate results, such as features of a key, a logit of 1000, or
// terms that cancel in a dot product. This rounding is measured: the definition and the layer's backward pass run in
// float32 and in float64 on the same inputs. The measured rounding is limited to n eps kappa (conditioning.hpp), the
// error of a backward stable algorithm, so that a fault in the float32 kernels is not taken for rounding.
#pragma once
#include "harness/check/precision.hpp"
#include "harness/check/results.hpp"

namespace recollect {

/// Noise of one part, [heads, rows]: the RMS over the channels of each row. If the estimate for a row uses fewer than
/// 32 numbers (channels times draws), it is at least the RMS over the row and its neighbours.
struct PartNoise {
  std::string name;
  std::vector<double> rows;
  Precision precision = Precision::f32;
};
using Noise = std::vector<PartNoise>;

constexpr int noise_draws = 8;

/// How far rounding moves the number x within a chunk. A spacing is the distance between neighbouring numbers of the
/// type. In a 16-bit type, an operand of a product moves by half a spacing; in TF32, by a whole spacing, because
/// hardware truncates. In float32 and float64 a number moves by two spacings: about sixteen operations round it, and
/// the errors add up as a random walk.
double rounding(double x, Precision precision);

/// Copy number `draw` (0, 1, ...) of the problem with disturbed inputs. `first` is not 0 if the problem holds some
/// heads of a larger case, from head `first` on. These heads are then disturbed as in the copy of the larger case.
CheckCase disturbed(const CheckCase &problem, Precision precision, int draw, int chunk, size_t first = 0);

/// Rounding error of the layer's own float32 kernels. For each part of the definition, an array [heads, rows]: the
/// squared difference from float64, summed over the channels of a row, and its mean over draws. Gradients of a layer
/// without a backward pass have zeros.
std::vector<std::vector<double>> float32_rounding(const CheckCase &problem, const PartList &definition);

/// `measured` is the result of float32_rounding(). The kernel hands its state over after every `chunk` steps.
Noise noise_of(const CheckCase &problem, const PartList &definition, const std::vector<std::vector<double>> &measured,
               Precision precision, int chunk);

} // namespace recollect
