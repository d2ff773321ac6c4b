// SPDX-License-Identifier: Apache-2.0
// Finding entries of one kind by name or glob.
#pragma once
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/text.hpp"

namespace recollect::lookup {

inline const std::string &name(const Variant &v) { return v.name; }
inline const std::string &name(const Task &t) { return t.name; }
inline const std::string &name(const Claim &c) { return c.id; }

template <class Entry> std::vector<std::string> names(const std::vector<Entry> &entries) {
  std::vector<std::string> all;
  for (const Entry &entry : entries) all.push_back(name(entry));
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
      if (glob_match(wanted, canonical(name(entries[i])))) chosen[i] = matched = true;
    if (!matched)
      usage_error("no " + std::string(kind) + " matches '" + pattern + "'" + suggestion(pattern, names(entries)));
  }
  std::vector<const Entry *> selected;
  for (size_t i = 0; i < entries.size(); ++i)
    if (chosen[i]) selected.push_back(&entries[i]);
  return selected;
}

template <class Entry> const Entry &find(const std::vector<Entry> &entries, std::string_view wanted, const char *kind) {
  for (const Entry &entry : entries)
    if (canonical(name(entry)) == canonical(std::string(wanted))) return entry;
  usage_error("unknown " + std::string(kind) + " '" + std::string(wanted) + "'" +
              suggestion(std::string(wanted), names(entries)));
}

} // namespace recollect::lookup
