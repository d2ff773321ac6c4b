// SPDX-License-Identifier: Apache-2.0
// HDF5 files. The HDF5 library creates files in memory only, and reads files from disk. A failed write can therefore
// leave neither a half-written file nor an open file that the library cannot close.
//
// Every failure is an input error (exit 3) with a message of one line that names file and dataset.
#pragma once
#include "harness/core/types.hpp"
#include "harness/files/table.hpp"
#include <memory>

namespace recollect {

using Facts = std::vector<std::pair<std::string, std::string>>;
/// The fact with this name; "" if there is none.
inline std::string fact(const Facts &facts, const std::string &name) {
  for (const auto &[key, value] : facts)
    if (key == name) return value;
  return "";
}

/// A file under construction, in memory.
class Hdf5Image {
public:
  Hdf5Image();
  ~Hdf5Image();
  void attributes(const std::string &schema, int schema_version,
                  const Facts &meta); // attributes of the root and of the group /meta
  /// Adds a compound dataset with one field per column, deflated and with checksums (Fletcher-32). Texts are strings of
  /// variable length.
  void table(const Table &table);
  /// Adds a dataset of row-major floating-point data, stored as `real`; 16-bit types are stored as float32.
  void array(const std::string &name, const std::vector<double> &data, const std::vector<std::uint64_t> &dims,
             Real real);
  /// The bytes of the file, with the digest of its attributes and tables (digest.hpp) as an attribute.
  std::string bytes() const;

private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

struct NumericArray {
  std::vector<std::uint64_t> dims;
  std::vector<double> data;
  std::string type = ""; // f64, f32, f16 or bf16; "": integers that were read, or an array to write in the file's type
};

/// A file on disk, opened for reading.
class Hdf5File {
public:
  explicit Hdf5File(const std::string &path);
  ~Hdf5File();
  const std::string &path() const { return path_; }
  bool has(const std::string &name) const;
  std::string schema() const;          // "" if absent
  int schema_version() const;          // 0 if absent
  std::uint64_t stored_digest() const; // 0 if absent
  Facts meta() const;
  /// The names of all compound datasets.
  std::vector<std::string> tables() const;
  Table table(const std::string &name) const;
  /// The names of the datasets outside of groups.
  std::vector<std::string> datasets() const;
  /// A floating-point dataset of `rank` dimensions (0: any number). If `whole`, integers are accepted too. `needs` is
  /// the wanted shape, for error messages: "[B,H,T,Dk]".
  NumericArray array(const std::string &name, size_t rank, const std::string &needs, bool whole = false) const;

private:
  struct Contents;
  std::string path_;
  std::unique_ptr<Contents> contents_;
};

} // namespace recollect
