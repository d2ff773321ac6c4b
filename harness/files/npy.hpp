// SPDX-License-Identifier: Apache-2.0
// NumPy's array format, .npy (format 1 to 3).
#pragma once
#include "harness/core/types.hpp"
#include "harness/files/hdf5_file.hpp"
#include <string_view>

namespace recollect {

/// Reads C-ordered floats of 2, 4 or 8 bytes in either byte order. Elements of the type "V2", as ml_dtypes saves
/// bfloat16, are read as bfloat16. If `whole`, signed integers of 4 or 8 bytes are accepted too. For anything else, and
/// for data larger than --memory, an input error that begins with `where`.
NumericArray parse_npy(std::string_view bytes, const std::string &where, bool whole = false);

/// The bytes of a .npy file. The numbers are float64 if `real` is f64, otherwise float32, because NumPy has no
/// bfloat16.
std::string npy_bytes(const NumericArray &array, Real real);

} // namespace recollect
