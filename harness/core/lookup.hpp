// SPDX-License-Identifier: Apache-2.0
// Finding entries of one kind by name or glob.
#pragma once
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/text.hpp"
#include <algorithm>

namespace recollect::lookup {

/// Every name that an entry goes by.
inline std::vector<std::string> names(const Variant &v) {
  std::vector<std::string> all{v.name};
  all.insert(all.end(), v.aliases.begin(), v.aliases.end());
  return all;
}
inline std::vector<std::string> names(const Task &t) { return {t.name}; }
inline std::vector<std::string> names(const Claim &c) { return {c.id}; }

template <class Entry> std::vector<std::string> all_names(const std::vector<Entry> &entries) {
  std::vector<std::string> all;
  for (const Entry &entry : entries)
    for (std::string &name : names(entry)) all.push_back(std::move(name));
  return all;
}

template <class Entry, class Match> bool any_name(const Entry &entry, const Match &match) {
  const std::vector<std::string> all = names(entry);
  return std::any_of(all.begin(), all.end(), [&](const std::string &name) { return match(canonical(name)); });
}

template <class Entry>
std::vector<const Entry *> select(const std::vector<Entry> &entries, const std::vector<std::string> &patterns,
                                  const char *kind) {
  std::vector<bool> chosen(entries.size());
  for (const std::string &pattern : patterns) {
    const std::string wanted = pattern == "all" ? "*" : canonical(pattern);
    bool matched = false;
    for (size_t i = 0; i < entries.size(); ++i)
      if (any_name(entries[i], [&](const std::string &name) { return glob_match(wanted, name); }))
        chosen[i] = matched = true;
    if (!matched)
      usage_error("no " + std::string(kind) + " matches '" + pattern + "'" + suggestion(pattern, all_names(entries)));
  }
  std::vector<const Entry *> selected;
  for (size_t i = 0; i < entries.size(); ++i)
    if (chosen[i]) selected.push_back(&entries[i]);
  return selected;
}

template <class Entry> const Entry &find(const std::vector<Entry> &entries, std::string_view wanted, const char *kind) {
  const std::string given(wanted), same = canonical(given);
  for (const Entry &entry : entries)
    if (any_name(entry, [&](const std::string &name) { return name == same; })) return entry;
  usage_error("unknown " + std::string(kind) + " '" + given + "'" + suggestion(given, all_names(entries)));
}

} // namespace recollect::lookup
