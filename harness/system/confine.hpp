// SPDX-License-Identifier: Apache-2.0
// Takes from a process what reading a file does not need, before it reads one from a stranger.
#pragma once

namespace recollect {

/// From now on this process can open files to read them, allocate, and write to what it has open already. To change or make
/// a file, to start a process or a program, to reach the network and to signal others fails with EPERM, whatever code of a
/// damaged library runs. There is no way back. False where the kernel has no filters of system calls (seccomp): then nothing
/// has changed.
bool confine_to_reading();

} // namespace recollect
