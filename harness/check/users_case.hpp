// SPDX-License-Identifier: Apache-2.0
// What a kernel is given and what it computes, in the arrays of its user: read from files, in any convention, and as the
// cases of the layer that they stand for.
#pragma once
#include "harness/call/layer_inputs.hpp"
#include "harness/check/precision.hpp"
#include "harness/check/results.hpp"

namespace recollect {

struct UsersCase {
  const Variant &variant;
  Params params;
  Convention convention;
  UsersArrays in_file; // as they lie there
  bool gradient = false;
  ArrayTypes types = ArrayTypes(convention);
};

/// The inputs in a file and, with `gradient`, do and dfinal_state. Input error for an array of another name, and for
/// inputs that the layer cannot take; it names the switch of the convention with which the layer could. Types that are not
/// stated are those of the file.
UsersCase read_case(const std::string &path, const Variant &variant, const Params &params, const Convention &convention,
                    bool gradient, const StatedTypes &stated = {});

/// The same, without looking at arrays of other names.
UsersCase read_inputs(const std::string &path, const Variant &variant, const Params &params,
                      const Convention &convention, bool gradient, const StatedTypes &stated = {});

/// Arrays that mean the case: float64 for f64, else float32, which holds the numbers of every other type.
void write_case(const std::string &path, const UsersCase &problem, Precision precision, const Facts &meta);
/// A case of the layer in the user's convention; every number as the type of its array holds it. In the layout thd a
/// batch becomes packed texts.
UsersCase users_case(const CheckCase &problem, const Convention &convention, const Sharing &sharing,
                     Precision precision, std::uint64_t seed, const StatedTypes &stated = {});

/// Input error where the arrays give none that the layer can take.
LayerInputs layer_inputs(const UsersCase &problem);
/// The layer's case of a text that is not empty.
CheckCase case_of(const UsersCase &problem, const LayerInputs &inputs, size_t text);

struct Candidate {
  UsersArrays in_file;              // what of the results it has
  std::vector<std::string> ignored; // gradients that it has and the case does not ask for, as its file names them
};
/// Input error for an array of another name.
Candidate read_candidate(const std::string &path, const UsersCase &problem);

/// An array by its name in the file, and the type that it is stored in.
struct TypedArray {
  std::string name;
  Precision type;
  const UsersArray *array = nullptr; // of the case
};
/// Of the inputs that count: all, without a gradient all but do and dfinal_state.
std::vector<TypedArray> typed_inputs(const UsersCase &problem, Precision precision);
/// Those whose type cannot hold their numbers.
std::vector<TypedArray> inexact_inputs(const UsersCase &problem, Precision precision);

/// Results in the layer's order as parts, a list a text; the gradients of parameters are in the last list, which is the
/// only one where no texts are packed.
std::vector<PartList> parts_by_text(const UsersArrays &results, const LayerInputs &inputs, const Variant &variant);

} // namespace recollect
