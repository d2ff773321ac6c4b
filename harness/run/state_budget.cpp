// SPDX-License-Identifier: Apache-2.0
#include "harness/run/state_budget.hpp"
#include "harness/core/error.hpp"
#include "harness/run/run.hpp"
#include <algorithm>
#include <cmath>

namespace recollect {

Params widths_within(double bytes, const Variant &variant, const Params &variant_params, const Task &task,
                     const Params &task_params, const Assignments &given, Real real) {
  double low = 1, high = 65536;
  std::vector<std::string> open;
  for (const ParamSpec &spec : task.params)
    if ((spec.name == "d" || spec.name == "dv") && !given.count(spec.name))
      open.push_back(spec.name), low = std::max(low, spec.low), high = std::min(high, spec.high);
  if (open.empty())
    usage_error("--state-bytes chooses the widths of " + task.name + ", but all of its widths are set already");
  const auto at = [&](int width) {
    Params p = task_params;
    for (const std::string &name : open) p.set(name, width);
    return p;
  };
  const auto fits = [&](int width) {
    const Shape shape = task.shape(at(width));
    return (!variant.unsuitable || variant.unsuitable(shape, variant_params).empty()) &&
           state_bytes(variant, shape, variant_params, real) <= bytes;
  };
  // The state at a width has at least this many numbers, so the search starts at bytes / size of a number. It tries
  // every smaller width too, because a layer may not allow all widths.
  const double size = real == Real::f64 ? 8 : 4;
  for (int width = int(std::min(high, std::floor(bytes / size))); width >= int(low); --width)
    if (fits(width)) return at(width);
  return at(int(low));
}

} // namespace recollect
