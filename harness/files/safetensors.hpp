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

/// A file's bytes with a checked header: tensors' byte ranges follow each other without gaps up to the end of the file,
/// and each fits its type and shape. Otherwise an input error that begins with `where`.
class Safetensors {
public:
  Safetensors(std::string bytes, std::string where);
  std::vector<std::string> names() const;
  bool has(const std::string &name) const { return entries_.count(name) != 0; }
  const Facts &meta() const { return meta_; }
  /// F16, BF16, F32, F64, I32 and I64. U16 is read as bfloat16 bits, because some writers store them so. Input error
  /// for other types, for integers that a double cannot represent, and for more than --memory.
  NumericArray array(const std::string &name) const;

private:
  struct Entry {
    std::string type;
    std::vector<std::uint64_t> dims;
    std::uint64_t begin, end; // bytes of the file
  };
  void add(const std::string &name, Entry entry);
  void check_ranges() const;
  std::string bytes_, where_;
  std::map<std::string, Entry> entries_;
  Facts meta_;
};

/// A file of these arrays as F64, F32, BF16 or F16, with `meta` in its header.
std::string safetensors_bytes(const std::map<std::string, NumericArray> &arrays, Real real, const Facts &meta);

} // namespace recollect
