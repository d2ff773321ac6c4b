// SPDX-License-Identifier: Apache-2.0
// Ends the program if memory is refused to libraries and static variables before main(), where no exception is caught.
// OpenBLAS allocates 128 MiB per thread; if that is refused (`ulimit -v`), it tries again for ever.
#pragma once

namespace recollect {

/// For .preinit_array, before any library starts: until started(), an allocation of C++ that fails, exit(), SIGABRT,
/// SIGSEGV, or four seconds of processor time end the program with exit 3 and one line.
void limit_start();
/// Call first in main().
void started();

} // namespace recollect
