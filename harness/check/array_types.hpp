// SPDX-License-Identifier: Apache-2.0
// The type of each of a user's arrays, and the type that the kernel computes in.
//
// Kernels round operands of products to the type of the computation, whatever their arrays are stored in. Gates and
// write strengths are factors of float32 sums in every kernel, and keep the precision of their own arrays. A state is
// rounded to its type when it is passed on, and a result when it is written.
#pragma once
#include "harness/check/precision.hpp"
#include "harness/files/convention.hpp"
#include <map>

namespace recollect {

using StatedTypes = std::map<std::string, Precision>; // by the layer's names: q, alpha, state (initial and final), o

class ArrayTypes {
public:
  ArrayTypes() = default;
  /// The convention's types (wide_arrays()), overridden by `stated`.
  explicit ArrayTypes(const Convention &convention, StatedTypes stated = {});

  /// Adds types found in files, where none are stated. `in_files` has the types of all arrays of a file in which some
  /// have 16 bits. A file whose arrays are all float32 says nothing, because float32 holds the numbers of every
  /// narrower type.
  void add_those_in_files(const StatedTypes &in_files);

  /// The type in which a kernel that computes in `computed` stores the array. Default for dalpha: the type of alpha.
  Precision stored(const std::string &array, Precision computed) const;
  /// The type to which a correct kernel rounds this input.
  Precision used(const std::string &array, Precision computed) const;
  /// The type to which a correct kernel rounds this result.
  Precision written(const std::string &result, Precision computed) const;

private:
  const Precision *stated(const std::string &array) const;
  bool wide(const std::string &array) const;
  StatedTypes stated_;
  std::vector<std::string> wide_; // stay float32 if the computation is in 16 bits
};

/// "state=f32,g=f32": names of the convention or the layer. Usage error for an unknown name or type.
StatedTypes parse_types(const std::string &text, const Convention &convention);

} // namespace recollect
