// SPDX-License-Identifier: Apache-2.0
// All variants, tasks and claims of the program. CMake generates the lists from the files in variants/, tasks/ and
// theory/, and links each list with the folder that it lists.
#pragma once
#include "harness/core/claim.hpp"
#include "harness/core/task.hpp"
#include "harness/core/variant.hpp"
#include <string_view>

namespace recollect {

const std::vector<Variant> &all_variants();
const std::vector<Task> &all_tasks();
const std::vector<Claim> &all_claims();

/// The entry with this name or alias (lookup.hpp). If there is none, a usage error suggests the nearest name.
const Variant &find_variant(std::string_view name);
const Task &find_task(std::string_view name);
const Claim &find_claim(std::string_view id);

/// Entries whose names match the names or globs ("all" matches everything), in registry order, each once. Usage error
/// for a pattern that matches nothing.
std::vector<const Variant *> select_variants(const std::vector<std::string> &patterns);
std::vector<const Task *> select_tasks(const std::vector<std::string> &patterns);
std::vector<const Claim *> select_claims(const std::vector<std::string> &patterns);

/// The form with this name. "fast" is the first exact form other than the recurrent one, or the recurrent one if there
/// is no other. Approximate forms run only if they are named. Usage error if there is no such form.
const Form &find_form(const Variant &variant, std::string_view form);
/// The same for a forward pass of this shape: "fast" is the definition if the definition is faster (Form::work).
const Form &find_form(const Variant &variant, std::string_view form, const Shape &shape, const Params &params);

} // namespace recollect
