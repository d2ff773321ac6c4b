// SPDX-License-Identifier: Apache-2.0
// The length of a task's sequence, where it is a product of parameters.
#pragma once
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include <limits>
#include <string>

namespace recollect::tasks {

/// `count` as a sequence length T; usage error if it exceeds the largest T.
inline int steps_of(double count, const std::string &task) {
  if (count > std::numeric_limits<int>::max()) usage_error(task + ": " + number(count) + " steps are too many");
  return int(count);
}

} // namespace recollect::tasks
