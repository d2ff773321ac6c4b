// SPDX-License-Identifier: Apache-2.0
#include "harness/core/registry.hpp"
#include "harness/core/error.hpp"
#include "harness/core/lookup.hpp"
#include "harness/core/text.hpp"
#include <algorithm>

namespace recollect {

const char *name_of(Repeats repeats) {
  const char *const names[] = {"other", "sum", "mean", "ridged_mean", "last"};
  return names[static_cast<size_t>(repeats)];
}

const char *name_of(Metric::Better better) {
  const char *const names[] = {"neither", "larger", "smaller"};
  return names[static_cast<size_t>(better)];
}

const Form &find_form(const Variant &variant, std::string_view form) {
  if (form == "fast") {
    const auto exact =
        std::find_if(variant.forms.begin() + 1, variant.forms.end(), [](const Form &f) { return f.exact; });
    return exact == variant.forms.end() ? variant.forms[0] : *exact;
  }
  for (const Form &f : variant.forms)
    if (lookup::same(f.name, std::string(form))) return f;
  std::vector<std::string> known;
  for (const Form &f : variant.forms) known.push_back(f.name);
  usage_error(variant.name + " has no form '" + std::string(form) + "'; it has " + join(known, ", "));
}

const Form &find_form(const Variant &variant, std::string_view form, const Shape &shape, const Params &params) {
  const Form &found = find_form(variant, form), &definition = variant.forms[0];
  return form == "fast" && found.work.at(shape, params) > variant.cost.flops.at(shape, params) ? definition : found;
}

} // namespace recollect
