// SPDX-License-Identifier: Apache-2.0
// The command's folders and refusals. tests/files/test_check.py reads what it writes.
#include "harness/check/samples.hpp"
#include "harness/system/files.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(sample_command)

BOOST_AUTO_TEST_CASE(a_battery_is_a_folder_of_cases_and_its_definition_passes_it, *slow) {
  const Folder folder;
  BOOST_TEST(run_program("sample linear --battery '" + (folder / "in") + "' --dtype bf16").status == 0);
  size_t cases = 0;
  std::filesystem::create_directory(folder / "out");
  for (const auto &entry : std::filesystem::directory_iterator(folder / "in")) {
    const std::string in = entry.path().string(), out = folder / ("out/" + entry.path().filename().string());
    BOOST_TEST_REQUIRE(run_program("forward linear -i '" + in + "' -o '" + out + "'").status == 0);
    ++cases;
  }
  BOOST_TEST(cases >= 10u);
  const std::string check =
      "check linear --battery '" + (folder / "in") + "' -c '" + (folder / "out") + "' --dtype bf16";
  const Outcome right = run_program(check);
  BOOST_TEST(right.status == 0, right.out);
  const std::string one = std::filesystem::directory_iterator(folder / "out")->path().string();
  std::filesystem::remove(one);
  const Outcome missing = run_program(check);
  BOOST_TEST(missing.status != 0);
  const std::string name = std::filesystem::path(one).filename().string();
  BOOST_TEST((missing.out + missing.err).find(name) != std::string::npos, missing.out + missing.err);
}

BOOST_AUTO_TEST_CASE(a_kind_that_nobody_knows_is_refused_with_the_nearest) {
  const Folder folder;
  const Outcome o = run_program("sample linear --shape 1,1,8,4,4 --kind tiny-gate -o '" + (folder / "in.npz") + "'");
  BOOST_TEST(o.status == 2);
  BOOST_TEST(o.err.find("tiny-gates") != std::string::npos, o.err);
}

BOOST_AUTO_TEST_CASE(optional_inputs_are_left_out_of_one_file_and_of_a_battery) {
  const Folder folder;
  const std::string sample = "sample gated_delta_net2 --without w,beta --dtype f32 ";
  BOOST_TEST_REQUIRE(run_program(sample + "--shape 1,2,9,4,4 -o '" + (folder / "in.npz") + "'").status == 0);
  BOOST_TEST_REQUIRE(run_program(sample + "--battery '" + (folder / "in") + "'").status == 0);
  std::vector<std::string> files{folder / "in.npz"};
  for (const auto &entry : std::filesystem::directory_iterator(folder / "in")) files.push_back(entry.path().string());
  BOOST_TEST(files.size() >= 10u);
  for (const std::string &file : files) {
    const std::string name = std::filesystem::path(file).stem().string();
    const std::string content = read_regular_file(file);
    const auto has = [&](const char *array) { return content.find(std::string(array) + ".npy") != std::string::npos; };
    BOOST_TEST((has("k") && has("lambda") && !has("w") && !has("beta")), file);
    BOOST_TEST(name.find("beta02") == std::string::npos, file); // no case is there for an input that it does not have
    BOOST_TEST(name.find("-w") == std::string::npos, file);
  }
}

BOOST_AUTO_TEST_CASE(only_optional_inputs_can_be_left_out) {
  const Folder folder;
  const auto refusal = [&](const std::string &layer, const std::string &name) {
    const Outcome o =
        run_program("sample " + layer + " --shape 1,1,8,4,4 --without " + name + " -o '" + (folder / "in.npz") + "'");
    BOOST_TEST(o.status != 0);
    return o.err;
  };
  BOOST_TEST(refusal("gated_delta_net2", "lambda").find("(beta, w), got 'lambda'") != std::string::npos);
  BOOST_TEST(refusal("linear", "w").find("(none)") != std::string::npos);
  BOOST_TEST(refusal("gated_linear", "alpha,lambda").find("needs alpha or lambda") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(help_says_what_every_kind_means) {
  const std::string help = run_program("sample --help").out;
  for (const SampleKind &kind : sample_kinds())
    BOOST_TEST((!kind.meaning.empty() && help.find(kind.name + ": " + kind.meaning) != std::string::npos), kind.name);
  BOOST_TEST(help.find("ragged") == std::string::npos); // the old name of odd-length, which suggests packed texts
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
