// SPDX-License-Identifier: Apache-2.0
// Ends the program if memory is refused to libraries and static variables before main(), where no exception is caught.
// OpenBLAS asks for 128 MiB per thread, and if it cannot have them (`ulimit -v`), asks again for ever.
#pragma once

namespace recollect {

/// For .preinit_array, before any library starts: until started(), an allocation of C++ that fails, exit(), SIGABRT,
/// SIGSEGV, or four seconds of processor time end the program with exit 3 and one line.
void limit_start();
/// First in main().
void started();

} // namespace recollect
