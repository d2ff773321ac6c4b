// SPDX-License-Identifier: Apache-2.0
// The rules of RO-Crate 1.1, by section: the descriptor, the root, its parts, and a flat graph.
#include "harness/command_line/ro_crate.hpp"
#include "tests/testing.hpp"
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(ro_crate)

using nlohmann::json;

const Facts meta{{"version", "9"},
                 {"git_commit", "abc"},
                 {"command_line", "recollect run"},
                 {"start_utc", "2026-01-02T03:04:05Z"},
                 {"seed", "1"}};

std::map<std::string, json> by_id(const std::string &text) {
  std::map<std::string, json> nodes;
  const json document = json::parse(text);
  BOOST_TEST(document.at("@context") == "https://w3id.org/ro/crate/1.1/context");
  for (const json &node : document.at("@graph"))
    BOOST_TEST(nodes.emplace(node.at("@id").get<std::string>(), node).second, node.at("@id") << " stands twice");
  return nodes;
}

BOOST_AUTO_TEST_CASE(the_crate_of_one_run_as_written_by_hand) {
  const auto nodes = by_id(crate_metadata("t", "CC-BY-4.0", {{"r.h5", 12, meta}}));
  const std::map<std::string, json> expected{
      {"ro-crate-metadata.json",
       json::parse(R"({"@id": "ro-crate-metadata.json", "@type": "CreativeWork", "about": {"@id": "./"},
         "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"}})")},
      {"r.h5", json::parse(R"({"@id": "r.h5", "@type": "File", "name": "r.h5", "contentSize": "12",
         "encodingFormat": "application/x-hdf5"})")},
      {"#run-r.h5", json::parse(R"({"@id": "#run-r.h5", "@type": "CreateAction", "name": "recollect run",
         "startTime": "2026-01-02T03:04:05Z", "instrument": {"@id": "#recollect-9-abc"}, "result": {"@id": "r.h5"},
         "object": [{"@id": "#run-r.h5-version"}, {"@id": "#run-r.h5-git_commit"}, {"@id": "#run-r.h5-seed"}]})")},
      {"#run-r.h5-seed",
       json::parse(R"({"@id": "#run-r.h5-seed", "@type": "PropertyValue", "name": "seed", "value": "1"})")}};
  for (const auto &[id, node] : expected) BOOST_TEST(nodes.at(id) == node, nodes.at(id).dump(2));
  const json &root = nodes.at("./");
  BOOST_TEST(
      (root.at("@type") == "Dataset" && root.at("name") == "t" && root.at("datePublished") == "2026-01-02T03:04:05Z"));
  BOOST_TEST(root.at("license") == (json{{"@id", "https://spdx.org/licenses/CC-BY-4.0"}}));
  BOOST_TEST(root.at("hasPart") == json::parse(R"([{"@id": "r.h5"}])"));
  BOOST_TEST(!root.at("description").get<std::string>().empty());
}

/// Collects every {"@id": ...} inside a value that is not itself a node of the graph.
void references(const json &value, std::vector<std::string> &found) {
  if (value.is_object() && value.size() == 1 && value.contains("@id")) return found.push_back(value.at("@id"));
  BOOST_TEST(!(value.is_object()), "nested: " << value.dump());
  if (value.is_array())
    for (const json &one : value) references(one, found);
}

BOOST_AUTO_TEST_CASE(the_graph_is_flat_and_complete) {
  Facts other = meta;
  other[3].second = "2026-02-02T03:04:05Z";
  const auto nodes =
      by_id(crate_metadata("t", "CC0-1.0", {{"a b.h5", 1, meta}, {"v.h5", 1, other}, {"x.jsonld", 2, {}}}));
  BOOST_TEST(nodes.at("./").at("datePublished") == "2026-02-02T03:04:05Z");
  BOOST_TEST((nodes.count("a%20b.h5") == 1 && nodes.at("a%20b.h5").at("name") == "a b.h5"));
  for (const auto &[id, node] : nodes) {
    std::vector<std::string> found;
    for (const auto &[name, value] : node.items()) references(value, found);
    for (const std::string &target : found)
      BOOST_TEST((nodes.count(target) || target == "https://w3id.org/ro/crate/1.1"), id << " refers to " << target);
  }
  BOOST_CHECK_THROW(crate_metadata("t", "CC0-1.0", {{"x.csv", 1, {}}}), std::logic_error);
}

BOOST_AUTO_TEST_CASE(metadata_name_the_files_of_a_crate_and_no_others) {
  const std::string text = crate_metadata("t", "CC-BY-4.0", {{"r 1.h5", 12, meta}, {"\xff.md", 3, {}}});
  for (const char *file : {"r 1.h5", "\xff.md"}) BOOST_TEST(names_file(text, file));
  for (const char *file : {"r1.h5", "#run-r 1.h5", "./", ""}) BOOST_TEST(!names_file(text, file));
  for (const char *other : {"", "{", "[]", "{\"@graph\": 1}", "{\"@graph\": [1, {\"@type\": [\"File\"], \"@id\": 2}]}"})
    BOOST_TEST(!names_file(other, "r 1.h5"), other);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
