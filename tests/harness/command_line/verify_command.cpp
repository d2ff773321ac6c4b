// SPDX-License-Identifier: Apache-2.0
// The gate can fail: it refuses a program in which one variant has a flipped sign (tests/fixtures/wrong_variant.cpp).
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <nlohmann/json.hpp>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(gate)

/// The table row of a claim, and the last line of the output.
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

BOOST_AUTO_TEST_CASE(a_range_of_points_is_a_table_against_the_law) {
  const Outcome o = run_program("verify snr_linear --point n=4:16:*2,d=16");
  BOOST_TEST(o.status == 0, o.err);
  BOOST_TEST(last_line(o.out) == "3 passed, 0 failed");
  for (const char *part :
       {"snr_linear, obligation: SNR^-1, mean over probes, against the exact form\n  n   measured  predicted",
        "\n  4   ", "\n  8   ", "\n  16  ", "detected with 95% power; the smallest here is "})
    BOOST_TEST(o.out.find(part) != std::string::npos, part << " in\n" << o.out);
  const Outcome all = run_program("verify snr_linear --point n=4:8:+4,d=16:17");
  BOOST_TEST(last_line(all.out) == "4 passed, 0 failed");
  for (const char *wrong : {"n=8:4", "n=", "n=4:8:*1", "n=4,8", "m=4"}) {
    const Outcome bad = run_program(std::string("verify snr_linear --point ") + wrong);
    BOOST_TEST((bad.status == 2 && std::count(bad.err.begin(), bad.err.end(), '\n') == 1), wrong << ": " << bad.err);
  }
}

BOOST_AUTO_TEST_CASE(a_large_point_takes_seconds_and_notices_as_small_an_error) {
  // The sensitivity that `verify --points` prints: the largest relative error that a mean over the probe would fail to
  // detect.
  const auto noticed = [](const std::string &arguments) {
    const Folder folder;
    const Outcome o = run_program("verify snr_exp " + arguments + " --json '" + (folder / "v.json") + "'");
    BOOST_TEST(o.status == 0, o.err);
    const auto claim = nlohmann::json::parse(read_file(folder / "v.json")).at("claims").at(0);
    for (const auto &point : claim.at("points"))
      if (point.at("label") == "SNR^-1, mean over probes, against the exact form" && point.at("role") == "obligation")
        return double(point.at("tolerance")) / double(point.at("predicted"));
    return 1.0;
  };
  const double own = noticed(""), large = noticed("--point d=48,n=100,tau=7");
  BOOST_TEST(large <= std::max(own, 1e-9), large << " against " << own);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
