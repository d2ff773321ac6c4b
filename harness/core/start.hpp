// SPDX-License-Identifier: Apache-2.0
// Ends a program whose libraries do not start. OpenBLAS asks for 128 MiB per thread before main(), and if it cannot
// have them (`ulimit -v`), asks again for ever.
#pragma once

namespace recollect {

/// For .preinit_array, before any library starts: exit 3 with one line after ten seconds of processor time.
void limit_start();
/// First in main().
void started();

} // namespace recollect
