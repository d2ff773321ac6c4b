// SPDX-License-Identifier: Apache-2.0
// Work that may crash on a damaged file, or when memory runs out inside a library, is done in a child process.
#pragma once
#include <functional>
#include <string>

namespace recollect {

/// What `work` returns, computed in a forked child. Its Error is thrown again here; an input error that begins with
/// `what` where the child crashed ("reading x.h5").
std::string in_child(const std::string &what, const std::function<std::string()> &work);

} // namespace recollect
