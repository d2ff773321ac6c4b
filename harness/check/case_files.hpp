// SPDX-License-Identifier: Apache-2.0
// The files between `sample`, a kernel and `check`: what it is given, and what it computed.
#pragma once
#include "harness/check/precision.hpp"
#include "harness/check/results.hpp"
#include "harness/pipeline/tensors.hpp"

namespace recollect {

/// The inputs in a file and, with `gradient`, do and dstate. Input error for a dataset that is none of these, and for
/// inputs that the layer cannot take.
CheckCase read_case(const std::string &path, const Variant &variant, const Params &params, Convention convention,
                    bool gradient);

/// Writes it: float64 arrays for f64, else float32, which holds the numbers of every other type.
void write_case(const std::string &path, const CheckCase &problem, Convention convention, Precision precision,
                const Facts &meta);

/// Every number of the case as the type holds it; gates where a file holds their logarithms, in those.
void round_case(CheckCase &problem, Precision precision, Convention convention);

struct Candidate {
  PartList results;                 // what of o, the state and gradients it has
  std::vector<std::string> ignored; // gradients that it has and the case does not ask for
};
/// Input error for a dataset that is none of these or has another shape.
Candidate read_candidate(const std::string &path, const CheckCase &problem, Convention convention);

} // namespace recollect
