// SPDX-License-Identifier: Apache-2.0
// Named arrays in users' files. The ending of a file's name selects .npz, .npy or .safetensors; all other files are
// HDF5.
#pragma once
#include "harness/files/hdf5_file.hpp"
#include <map>

namespace recollect {

using Arrays = std::map<std::string, NumericArray>;

struct Wanted {
  std::string name;
  size_t rank;        // number of dimensions; 0: any number
  std::string needs;  // the wanted shape, for error messages: "[B,H,T,Dk]"
  bool whole = false; // whole numbers, which may be stored as integers
};

/// Reads the `wanted` arrays as far as they are in the file, and ignores the file's other arrays. The array of a .npy
/// file has no name and is taken as the first wanted one. Input error if an array has the wrong rank or type or is too
/// large, or if the file is damaged. If a library reads the format, it runs in a child process.
Arrays read_arrays(const std::string &path, const std::vector<Wanted> &wanted);

/// The names of the arrays in the file; empty for a .npy file, which names none.
std::vector<std::string> array_names(const std::string &path);

/// Metadata of a file: /meta of HDF5, __metadata__ of .safetensors; empty for other formats.
Facts read_meta(const std::string &path);

/// Like read_arrays() for an .npz archive, but without a child process.
Arrays read_npz(const std::string &path, const std::vector<Wanted> &wanted);

/// Writes the whole file or nothing. `meta` is written to HDF5 and .safetensors files. 16-bit arrays keep their type in
/// .safetensors files and become float32 in others.
void write_arrays(const std::string &path, const Arrays &arrays, Real real, const Facts &meta);

} // namespace recollect
