// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "harness/files/hdf5_file.hpp"

namespace recollect {

/// Where a result came from: version, git commit and dirty flag, command line, UTC start, compiler, backend, BLAS,
/// HDF5, seed and the environment variables that steer threads and devices.
Facts provenance(const std::vector<std::string> &command_line, std::uint64_t seed);

} // namespace recollect
