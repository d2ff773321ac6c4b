// SPDX-License-Identifier: Apache-2.0
// NumPy's array format, .npy (format 1 to 3).
#pragma once
#include "harness/core/types.hpp"
#include "harness/files/hdf5_file.hpp"
#include <string_view>

namespace recollect {

/// Reads C-ordered floats of 2, 4 or 8 bytes in either byte order. Two bytes of unknown kind ("V2", as ml_dtypes saves
/// them) are bfloat16. `whole` also accepts signed integers of 4 or 8 bytes. Input error that begins with `where` for
/// anything else. The size of the data is compared with --memory.
NumericArray parse_npy(std::string_view bytes, const std::string &where, bool whole = false);

/// As float64 for f64, else as float32: NumPy has no bfloat16.
std::string npy_bytes(const NumericArray &array, Real real);

} // namespace recollect
