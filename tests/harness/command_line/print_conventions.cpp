// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/print_conventions.hpp"
#include "harness/core/error.hpp"
#include "harness/files/convention.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(print_conventions_)

BOOST_AUTO_TEST_CASE(presets_are_listed_with_their_switches_types_and_names) {
  std::ostringstream out;
  print_conventions_json(out, {});
  const auto all = nlohmann::json::parse(out.str());
  BOOST_TEST_REQUIRE(all.size() == preset_names().size() + 1);
  const auto &layer = all[0], &fla = all[1];
  BOOST_TEST((layer["name"] == "layer" && layer["layout"] == "bhtd" && layer["l2norm"].is_null()));
  BOOST_TEST((fla["name"] == "fla" && fla["state"] == "kv" && fla["gate"] == "log" && fla["scale"] == "rsqrt"));
  BOOST_TEST(fla["float32"].dump() == R"(["alpha","lambda","state"])");
  BOOST_TEST(fla["arrays"]["dstate"].dump() == R"(["dh0","dinitial_state","dstate"])");
  BOOST_TEST(fla["arrays"]["alpha"].dump() == R"(["g","alpha","a","dt"])");
}

BOOST_AUTO_TEST_CASE(one_is_described_and_an_unknown_one_refused) {
  std::ostringstream out;
  print_conventions(out, {"fla"});
  BOOST_TEST(out.str().find("final_state: final_state, ht, state") != std::string::npos, out.str());
  BOOST_TEST(out.str().find("mamba") == std::string::npos);
  BOOST_CHECK_THROW(print_conventions(out, {"fal"}), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
