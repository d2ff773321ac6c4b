// SPDX-License-Identifier: Apache-2.0
// Every value is read back as it was written, and an interrupted run is completed or refused.
#include "harness/files/results.hpp"
#include "harness/core/error.hpp"
#include "harness/files/hdf5_file.hpp"
#include "harness/run/plan.hpp"
#include "harness/system/files.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(results)

const std::uint64_t large_seed = 9007199254740993u; // a double cannot represent it

std::vector<Case> small_plan(std::uint64_t seed = large_seed) {
  RunRequest request;
  request.variants = {"linear", "softmax"}, request.tasks = {"recall"}, request.seed = seed;
  return make_plan(request);
}

Record record_of(int index) {
  Record r;
  r.case_index = index, r.shape = {1, 2, 3, 4, 5}, r.status = "failed", r.reason = std::string(5000, 'r') + " \u03ba";
  r.score.metrics = {{"mse", 0.1}, {"nothing", std::nan("")}, {"denormal", 5e-324}, {"infinite", -HUGE_VAL}};
  r.score.series["by step"] = {1, 0.1, -0.0};
  r.seconds = {1e-9};
  return r;
}

Results filled() {
  Results r = Results::planned(small_plan(), {{"seed", std::to_string(large_seed)}, {"note", std::string(9000, 'n')}});
  r.add(record_of(0)), r.add(record_of(1));
  return r;
}

Results reread(const Results &results, const std::string &path) {
  OutputFile(path).publish(results.image());
  return Results::read(path);
}

BOOST_AUTO_TEST_CASE(every_value_written_is_read_back_equal) {
  const Folder folder;
  const Results written = filled(), read = reread(written, folder / "r.h5");
  BOOST_TEST_REQUIRE(read.tables().size() == written.tables().size());
  for (const Table &table : written.tables()) {
    const auto same_name = [&](const Table &other) { return other.name == table.name; };
    const auto found = std::find_if(read.tables().begin(), read.tables().end(), same_name);
    BOOST_TEST_REQUIRE((found != read.tables().end()), table.name);
    BOOST_TEST((*found == table), table.name << " changed on its way through the file");
  }
  Facts sorted = written.meta;
  std::sort(sorted.begin(), sorted.end());
  BOOST_TEST((read.meta == sorted));
  BOOST_TEST(read.missing() == 0u);
}

BOOST_AUTO_TEST_CASE(files_say_which_version_they_are_of) { // readers in other languages rely on these two attributes
  const Folder folder;
  OutputFile(folder / "r.h5").publish(filled().image());
  const Hdf5File file(folder / "r.h5");
  BOOST_TEST((file.schema() == "recollect results" && file.schema_version() == 5));
}

BOOST_AUTO_TEST_CASE(files_of_later_versions_are_refused) {
  const Folder folder;
  for (int version : {5, 6}) {
    Hdf5Image image;
    image.attributes("recollect results", version, {{"later", "true"}});
    OutputFile(folder / "r.h5").publish(image.bytes());
    if (version == 5)
      BOOST_TEST(Results::read(folder / "r.h5").tables().empty());
    else
      BOOST_CHECK_EXCEPTION(Results::read(folder / "r.h5"), Error, [](const Error &e) {
        return std::string(e.what()).find("has schema_version 6, this program reads up to 5") != std::string::npos;
      });
  }
}

BOOST_AUTO_TEST_CASE(findings_come_back_whole) {
  const Folder folder;
  Claim claim;
  claim.id = "x", claim.scope = Scope::boundary, claim.expected = Verdict::refuted;
  Params params;
  params.set("d", 48).set("law", "printed");
  Point bound = as_obligation(at_most_point(Mean{0.9, 0.01}, 1), params, std::string(300, 'l'));
  const Finding made = conclude(
      claim, {as_statement(exact_point(1, 2, 3), {}), bound, rival_law(sampled_point({1, 0.01}, 1), "2 for 1", 2)});
  BOOST_TEST_REQUIRE(made.passed);
  Results results = Results::planned({{&claim, {}}, {&claim, {}}}, {});
  results.add(1, made);
  const Results read = reread(results, folder / "v.h5");
  BOOST_TEST((!read.has(0) && read.has(1) && read.missing() == 1));
  const Finding found = read.finding(1, claim);
  BOOST_TEST((found.verdict == made.verdict && found.passed && found.points.size() == 3));
  for (size_t i = 0; i < 3; ++i) {
    const Point &a = made.points[i], &b = found.points[i];
    BOOST_TEST((a.role == b.role && a.rival == b.rival && a.label == b.label && a.verdict == b.verdict));
    BOOST_TEST((a.measured == b.measured && a.predicted == b.predicted && a.tolerance == b.tolerance));
    BOOST_TEST((a.standard_error == b.standard_error && a.relation == b.relation));
    BOOST_TEST(a.params.str() == b.params.str());
  }
}

BOOST_AUTO_TEST_CASE(another_plan_seed_or_version_is_not_completed) {
  const Facts meta{{"seed", "1"}, {"version", "0"}, {"git_commit", "c"}};
  const Results start = Results::planned(small_plan(), meta);
  BOOST_TEST(start.differs_from(start) == "");
  BOOST_TEST(start.differs_from(Results::planned(small_plan(5), meta)) == "another plan");
  for (const char *name : {"seed", "version", "git_commit"}) {
    Facts other = meta;
    for (auto &[key, value] : other)
      if (key == name) value = "other";
    BOOST_TEST(start.differs_from(Results::planned(small_plan(), other)).rfind(name, 0) == 0u);
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_results_file_is_refused) {
  const Folder folder;
  OutputFile(folder / "junk").publish("junk");
  BOOST_CHECK_THROW(Results::read(folder / "junk"), Error);
  BOOST_CHECK_THROW(Results::read(folder / "absent"), Error);
  std::string bytes = filled().image();
  OutputFile(folder / "cut").publish(bytes.substr(0, bytes.size() / 2));
  BOOST_CHECK_THROW(Results::read(folder / "cut"), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
