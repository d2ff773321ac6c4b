// SPDX-License-Identifier: Apache-2.0
// Work that may crash on a damaged file, or when memory runs out inside a library, is done in a child process.
#pragma once
#include <functional>
#include <string>

namespace recollect {

/// What `work` returns, computed in a forked child. Its Error is thrown again here; an input error that begins with
/// `what` ("reading x.h5") where the child crashed, or took more than `seconds` of processor time (0: as many as it
/// needs).
std::string in_child(const std::string &what, const std::function<std::string()> &work, unsigned seconds = 0);

/// The same for a file that may be hostile: the child may take --memory on top of what this process has, and as long as
/// the slowest disk and decompression need for a file of that size.
std::string reading_in_child(const std::string &path, const std::function<std::string()> &work);

} // namespace recollect
