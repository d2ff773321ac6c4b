// SPDX-License-Identifier: Apache-2.0
// What a user's arrays are stored in, array by array, beside the type that the kernel computes in.
//
// Operands of products are rounded to the type of the computation, whatever they are stored in. Gates and write strengths
// are factors of float32 sums in every kernel, and keep the precision of their own arrays. A state is rounded to its own
// type where it is handed on, and a result where it is written.
#pragma once
#include "harness/check/precision.hpp"
#include "harness/files/convention.hpp"
#include <map>

namespace recollect {

using StatedTypes = std::map<std::string, Precision>; // by the layer's name: q, alpha, state (initial and final), o

class ArrayTypes {
public:
  ArrayTypes() = default;
  /// Those of the convention (wide_arrays()), but for the stated ones.
  explicit ArrayTypes(const Convention &convention, StatedTypes stated = {});

  /// Types of files count where no others are stated: `in_files` are those of every array of a file that has some of 16
  /// bits. A file of float32 alone says nothing: it holds the numbers of every narrower type.
  void add_those_in_files(const StatedTypes &in_files);

  /// The type in which a kernel that computes in `computed` stores the array. Default of dalpha: the type of alpha.
  Precision stored(const std::string &array, Precision computed) const;
  /// The type to which a right kernel rounds this input.
  Precision used(const std::string &array, Precision computed) const;
  /// The type to which it rounds this result on output.
  Precision written(const std::string &result, Precision computed) const;

private:
  const Precision *stated(const std::string &array) const;
  bool wide(const std::string &array) const;
  StatedTypes stated_;
  std::vector<std::string> wide_; // float32, where the computation is in 16 bits
};

/// "state=f32,g=f32": names of the convention or the layer. Usage error for an unknown name or type.
StatedTypes parse_types(const std::string &text, const Convention &convention);

} // namespace recollect
