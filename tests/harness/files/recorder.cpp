// SPDX-License-Identifier: Apache-2.0
// The recorder reports a row only after it has saved it. tests/files/test_durability.py kills the program.
#include "harness/files/recorder.hpp"
#include "harness/core/error.hpp"
#include "harness/run/plan.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <atomic>
#include <sys/stat.h>
#include <thread>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(recorders)

Results plan_of_two(std::uint64_t seed = 1) {
  RunRequest request;
  request.variants = {"linear", "softmax"}, request.tasks = {"recall"}, request.seed = seed;
  return Results::planned(make_plan(request), {{"seed", std::to_string(seed)}});
}

Record record_of(int index) {
  Record r;
  r.case_index = index, r.score.metrics = {{"mse", 0.1}};
  return r;
}

BOOST_AUTO_TEST_CASE(a_run_is_resumed_where_it_stopped) {
  const Folder folder;
  const std::string path = folder / "r.h5";
  const Results start = plan_of_two();
  int reported = 0;
  {
    Recorder killed(path, start, false, [] { return Recorder::Clock::time_point{}; });
    killed.add([&] { ++reported; }, record_of(0));
  }
  BOOST_TEST(reported == 0); // not on disk yet, so not reported
  Recorder again(path, start, true);
  BOOST_TEST(!again.results().has(0));
  again.add([&] { ++reported; }, record_of(0));
  again.add([&] { ++reported; }, record_of(1));
  again.finish();
  BOOST_TEST(reported == 2);
  BOOST_TEST(Results::read(path).missing() == 0u);
  Recorder done(path, start, true); // already complete
  BOOST_TEST((done.results().has(0) && done.results().has(1)));
  const auto file = [&] {
    struct stat s {};
    BOOST_TEST_REQUIRE(stat(path.c_str(), &s) == 0);
    return s.st_ino;
  };
  const auto before = file();
  done.finish();
  BOOST_TEST(file() == before); // and not written again
}

BOOST_AUTO_TEST_CASE(files_are_written_at_most_every_half_second) {
  const Folder folder;
  Recorder::Clock::time_point now{};
  Recorder recorder(folder / "r.h5", plan_of_two(), false, [&] { return now; });
  int reported = 0;
  now += std::chrono::milliseconds(500);
  recorder.add([&] { ++reported; }, record_of(0));
  BOOST_TEST(reported == 0);
  now += std::chrono::milliseconds(1);
  recorder.add([&] { ++reported; }, record_of(1));
  BOOST_TEST(reported == 2);
  BOOST_TEST(!recorder.due());
}

BOOST_AUTO_TEST_CASE(what_waits_is_kept_while_the_next_takes_long) {
  const Folder folder;
  const std::string path = folder / "r.h5";
  std::atomic<int> milliseconds{0}, looks{0}, reported{0};
  Recorder recorder(path, plan_of_two(), false, [&] {
    ++looks;
    return Recorder::Clock::time_point{std::chrono::milliseconds(milliseconds)};
  });
  recorder.add([&] { ++reported; }, record_of(0));
  recorder.during([] {}); // ends before a save is due
  BOOST_TEST((reported == 0 && !Results::read(path + ".partial").has(0)));
  recorder.during([&] {
    milliseconds = 501;
    for (int i = 0; i < 3000 && reported == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });
  BOOST_TEST((reported == 1 && Results::read(path + ".partial").has(0)));
  const int before = looks;
  milliseconds = 2000;
  recorder.during([] {}); // nothing to save, so nothing is written
  BOOST_TEST(looks == before);
  milliseconds = 0;
  recorder.add([&] { ++reported; }, record_of(1));
  BOOST_CHECK_THROW(recorder.during([] { throw std::logic_error("the claim's own"); }), std::logic_error);
  recorder.finish();
  BOOST_TEST((reported == 2 && Results::read(path).missing() == 0u));
}

BOOST_AUTO_TEST_CASE(files_are_written_for_a_share_of_the_time) {
  const Folder folder;
  Recorder::Clock::time_point now{};
  const Recorder recorder(folder / "r.h5", plan_of_two(), false, [&] { return now += std::chrono::seconds(1); });
  for (int second = 1; second <= 10; ++second) BOOST_TEST(!recorder.due()); // the last save took one second
  BOOST_TEST(recorder.due());
  for (int second = 12; second <= 33; ++second) BOOST_TEST(!recorder.due(0.03));
  BOOST_TEST(recorder.due(0.03));
}

BOOST_AUTO_TEST_CASE(another_run_is_not_completed) {
  const Folder folder;
  { Recorder killed(folder / "r.h5", plan_of_two(), false); }
  BOOST_CHECK_THROW(Recorder(folder / "r.h5", plan_of_two(2), true), Error);
}

BOOST_AUTO_TEST_CASE(without_a_file_everything_is_said_at_once) {
  Recorder recorder("", plan_of_two(), false);
  int reported = 0;
  recorder.add([&] { ++reported; }, record_of(0));
  BOOST_TEST(reported == 1);
}

BOOST_AUTO_TEST_CASE(what_other_ranks_left_is_taken_over) {
  const Folder folder;
  const std::string path = folder / "r.h5", shard = path + ".rank-1.partial";
  Results other = plan_of_two();
  other.add(record_of(1));
  Results another = plan_of_two(2); // with another plan, as its seeds differ
  another.meta = other.meta;
  for (Results *part : {&other, &another}) part->leave_out_plan();
  OutputFile(path + ".rank-1").checkpoint(another.image());
  BOOST_CHECK_THROW(Recorder(path, plan_of_two(), true), Error);
  BOOST_CHECK_THROW(Results::merged({plan_of_two(), other}, {"a", "b"}), Error);
  std::filesystem::remove(shard);
  OutputFile(path + ".rank-1").checkpoint(other.image());
  BOOST_CHECK_THROW(Recorder(path, plan_of_two(), false), Error);
  Recorder recorder(path, plan_of_two(), true);
  BOOST_TEST((!recorder.before().has(0) && recorder.before().has(1)));
  BOOST_TEST(!std::filesystem::exists(shard));
  BOOST_TEST(Results::read(path + ".partial").has(1)); // before the shard was removed
  recorder.add([] {}, record_of(0));
  recorder.finish();
  const Results whole = Results::read(path);
  BOOST_TEST(whole.missing() == 0u);
  for (const Table &t : whole.tables())
    if (t.name == "records")
      BOOST_TEST((std::get<std::int64_t>(t.rows.at(0).at(0)) == 0)); // sorted in the order of the plan
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
