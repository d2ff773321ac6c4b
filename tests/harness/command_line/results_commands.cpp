// SPDX-License-Identifier: Apache-2.0
#include "harness/system/files.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <nlohmann/json.hpp>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(results_commands)

std::string quoted(const std::string &path) { return " '" + path + "'"; }
void make(const std::string &path, const std::string &flags) {
  const Outcome o = run_program("run --variants linear --tasks recall " + flags + " -o" + quoted(path));
  BOOST_TEST_REQUIRE(o.status == 0, o.err);
}

BOOST_AUTO_TEST_CASE(info_says_whether_a_file_is_whole) {
  const Folder folder;
  make(folder / "r.h5", "--seeds 2"), make(folder / "half.h5", "--seeds 2 --shard 1/2");
  const Outcome whole = run_program("info" + quoted(folder / "r.h5") + " --json"),
                half = run_program("info" + quoted(folder / "half.h5"));
  BOOST_TEST(whole.status == 0);
  BOOST_TEST(nlohmann::json::parse(whole.out).at("missing") == "nothing");
  BOOST_TEST((half.status == 1 && half.out.find("1 planned, not recorded") != std::string::npos));
  OutputFile(folder / "junk.h5").publish("junk");
  BOOST_TEST(run_program("info" + quoted(folder / "junk.h5")).status == 3);
}

BOOST_AUTO_TEST_CASE(info_alone_describes_the_program) {
  const Outcome o = run_program("info");
  BOOST_TEST((o.status == 0 && o.out.find("version") != std::string::npos));
}

BOOST_AUTO_TEST_CASE(a_gate_is_red_only_where_something_changed) {
  const Folder folder;
  const std::string a = folder / "a.h5", b = folder / "b.h5", c = folder / "c.h5";
  make(a, ""), make(b, ""), make(c, "--set n=2");
  BOOST_TEST(run_program("diff --gate" + quoted(a) + quoted(b)).status == 0);
  BOOST_TEST(run_program("diff --gate" + quoted(a) + quoted(c)).status == 1);
  const Outcome shown = run_program("diff --format md" + quoted(a) + quoted(c));
  BOOST_TEST((shown.status == 0 && shown.out.find("| ") != std::string::npos));
}

BOOST_AUTO_TEST_CASE(an_input_is_never_overwritten) {
  const Folder folder;
  const std::string a = folder / "a.h5";
  make(a, "");
  const std::string before = read_file(a);
  BOOST_TEST(run_program("merge" + quoted(a) + " -o" + quoted(a)).status == 2);
  BOOST_TEST(read_file(a) == before);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
