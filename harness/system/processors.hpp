// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace recollect {

/// How many processors this process may use, at least 1: those of the calling thread, and all of OpenMP's places where
/// OpenMP binds threads (OMP_PROC_BIND). Determined once per process, because the C library reads a file for it.
std::size_t processors();

/// Lets the calling thread run on all processors(). A new thread inherits the processors of the thread that started it,
/// and OpenMP binds the first thread of the process to one core.
void run_on_any_processor();

} // namespace recollect
