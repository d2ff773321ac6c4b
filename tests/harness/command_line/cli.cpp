// SPDX-License-Identifier: Apache-2.0
// The documented exit codes and messages, seen from outside the process.
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <algorithm>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(command_line)

void check_error(const std::string &arguments, int status, const std::string &message) {
  const Outcome o = run_program(arguments);
  BOOST_TEST_INFO(arguments << " said: " << o.err);
  BOOST_TEST(o.status == status);
  BOOST_TEST_INFO(arguments << " said: " << o.err);
  BOOST_TEST(o.err.find(message) != std::string::npos);
  BOOST_TEST(std::count(o.err.begin(), o.err.end(), '\n') == 1); // always exactly one line
}

BOOST_AUTO_TEST_CASE(usage_errors_are_2) {
  check_error("", 2, "no command given");
  check_error("verfy", 2, "did you mean 'verify'?");
  check_error("list nonsense", 2, "nonsense");
  check_error("list variants linaer", 2, "did you mean 'linear'?");
  check_error("run --variants linaer", 2, "did you mean 'linear'?");
  check_error("run --tasks recal", 2, "did you mean 'recall'?");
  check_error("run --variants linear --tasks recall --set n=x", 2, "parameter n needs a finite number, got 'x'");
  check_error("run --variants linear --tasks recall --set n", 2, "name=value");
  check_error("run --variants linear --tasks recall --form sideways", 2, "it has recurrent, chunked");
  check_error("run --dtype f12", 2, "f12");
  check_error("run --chunk 0", 2, "chunk");
  check_error("verify no_such_claim", 2, "no claim matches 'no_such_claim'");
  check_error("verify --suite medium", 2, "unknown suite 'medium'");
  check_error("verify --point d=3", 2, "--point needs the id");
  check_error("verify --seed minus", 2, "minus");
  check_error("plan --bogus", 2, "--bogus");
  check_error("run --varints linear", 2, "did you mean '--variants'?");
  check_error("run --set n=1 --set n=2", 2, "'n' is set twice");
  check_error("run --shard 3/2", 2, "--shard is i/n");
  check_error("run --memory lots", 2, "--memory");
  check_error("bench --shape 1,2", 2, "--shape is B,H,T,Dk,Dv");
  check_error("bench --sweep X=2", 2, "--sweep");
}

BOOST_AUTO_TEST_CASE(input_and_output_errors_are_3) {
  check_error("verify --suite missing.toml", 3, "no such suite file: missing.toml");
  check_error("run --variants linear --tasks recall -o /no/such/folder/r.h5", 3, "/no/such/folder");
  check_error("run --variants linear --tasks recall -o /dev/null", 3, "not a regular file");
  check_error("report missing.h5 -o out", 3, "no such file: missing.h5");
  check_error("merge missing.h5 -o out.h5", 3, "no such file: missing.h5");
  check_error("diff missing.h5 missing.h5", 3, "no such file: missing.h5");
  check_error("forward linear -i missing.h5 -o out.h5", 3, "no such file: missing.h5");
}

BOOST_AUTO_TEST_CASE(suites_are_checked) {
  const Folder folder;
  const auto suite = [&](const std::string &text) {
    FILE *file = std::fopen((folder / "s.toml").c_str(), "w");
    std::fputs(text.c_str(), file);
    std::fclose(file);
    return "verify --suite " + (folder / "s.toml");
  };
  check_error(suite("claims = [\"nothing_like_it\"]"), 2, "no claim matches");
  check_error(suite("clams = [\"x\"]"), 2, "did you mean 'claims'?");
  check_error(suite("effort = \"lazy\""), 2, "effort cannot be 'lazy'; known: quick, full");
  check_error(suite("claims = [\n\"x\""), 3, "s.toml:");
  const Outcome o = run_program(suite("claims = [\"chunk-equals-*\"]\nseed = 3\n"));
  BOOST_TEST(o.status == 0);
  BOOST_TEST(o.out.find("1 passed, 0 failed\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(memory_bounds_every_case) {
  const Outcome o = run_program("run --variants linear --tasks recall --seeds 1 --memory 10K");
  BOOST_TEST(o.status == 0);
  BOOST_TEST(o.out.find("skipped: needs ") != std::string::npos);
  BOOST_TEST(o.out.find("0 ok, 0 meaningless, 1 skipped, 0 failed") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(memory_bounds_scratch, *slow) { // linear's weights for a chunk of 3000 steps: 36 MB
  const Folder folder;
  const std::string input = folder / "in.h5", output = folder / "o.h5",
                    how = " --form chunked --chunk 3000 --dtype f32 --memory 20M";
  BOOST_TEST(run_program("sample linear --shape 1,1,3000,4,4 -o " + input).status == 0);
  const Outcome refused = run_program("forward linear -i " + input + " -o " + output + how);
  BOOST_TEST(refused.status == 3);
  BOOST_TEST(refused.err.find("bytes, --memory allows 20971520") != std::string::npos);
  BOOST_TEST(!std::filesystem::exists(output));
  const Outcome bench = run_program(
      "bench --variants linear --forms chunked --shape 1,1,3000,4,4 --min-time 0 --chunk 3000 --memory 20M");
  BOOST_TEST(bench.out.find("skipped: needs") != std::string::npos);
  BOOST_TEST(
      run_program("forward linear -i " + input + " -o " + output + " --chunk 64 --dtype f32 --memory 20M").status == 0);
}

BOOST_AUTO_TEST_CASE(help_and_version_are_0) {
  BOOST_TEST(run_program("--help").status == 0);
  BOOST_TEST(run_program("verify --help").status == 0);
  BOOST_TEST(run_program("--version").out.rfind("recollect ", 0) == 0);
}

BOOST_AUTO_TEST_CASE(ids_take_either_dash) {
  const Outcome o = run_program("list claims chunk-equals-recurrent");
  BOOST_TEST(o.status == 0);
  BOOST_TEST(o.out.find("chunk_equals_recurrent") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_result_file_appears_only_when_complete) {
  const Folder folder;
  const Outcome o = run_program("run --variants linear --tasks recall -o " + (folder / "r.h5"));
  BOOST_TEST(o.status == 0);
  BOOST_TEST(std::filesystem::exists(folder / "r.h5"));
  BOOST_TEST(!std::filesystem::exists(folder / "r.h5.partial"));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
