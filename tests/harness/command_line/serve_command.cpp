// SPDX-License-Identifier: Apache-2.0
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(serve_command)

using nlohmann::json;

std::vector<json> answers_to(const std::vector<std::string> &lines) {
  const Folder folder;
  std::ofstream file(folder / "requests");
  for (const std::string &line : lines) file << line << '\n';
  file.close();
  const Outcome o = run_program("serve <" + (folder / "requests"));
  BOOST_TEST(o.status == 0, o.err);
  std::vector<json> answers;
  for (size_t at = 0, end; (end = o.out.find('\n', at)) != std::string::npos; at = end + 1)
    answers.push_back(json::parse(o.out.substr(at, end - at)));
  return answers;
}
std::string request(const std::vector<std::string> &words) { return json{{"args", words}}.dump(); }

BOOST_AUTO_TEST_CASE(commands_answer_as_they_do_alone) {
  const Folder folder;
  const std::string in = folder / "in.safetensors", out = folder / "out.safetensors", bad = folder / "bad.safetensors";
  const std::vector<std::vector<std::string>> commands{
      {"sample", "delta_net", "--shape", "1,2,9,4,3", "--dtype", "f32", "-o", in},
      {"forward", "delta_net", "-i", in, "-o", out},
      {"forward", "linear", "-i", in, "-o", bad},
      {"check", "delta_net", "-i", in, "-c", out},
      {"check", "delta_net", "-i", in, "-c", bad},
      {"check", "delta_net", "-i", in, "-c", out, "--dtype", "bf16"},
      {"check", "delta_nett", "-i", in, "-c", out},
      {"check", "delta_net", "-i", folder / "absent.npz", "-c", out},
      {"check", "delta_net", "--forward"},
      {"list", "variants", "linear", "--json"}};
  std::vector<std::string> lines;
  for (const auto &words : commands) lines.push_back(request(words));
  const std::vector<json> answers = answers_to(lines);
  BOOST_TEST_REQUIRE(answers.size() == commands.size());
  const int statuses[] = {0, 0, 0, 0, 1, 0, 2, 3, 2, 0};
  for (size_t i = 0; i < commands.size(); ++i) {
    std::string line;
    for (const std::string &word : commands[i]) line += " " + word;
    const Outcome alone = run_program(line);
    BOOST_TEST(answers[i]["status"] == statuses[i], line << answers[i]);
    BOOST_TEST(alone.status == statuses[i], line);
    BOOST_TEST(answers[i]["out"] == alone.out, line << answers[i]["out"]);
    BOOST_TEST(answers[i]["err"] == alone.err, line << answers[i]["err"]);
  }
}

BOOST_AUTO_TEST_CASE(bad_requests_are_answered_and_the_next_one_is_served) {
  const std::vector<json> answers =
      answers_to({"", "junk", "{\"args\": \"check\"}", "{\"args\": [1]}", "{\"args\": []}", request({"run", "a.toml"}),
                  request({"serve"}), request({"info", "--help"})});
  BOOST_TEST_REQUIRE(answers.size() == 8u);
  for (size_t i = 0; i < 7; ++i) BOOST_TEST(answers[i]["status"] == 2, answers[i]);
  BOOST_TEST(answers[5]["err"] == "recollect: serve runs list, sample, forward, check, info; got 'run'\n");
  BOOST_TEST(answers[7]["status"] == 0, answers[7]);
}

BOOST_AUTO_TEST_CASE(a_reference_is_of_the_numbers_in_the_file_and_not_of_its_name) {
  const Folder folder;
  const std::string in = folder / "in.npz", out = folder / "out.npz";
  const auto sample = [&](const char *seed) {
    return request({"sample", "linear", "--shape", "1,1,9,4,3", "--seed", seed, "-o", in});
  };
  const std::string forward = request({"forward", "linear", "-i", in, "-o", out}),
                    check = request({"check", "linear", "-i", in, "-c", out});
  const std::vector<json> answers = answers_to({sample("1"), forward, check, sample("2"), check, forward, check,
                                                request({"check", "linear", "-i", in, "-c", out, "--set", "scale=2"})});
  const int statuses[] = {0, 0, 0, 0, 1, 0, 0, 1};
  BOOST_TEST_REQUIRE(answers.size() == 8u);
  for (size_t i = 0; i < 8; ++i) BOOST_TEST(answers[i]["status"] == statuses[i], answers[i]);
}

BOOST_AUTO_TEST_CASE(requests_that_cannot_be_read_and_answers_that_cannot_be_written_end_it_with_one_line) {
  const Folder folder;
  std::ofstream(folder / "requests") << request({"list", "tasks"}) << '\n';
  for (const std::string &streams :
       {"<" + (folder / "") + " >/dev/null", "<" + (folder / "requests") + " >/dev/full"}) {
    const Outcome o = run_program("-c \"'" RECOLLECT_PROGRAM "' serve " + streams + "\"", "/bin/sh");
    BOOST_TEST((o.status == 3 && std::count(o.err.begin(), o.err.end(), '\n') == 1), streams << o.status << o.err);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
