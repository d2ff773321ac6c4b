// SPDX-License-Identifier: Apache-2.0
// Rounding noise: how much a correct kernel of a number type differs from the float64 definition.
//
// The definition is run again on disturbed copies of the problem: every input number is moved, up or down at random, by
// rounding(), a few half spacings (ulps) of its type (array_types.hpp). A gate is moved in its logarithm, which is what
// kernels store. States and their gradients are moved in the same way between chunks. The RMS response of an element,
// together with half a spacing of the element itself and the rounding of float32 sums, is its noise sigma.
//
// Disturbed inputs do not show the rounding of intermediate results, such as features of a key, a logit of 1000, or
// terms that cancel in a dot product. This rounding is measured: the definition and the layer's backward pass run in
// float32 and in float64 on the same inputs. The measured rounding counts at most as much as the error of a backward
// stable algorithm, n eps kappa (conditioning.hpp), so that a fault in the float32 kernels is not taken for rounding.
#pragma once
#include "harness/check/precision.hpp"
#include "harness/check/results.hpp"

namespace recollect {

/// Noise of one part, [heads, rows]: RMS over the channels of the row. If a row's estimate uses fewer than 32 numbers
/// (channels times draws), it is at least the RMS of the rows next to it.
struct PartNoise {
  std::string name;
  std::vector<double> rows;
  Precision precision = Precision::f32;
};
using Noise = std::vector<PartNoise>;

constexpr int noise_draws = 8;

/// How far rounding moves a number within a chunk. A spacing is the distance of neighbouring numbers of the type. In a
/// 16-bit type, an operand of a product moves by half a spacing; in TF32, by a whole spacing, since hardware truncates.
/// In float32 and float64 a number moves by two spacings: about sixteen operations round it, as a random walk.
double rounding(double x, Precision precision);

/// Copy number `draw` (0, 1, ...) of the problem with disturbed inputs. If the problem consists of some heads of
/// another case, from head `first` on, the copy is the corresponding part of that case's copy.
CheckCase disturbed(const CheckCase &problem, Precision precision, int draw, int chunk, size_t first = 0);

/// Rounding error of the layer's own float32 kernels, for each part of the definition: mean over draws of the squared
/// difference from float64, summed over the channels of a row; [heads, rows]. Empty for gradients of a layer without a
/// backward pass.
std::vector<std::vector<double>> float32_rounding(const CheckCase &problem, const PartList &definition);

/// `measured` is float32_rounding(); `chunk` is the number of steps after which the state is handed over, at most T.
Noise noise_of(const CheckCase &problem, const PartList &definition, const std::vector<std::vector<double>> &measured,
               Precision precision, int chunk);

} // namespace recollect
