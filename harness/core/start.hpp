// SPDX-License-Identifier: Apache-2.0
// A program whose libraries do not start ends all the same. OpenBLAS asks for 128 MiB a thread before main() and, where it
// cannot have them (`ulimit -v`), asks again for ever.
#pragma once

namespace recollect {

/// For .preinit_array, before any library starts: exit 3 with one line after ten seconds of processor time.
void limit_start();
/// First in main().
void started();

} // namespace recollect
