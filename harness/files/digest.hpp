// SPDX-License-Identifier: Apache-2.0
// A number that changes if the contents of a results file change. HDF5's checksums cover the rows of our tables, but
// neither the texts that the rows point to nor the attributes.
#pragma once
#include "harness/files/hdf5_file.hpp"
#include "harness/files/table.hpp"

namespace recollect {

/// The digest of facts does not depend on their order. The digest of a file is the sum, modulo 2^64, of the digests of
/// its facts and tables.
std::uint64_t digest(const Facts &facts);
std::uint64_t digest(const Table &table);

} // namespace recollect
