// SPDX-License-Identifier: Apache-2.0
// Takes from this process all rights that reading a file does not need, before it reads an untrusted file.
#pragma once
#include <cstdint>

namespace recollect {

/// From now on this process can open files for reading, allocate, and write to files that are already open. Changing or
/// creating a file, starting a process or a program, using the network and signalling other processes fail with EPERM,
/// whatever code tries it. This cannot be undone. Returns false if the kernel has no system call filters (seccomp).
bool confine_to_reading();

/// Sets a limit of this process (RLIMIT_AS and others) to `most`, or to the hard limit if the hard limit is lower.
void limit_resource(int resource, std::uint64_t most);

} // namespace recollect
