// SPDX-License-Identifier: Apache-2.0
// The gate can fail: a program in which one variant has one sign flipped (tests/fixtures/wrong_variant.cpp) is refused.
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <nlohmann/json.hpp>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(gate)

/// The table's row of a claim, and the last line of the output.
std::string row_of(const std::string &text, const std::string &id) {
  const size_t begin = text.find("\n" + id) + 1;
  return begin == 0 ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

std::string last_line(const std::string &text) {
  const size_t end = text.find_last_not_of('\n') + 1, begin = text.rfind('\n', end - 1) + 1;
  return text.substr(begin, end - begin);
}

BOOST_AUTO_TEST_CASE(the_true_program_passes) {
  const Outcome o = run_program("verify chunk-equals-recurrent");
  BOOST_TEST(o.status == 0);
  BOOST_TEST(last_line(o.out) == "1 passed, 0 failed");
  BOOST_TEST(row_of(o.out, "chunk_equals_recurrent").find("refuted") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(one_flipped_sign_turns_it_red) {
  const Folder folder;
  const Outcome o = run_program("verify chunk-equals-recurrent --json '" + (folder / "v.json") + "' --junit '" +
                                    (folder / "v.xml") + "'",
                                RECOLLECT_WRONG_PROGRAM);
  BOOST_TEST(o.status == 1);
  BOOST_TEST(last_line(o.out) == "0 passed, 1 failed");
  BOOST_TEST(row_of(o.out, "chunk_equals_recurrent").find("refuted") != std::string::npos);
  BOOST_TEST(read_file(folder / "v.xml").find("<failure") != std::string::npos);

  const auto claim = nlohmann::json::parse(read_file(folder / "v.json")).at("claims").at(0);
  BOOST_TEST(claim.at("passed") == false);
  BOOST_TEST(claim.at("verdict") == "refuted");
  BOOST_TEST(claim.at("expected") == "holds");
  for (const auto &point : claim.at("points"))
    BOOST_TEST((point.at("verdict") == "holds") == (point.at("params").at("variant") != "linear"), point.dump());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
