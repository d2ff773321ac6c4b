// SPDX-License-Identifier: Apache-2.0
// Named arrays in files of users: HDF5, or by the ending of the name NumPy's .npz and .npy and .safetensors.
#pragma once
#include "harness/files/hdf5_file.hpp"
#include <map>

namespace recollect {

using Arrays = std::map<std::string, NumericArray>;

struct Wanted {
  std::string name;
  size_t rank;        // 0: any
  std::string needs;  // completes a refusal: "[B,H,T,Dk]"
  bool whole = false; // whole numbers, which may be stored as integers
};

/// Those of `wanted` that are in the file; others are not looked at. A .npy file holds the first of them. Input error
/// where one is of another rank or type, not finite in size, or the file is damaged (what libraries read, they read in a
/// child process).
Arrays read_arrays(const std::string &path, const std::vector<Wanted> &wanted);

/// The names of the arrays in the file; of a .npy file, which has none for its array, nothing.
std::vector<std::string> array_names(const std::string &path);

/// What an HDF5 file says of itself in /meta, a .safetensors file in __metadata__; nothing of other files.
Facts read_meta(const std::string &path);

/// read_arrays for an .npz archive, in this process.
Arrays read_npz(const std::string &path, const std::vector<Wanted> &wanted);

/// Whole or not at all. `meta` goes into HDF5 and .safetensors files. Arrays of 16 bits lie in .safetensors files as
/// such, in the others as float32.
void write_arrays(const std::string &path, const Arrays &arrays, Real real, const Facts &meta);

} // namespace recollect
