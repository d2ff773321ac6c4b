// SPDX-License-Identifier: Apache-2.0
// Before a process reads an untrusted file, drops all its rights that reading a file does not need.
#pragma once
#include <cstdint>

namespace recollect {

/// From now on this process can open files for reading, allocate, and write to files that are already open. Changing or
/// creating a file, starting a process or a program, using the network and signalling others fail with EPERM, even from
/// code in a damaged library. This cannot be undone. Returns false, without any change, if the kernel has no system
/// call filters (seccomp).
bool confine_to_reading();

/// Sets a limit of this process (RLIMIT_AS and others) to `most`, or to the hard limit if that is lower.
void limit_resource(int resource, std::uint64_t most);

} // namespace recollect
