// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace recollect {

/// The number of processors that this process may use, at least 1: the calling thread's processors and, if OpenMP binds
/// threads (OMP_PROC_BIND), the processors of all OpenMP places. The number is determined once per process, because
/// this may read a file.
std::size_t processors();

/// Lets the calling thread run on all processors that processors() counts. This is needed because a new thread inherits
/// the processors of the thread that started it, and OpenMP binds the first thread of the process to one core.
void run_on_any_processor();

} // namespace recollect
