// SPDX-License-Identifier: Apache-2.0
// Runs work in a child process that may crash on a damaged file or when a library runs out of memory.
#pragma once
#include <functional>
#include <string>

namespace recollect {

/// Runs `work` in a forked child that can read files and change nothing (confine.hpp), and returns its result. An Error
/// of the child is thrown again here. If the child crashes, or takes more than `seconds` of processor time (0: no
/// limit), this is an input error that begins with `what` ("reading x.h5").
std::string in_child(const std::string &what, const std::function<std::string()> &work, unsigned seconds = 0);

/// The same for an untrusted file. The child may use --memory in addition to this process's memory, and the time that
/// the slowest disk and decompression need for a file of that size.
std::string reading_in_child(const std::string &path, const std::function<std::string()> &work);

} // namespace recollect
