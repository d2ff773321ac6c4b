// SPDX-License-Identifier: Apache-2.0
// Ends the program if memory is refused to libraries and static variables before main(), where no exception is caught.
// OpenBLAS allocates 128 MiB per thread; if that is refused (`ulimit -v`), it tries again for ever.
#pragma once

namespace recollect {

/// Called from .preinit_array, before any library starts. Until started() is called, each of these ends the program
/// with exit status 3 and a message of one line: a failed C++ allocation, exit(), SIGABRT, SIGSEGV, four seconds of
/// processor time.
void limit_start();
/// Must be called first in main().
void started();

} // namespace recollect
