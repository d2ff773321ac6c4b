// SPDX-License-Identifier: Apache-2.0
// Finds layers, tasks or claims by name, alias (Variant::aliases) or glob. Case, '-', '_' and spaces are ignored:
// "DeltaNet" is delta_net.
#pragma once
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/text.hpp"
#include <algorithm>
#include <cctype>

namespace recollect::lookup {

/// The name in lower case, with every '-' and space replaced by '_'.
inline std::string lowered(std::string name) {
  for (char &c : name) c = c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return canonical(std::move(name));
}
/// The form in which names are compared: lower case without separators. "Delta-Net" and "delta_net" become "deltanet".
inline std::string folded(const std::string &name) {
  std::string all = lowered(name);
  all.erase(std::remove(all.begin(), all.end(), '_'), all.end());
  return all;
}

inline bool same(const std::string &one, const std::string &other) { return folded(one) == folded(other); }

/// Every name of an entry.
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

/// Some common names, such as "MQA", mean a layer with a particular setting. For these: a text for an error message
/// that names the layer and the setting. For all other names: "".
inline std::string as_a_setting(const std::string &name) {
  const std::string same = folded(name);
  if (same == "mqa" || same == "multiqueryattention") return ": it is softmax with --kv-heads 1";
  if (same == "gqa" || same == "groupedqueryattention") return ": it is softmax with --kv-heads N";
  return "";
}

template <class Entry, class Match> bool any_name(const Entry &entry, const Match &match) {
  const std::vector<std::string> all = names(entry);
  return std::any_of(all.begin(), all.end(), match);
}
/// The entry with this name, or null.
template <class Entry> const Entry *named(const std::vector<Entry> &entries, std::string_view wanted) {
  const std::string same = folded(std::string(wanted));
  const auto matches = [&](const std::string &name) { return folded(name) == same; };
  for (const Entry &entry : entries)
    if (any_name(entry, matches)) return &entry;
  return nullptr;
}
/// The advice that an error message gives after an unknown name.
template <class Entry> std::string advice(const std::vector<Entry> &entries, const std::string &name) {
  const std::string setting = std::is_same_v<Entry, Variant> ? as_a_setting(name) : "";
  return setting.empty() ? suggestion(name, all_names(entries)) : setting;
}

template <class Entry>
std::vector<const Entry *> select(const std::vector<Entry> &entries, const std::vector<std::string> &patterns,
                                  const char *kind) {
  std::vector<bool> chosen(entries.size());
  for (const std::string &pattern : patterns) {
    bool matched = false;
    const auto choose = [&](const auto &matches) {
      for (size_t i = 0; i < entries.size(); ++i)
        if (any_name(entries[i], matches)) chosen[i] = matched = true;
    };
    // Globs respect separators, so that "delta_*" does not match delta_former's alias "deltaformer". If a glob matches
    // nothing, it is tried again without separators.
    choose([&](const std::string &name) { return pattern == "all" || glob_match(lowered(pattern), lowered(name)); });
    if (!matched) choose([&](const std::string &name) { return glob_match(folded(pattern), folded(name)); });
    if (!matched) usage_error("no " + std::string(kind) + " matches '" + pattern + "'" + advice(entries, pattern));
  }
  std::vector<const Entry *> selected;
  for (size_t i = 0; i < entries.size(); ++i)
    if (chosen[i]) selected.push_back(&entries[i]);
  return selected;
}

template <class Entry> const Entry &find(const std::vector<Entry> &entries, std::string_view wanted, const char *kind) {
  if (const Entry *found = named(entries, wanted)) return *found;
  const std::string given(wanted);
  usage_error("unknown " + std::string(kind) + " '" + given + "'" + advice(entries, given));
}

} // namespace recollect::lookup
