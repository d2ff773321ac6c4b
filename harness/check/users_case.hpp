// SPDX-License-Identifier: Apache-2.0
// Inputs and results of a user's kernel, in the arrays of its convention. They are read from files and converted to
// cases of the layer.
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

/// Reads the inputs in a file and, with `gradient`, do and dfinal_state. Input error for an array with an unknown name
/// and for inputs that the layer cannot take; the message names a switch of the convention with which they would fit.
/// An array without a stated type has its type in the file. `inputs`, if not null, receives layer_inputs() of the case.
UsersCase read_case(const std::string &path, const Variant &variant, const Params &params, const Convention &convention,
                    bool gradient, const StatedTypes &stated = {}, LayerInputs *inputs = nullptr);

/// Like read_case(), but ignores arrays with unknown names.
UsersCase read_inputs(const std::string &path, const Variant &variant, const Params &params,
                      const Convention &convention, bool gradient, const StatedTypes &stated = {},
                      LayerInputs *inputs = nullptr);

/// Writes the case's arrays, as float64 for f64 and otherwise as float32, which holds the numbers of every narrower
/// type.
void write_case(const std::string &path, UsersCase problem, Precision precision, const Facts &meta);
/// Converts a case of the layer to the user's convention and rounds each number to the type of its array. In layout
/// thd, which has no batch dimension, a batch becomes packed texts.
UsersCase users_case(const CheckCase &problem, const Convention &convention, const Sharing &sharing,
                     Precision precision, std::uint64_t seed, const StatedTypes &stated = {});

/// The case's inputs as the layer takes them. Input error if the layer cannot take these arrays.
LayerInputs layer_inputs(const UsersCase &problem);
/// The layer's case for one text, which must not be empty.
CheckCase case_of(const UsersCase &problem, const LayerInputs &inputs, size_t text);

struct Candidate {
  UsersArrays in_file; // the results that the file contains
  // gradients that the case does not ask for, by their names in the file
  std::vector<std::string> ignored;
};
/// Reads the results of a kernel. Input error for an array with an unknown name. `inputs` are layer_inputs() of the
/// case.
Candidate read_candidate(const std::string &path, const UsersCase &problem, const LayerInputs &inputs);

/// An array of a case, its name in the file, and the type in which a kernel stores it.
struct TypedArray {
  std::string name;
  Precision type;
  const UsersArray *array = nullptr; // in the case
};
/// All inputs that are used; do and dfinal_state are among them only if gradients are asked for.
std::vector<TypedArray> typed_inputs(const UsersCase &problem, Precision precision);
/// Inputs whose type cannot hold their numbers exactly.
std::vector<TypedArray> inexact_inputs(const UsersCase &problem, Precision precision);

/// Results as parts in the layer's order: one list per text. If texts are packed, one more list at the end has the
/// gradients of parameters (A_log, D ...). If not, the only list has them.
std::vector<PartList> parts_by_text(const UsersArrays &results, const LayerInputs &inputs, const Variant &variant);

} // namespace recollect
