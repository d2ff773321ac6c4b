// SPDX-License-Identifier: Apache-2.0
#include "harness/system/files.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <filesystem>
#include <nlohmann/json.hpp>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(crate_command)

BOOST_AUTO_TEST_CASE(a_crate_holds_the_files_and_says_what_made_them) {
  const Folder folder;
  const std::string results = folder / "r.h5", notes = folder / "notes.md", crate = folder / "crate";
  BOOST_TEST_REQUIRE(run_program("run --variants linear --tasks recall --seeds 1 -o '" + results + "'").status == 0);
  OutputFile(notes).publish("why\n");
  const std::string files = "crate '" + results + "' '" + notes + "' --license CC-BY-4.0 -o ";
  const Outcome o = run_program(files + "'" + crate + "'");
  BOOST_TEST_REQUIRE(o.status == 0, o.err);
  BOOST_TEST((read_file(crate + "/r.h5") == read_file(results) && read_file(crate + "/notes.md") == "why\n"));
  const auto graph = nlohmann::json::parse(read_file(crate + "/ro-crate-metadata.json")).at("@graph");
  for (const auto &node : graph)
    if (node.at("@type") == "CreateAction")
      BOOST_TEST(node.at("name").get<std::string>().find("--variants linear --tasks recall") != std::string::npos);
  BOOST_TEST(run_program(files + "'" + crate + "'").status == 0); // again, into the same crate
  OutputFile(crate + "/mine.md").publish("mine\n");
  BOOST_TEST(run_program(files + "'" + crate + "'").status == 3); // a file that is not of the crate
  BOOST_TEST(read_file(crate + "/mine.md") == "mine\n");
  BOOST_TEST(run_program("crate '" + results + "' --license CC0-1.0 -o '" + (folder / "new/crate/") + "'").status == 0);
  const std::string full = folder / "full"; // a folder that contains something else
  std::filesystem::create_directory(full);
  OutputFile(full + "/mine.md").publish("mine\n");
  BOOST_TEST(run_program(files + "'" + full + "'").status == 3);
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_said_in_one_line) {
  const Folder folder;
  const std::string notes = folder / "notes.md", junk = folder / "junk.h5";
  OutputFile(notes).publish("why\n"), OutputFile(junk).publish("junk");
  const auto refused = [&](const std::string &words, int status) {
    const Outcome o = run_program("crate " + words + " -o '" + (folder / "c") + "'");
    BOOST_TEST((o.status == status && std::count(o.err.begin(), o.err.end(), '\n') == 1), words << ": " << o.err);
  };
  refused("'" + notes + "'", 2);                   // no licence
  refused("'" + notes + "' --license CC0-1.0", 2); // no results
  refused("'" + junk + "' --license CC0-1.0", 3);  // not results
  refused("'" + (folder / "none.h5") + "' --license CC0-1.0", 3);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
