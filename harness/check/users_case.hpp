// SPDX-License-Identifier: Apache-2.0
// A kernel's inputs and results in its user's arrays: read from files in any convention, and converted to cases of the
// layer.
#pragma once
#include "harness/call/in_convention.hpp"
#include "harness/check/precision.hpp"
#include "harness/check/results.hpp"

namespace recollect {

struct UsersCase {
  const Variant &variant;
  Params params;
  Convention convention;
  UsersArrays in_file; // in the user's layout
  bool gradient = false;
  ArrayTypes types = ArrayTypes(convention);
};

/// The inputs in a file and, with `gradient`, do and dfinal_state. Input error for an array with an unknown name and
/// for inputs that the layer cannot take; the message names the switch of the convention that would make them fit.
/// An array whose type is not stated has the type that it has in the file. `inputs`, if given, becomes layer_inputs()
/// of the case.
UsersCase read_case(const std::string &path, const Variant &variant, const Params &params, const Convention &convention,
                    bool gradient, const StatedTypes &stated = {}, LayerInputs *inputs = nullptr);

/// Like read_case(), but ignores arrays with unknown names.
UsersCase read_inputs(const std::string &path, const Variant &variant, const Params &params,
                      const Convention &convention, bool gradient, const StatedTypes &stated = {},
                      LayerInputs *inputs = nullptr);

/// Writes the case's arrays: float64 for f64, else float32, which holds the numbers of every narrower type.
void write_case(const std::string &path, UsersCase problem, Precision precision, const Facts &meta);
/// A case of the layer in the user's convention, each number rounded to the type of its array. In layout thd a batch
/// becomes packed texts.
UsersCase users_case(const CheckCase &problem, const Convention &convention, const Sharing &sharing,
                     Precision precision, std::uint64_t seed, const StatedTypes &stated = {});

/// Input error if the layer cannot take these arrays.
LayerInputs layer_inputs(const UsersCase &problem);
/// The layer's case for one text, which must not be empty.
CheckCase case_of(const UsersCase &problem, const LayerInputs &inputs, size_t text);

struct Candidate {
  UsersArrays in_file; // the results that the file contains
  // Names in the file of gradients that the case does not ask for.
  std::vector<std::string> ignored;
};
/// Input error for an array with an unknown name. `inputs` are the inputs of the case.
Candidate read_candidate(const std::string &path, const UsersCase &problem, const LayerInputs &inputs);

/// An array, its name in the file, and its type there.
struct TypedArray {
  std::string name;
  Precision type;
  const UsersArray *array = nullptr; // in the case
};
/// All inputs that are used; do and dfinal_state only with a gradient.
std::vector<TypedArray> typed_inputs(const UsersCase &problem, Precision precision);
/// Inputs whose type cannot hold their numbers exactly.
std::vector<TypedArray> inexact_inputs(const UsersCase &problem, Precision precision);

/// Results as parts in the layer's order, one list per text. If texts are packed, one more list at the end has the
/// gradients of parameters; if not, the only list has them.
std::vector<PartList> parts_by_text(const UsersArrays &results, const LayerInputs &inputs, const Variant &variant);

} // namespace recollect
