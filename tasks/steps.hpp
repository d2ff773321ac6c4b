// SPDX-License-Identifier: Apache-2.0
// How long a task's sequence is, where its parameters multiply.
#pragma once
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include <limits>
#include <string>

namespace recollect::tasks {

/// `count` as a T; usage error where that is more than a T can be.
inline int steps_of(double count, const std::string &task) {
  if (count > std::numeric_limits<int>::max()) usage_error(task + ": " + number(count) + " steps are too many");
  return int(count);
}

} // namespace recollect::tasks
