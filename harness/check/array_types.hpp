// SPDX-License-Identifier: Apache-2.0
// The type of each of a user's arrays, and the type to which a correct kernel rounds it.
//
// Kernels round the operands of products to the type of the computation, whatever type their arrays are stored in.
// Gates and write strengths are factors of float32 sums in every kernel, so they keep the precision of their arrays. A
// state is rounded to its type when it is passed on; a result is rounded when it is written.
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

  /// Adds the types that arrays have in files, for arrays without a stated type. `in_files` is empty if no array of the
  /// file has 16 bits: a file whose arrays are all float32 does not show the types, because float32 can hold the
  /// numbers of every narrower type.
  void add_those_in_files(const StatedTypes &in_files);

  /// The type in which a kernel that computes in `computed` stores the array. A gradient without a stated type has the
  /// type of its array: dalpha has the type of alpha.
  Precision stored(const std::string &array, Precision computed) const;
  /// The type to which a correct kernel rounds this input.
  Precision used(const std::string &array, Precision computed) const;
  /// The type to which a correct kernel rounds this result.
  Precision written(const std::string &result, Precision computed) const;

private:
  const Precision *stated(const std::string &array) const;
  bool wide(const std::string &array) const;
  StatedTypes stated_;
  std::vector<std::string> wide_; // arrays that stay float32 if the computation is in 16 bits
};

/// Parses a text such as "state=f32,g=f32". Names are those of the convention or of the layer. Usage error for an
/// unknown name or type.
StatedTypes parse_types(const std::string &text, const Convention &convention);

} // namespace recollect
