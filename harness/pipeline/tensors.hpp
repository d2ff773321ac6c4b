// SPDX-License-Identifier: Apache-2.0
// The users' own tensors in HDF5 files.
#pragma once
#include "harness/core/variant.hpp"
#include "harness/pipeline/hdf5_file.hpp"

namespace recollect {

/// q, k [B,H,T,Dk], v [B,H,T,Dv] and, where present, the variant's own `inputs` (beta, alpha [B,H,T], lambda, w
/// [B,H,T,Dk]) and state [B,H,rows,columns]. Datasets that the variant does not use are not looked at.
Sequence read_sequence(const std::string &path, const std::vector<Input> &inputs);

/// o [B,H,T,Dv] and, where the variant has one, state; in `real`.
void write_output(const std::string &path, const Sequence &sequence, const Output &output, Real real,
                  const Facts &meta);

} // namespace recollect
