// SPDX-License-Identifier: Apache-2.0
// Runs work in a child process that may crash on a damaged file or when a library runs out of memory.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace recollect {

/// Runs `work` in a forked child that can read files and change nothing (confine.hpp), and returns the result of
/// `work`. An Error that the child throws is thrown again here. If the child crashes, or takes more than `seconds` of
/// processor time (0: no limit), an input error is thrown that begins with `what` ("reading x.h5").
std::string in_child(const std::string &what, const std::function<std::string()> &work, unsigned seconds = 0);
/// Like in_child() above, but for results so large that no process can hold two copies. In the child `work` sends the
/// result in pieces. In this process `take` receives the bytes, in pieces of any size, while the child runs. If `work`
/// throws an Error before its first piece, `take` is not called; an Error after the first piece counts as a crash.
using Send = std::function<void(std::string_view bytes)>;
using Receive = std::function<void(void *bytes, std::size_t size)>;
void in_child(const std::string &what, const std::function<void(const Send &)> &work,
              const std::function<void(const Receive &)> &take, unsigned seconds = 0);

/// Like in_child(), for an untrusted file. Beyond the memory of this process, the child may use as much memory as
/// --memory allows, or less if the file is small. It may use as much processor time as the slowest machine needs to
/// read a file of this size.
std::string reading_in_child(const std::string &path, const std::function<std::string()> &work);
void reading_in_child(const std::string &path, const std::function<void(const Send &)> &work,
                      const std::function<void(const Receive &)> &take);

} // namespace recollect
