// SPDX-License-Identifier: Apache-2.0
#include "registry.hpp"
#include "error.hpp"
#include "text.hpp"
#include <algorithm>

namespace recollect {
namespace {

const std::string &name_of(const Variant &v) { return v.name; }
const std::string &name_of(const Task &t) { return t.name; }
const std::string &name_of(const Claim &c) { return c.id; }

template <class Entry> std::vector<std::string> names(const std::vector<Entry> &entries) {
  std::vector<std::string> all;
  for (const Entry &entry : entries) all.push_back(name_of(entry));
  return all;
}

template <class Entry>
std::vector<const Entry *> select(const std::vector<Entry> &entries, const std::vector<std::string> &patterns,
                                  const char *kind) {
  std::vector<bool> chosen(entries.size());
  for (const std::string &pattern : patterns) {
    const std::string wanted = pattern == "all" ? "*" : canonical(pattern);
    bool matched = false;
    for (size_t i = 0; i < entries.size(); ++i)
      if (glob_match(wanted, canonical(name_of(entries[i])))) chosen[i] = matched = true;
    if (!matched)
      usage_error("no " + std::string(kind) + " matches '" + pattern + "'" + suggestion(pattern, names(entries)));
  }
  std::vector<const Entry *> selected;
  for (size_t i = 0; i < entries.size(); ++i)
    if (chosen[i]) selected.push_back(&entries[i]);
  return selected;
}

template <class Entry> const Entry &find(const std::vector<Entry> &entries, const std::string &name, const char *kind) {
  for (const Entry &entry : entries)
    if (canonical(name_of(entry)) == canonical(name)) return entry;
  usage_error("unknown " + std::string(kind) + " '" + name + "'" + suggestion(name, names(entries)));
}

} // namespace

const Variant &find_variant(std::string_view name) { return find(all_variants(), std::string(name), "variant"); }
const Task &find_task(std::string_view name) { return find(all_tasks(), std::string(name), "task"); }
std::vector<const Variant *> select_variants(const std::vector<std::string> &p) {
  return select(all_variants(), p, "variant");
}
std::vector<const Task *> select_tasks(const std::vector<std::string> &p) { return select(all_tasks(), p, "task"); }
std::vector<const Claim *> select_claims(const std::vector<std::string> &p) { return select(all_claims(), p, "claim"); }

const Form &find_form(const Variant &variant, std::string_view form) {
  if (form == "fast") return variant.forms.size() > 1 ? variant.forms[1] : variant.forms[0];
  if (const Form *found = variant.find_form(form)) return *found;
  std::vector<std::string> known;
  for (const Form &f : variant.forms) known.push_back(f.name);
  usage_error(variant.name + " has no form '" + std::string(form) + "'; it has " + join(known, ", "));
}

} // namespace recollect
