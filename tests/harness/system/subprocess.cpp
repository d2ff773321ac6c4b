// SPDX-License-Identifier: Apache-2.0
#include "harness/system/subprocess.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <csignal>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(subprocesses)

BOOST_AUTO_TEST_CASE(the_exit_status_comes_back) {
  BOOST_TEST(run_quietly({"true"}) == 0);
  BOOST_TEST(run_quietly({"sh", "-c", "exit 5"}) == 5);
}

BOOST_AUTO_TEST_CASE(what_it_says_on_standard_error_is_kept) {
  std::string errors;
  BOOST_TEST(run_program({"sh", "-c", "echo one >&2; echo two >&2; exit 3"}, errors) == 3);
  BOOST_TEST(errors == "one\ntwo\n");
}

BOOST_AUTO_TEST_CASE(words_are_not_interpreted) {
  const Folder folder;
  BOOST_TEST(run_quietly({"touch", folder / "a b; c"}) == 0);
  BOOST_TEST(std::filesystem::exists(folder / "a b; c"));
}

BOOST_AUTO_TEST_CASE(every_question_is_answered_with_a_line) {
  std::string answer;
  Dialogue echo({"cat"});
  BOOST_TEST((echo.ask("one", answer) && answer == "one"));
  const std::string more_than_a_block(10000, 'x');
  BOOST_TEST((echo.ask(more_than_a_block, answer) && answer == more_than_a_block));
}

BOOST_AUTO_TEST_CASE(who_has_ended_answers_nothing) {
  std::string answer;
  Dialogue once({"sh", "-c", "read line; echo $line; exit"});
  BOOST_TEST((once.ask("one", answer) && answer == "one"));
  BOOST_TEST(!once.ask("two", answer));
  BOOST_TEST(!once.ask("three", answer));
  BOOST_TEST(!Dialogue({"no-such-program-anywhere"}).ask("one", answer));
}

BOOST_AUTO_TEST_CASE(no_descriptor_stays_open) {
  const auto held = [] {
    const std::filesystem::directory_iterator entries("/proc/self/fd");
    return std::distance(begin(entries), end(entries));
  };
  const auto before = held();
  std::string errors;
  run_quietly({"true"}), run_program({"true"}, errors), Dialogue({"true"});
  BOOST_TEST(held() == before);
}

BOOST_AUTO_TEST_CASE(what_did_not_end_by_itself_has_no_status) {
  BOOST_TEST(run_quietly({"no-such-program-anywhere"}) == -1);
  BOOST_TEST(run_quietly({"sh", "-c", "kill -9 $$"}) == -1);
}

BOOST_AUTO_TEST_CASE(a_failure_is_one_also_under_a_parent_that_ignores_sigchld) {
  signal(SIGCHLD, SIG_IGN);
  BOOST_TEST(run_quietly({"sh", "-c", "exit 5"}) == 5);
  signal(SIGCHLD, SIG_IGN);
  std::string errors;
  BOOST_TEST(run_program({"sh", "-c", "kill -9 $$"}, errors) == -1);
  signal(SIGCHLD, SIG_DFL);
}

BOOST_AUTO_TEST_CASE(a_child_that_is_none_has_no_status) {
  int status = 0;
  BOOST_TEST(!awaited(getpid(), status));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
