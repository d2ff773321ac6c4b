// SPDX-License-Identifier: Apache-2.0
// The safetensors format: eight bytes with the length of a JSON header (little-endian), the header, and the numbers.
// The header maps each name to its type, shape and range of bytes; "__metadata__" maps texts to texts.
// Source: github.com/huggingface/safetensors, README.md, "Format".
#pragma once
#include "harness/core/types.hpp"
#include "harness/files/hdf5_file.hpp"
#include <map>
#include <string>
#include <vector>

namespace recollect {

/// The bytes of a file. The constructor checks the header: the byte ranges of the tensors must follow each other
/// without gaps up to the end of the file, and each range must fit the type and shape of its tensor. If not, an input
/// error that begins with `where`.
class Safetensors {
public:
  Safetensors(std::string bytes, std::string where);
  std::vector<std::string> names() const;
  bool has(const std::string &name) const { return entries_.count(name) != 0; }
  const Facts &meta() const { return meta_; }
  /// The array with this name, of type F16, BF16, F32, F64, I32 or I64. U16 is read as the bits of bfloat16, because
  /// some writers store bfloat16 so. Input error for other types, for integers beyond 2^53, which a double cannot
  /// represent exactly, and for arrays larger than --memory.
  NumericArray array(const std::string &name) const;

private:
  struct Entry {
    std::string type;
    std::vector<std::uint64_t> dims;
    std::uint64_t begin, end; // range of bytes in the file
  };
  void add(const std::string &name, Entry entry);
  void check_ranges() const;
  std::string bytes_, where_;
  std::map<std::string, Entry> entries_;
  Facts meta_;
};

/// The bytes of a file with these arrays, with `meta` in the header. An array without a type of its own is written as
/// `real`.
std::string safetensors_bytes(const std::map<std::string, NumericArray> &arrays, Real real, const Facts &meta);

} // namespace recollect
