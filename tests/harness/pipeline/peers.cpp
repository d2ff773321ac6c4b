// SPDX-License-Identifier: Apache-2.0
// tests/files/test_peers.py holds the peers' outputs to ours; here how the program asks them.
#include "harness/pipeline/peers.hpp"
#include "harness/core/error.hpp"
#include "harness/core/files.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <cstdlib>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(peers)

BOOST_AUTO_TEST_CASE(peers_are_timed_or_their_absence_is_said) {
  BenchRequest request;
  request.variants = {"linear", "dijiang"}, request.forms = {"chunked"},
  request.shapes = {{1, 1, 64, 8, 8}, {2, 1, 32, 4, 6}};
  try {
    for (const bool backward : {false, true}) {
      request.backward = backward;
      const std::vector<BenchCase> plan = bench_plan(request);
      std::vector<BenchResult> results;
      std::vector<int> begun;
      bench_peers(
          plan, {0, 60}, [&](const BenchCase &c) { begun.push_back(c.index); },
          [&](BenchResult r) { results.push_back(std::move(r)); });
      BOOST_TEST((begun == std::vector<int>{3, 1, 2, 0})); // by their work
      BOOST_TEST_REQUIRE(!results.empty());
      for (const BenchResult &r : results) {
        BOOST_TEST(r.source != "recollect");
        BOOST_TEST(r.bench_case->variant->name == "linear"); // nobody else has the other
        BOOST_TEST(r.status == "ok", r.reason);
        BOOST_TEST((!r.seconds.empty() && r.timing.median > 0));
      }
    }
  } catch (const Error &none) {
    BOOST_TEST(std::string(none.what()) == "--peers needs a python3 with PyTorch and NumPy, and none was found");
  }
}

/// Found first on the PATH, as python3, while it lives.
struct StandIn {
  Folder folder;
  std::string path = std::getenv("PATH");
  explicit StandIn(const std::string &script) {
    write_file(folder / "python3", "#!/bin/sh\n" + script);
    std::filesystem::permissions(folder / "python3", std::filesystem::perms::owner_all);
    setenv("PATH", (folder / "" + ":" + path).c_str(), 1);
  }
  ~StandIn() { setenv("PATH", path.c_str(), 1); }
};

BOOST_AUTO_TEST_CASE(loops_and_what_is_tuned_first_keep_nobody_waiting) {
  const StandIn python(R"(test "$1" = -c && exit
while read -r asked; do
  more=false source=torch
  case $asked in *'"tuned":true'*) source=fla ;; *'"form":"chunked"'*) more=true ;; esac
  echo "{\"more\":$more,\"results\":[{\"source\":\"$source\",\"status\":\"skipped\",\"reason\":\"\",\"seconds\":[]}]}"
done
)");
  BenchRequest request;
  request.variants = {"linear", "delta_net"}, request.forms = {"recurrent", "chunked"};
  request.shapes = {{1, 1, 64, 8, 8}, {1, 1, 32, 4, 4}};
  const std::vector<BenchCase> plan = bench_plan(request);
  std::vector<std::string> asked;
  bench_peers(
      plan, {0, 1}, [](const BenchCase &) {},
      [&](BenchResult r) {
        const BenchCase &c = *r.bench_case;
        asked.push_back(r.source + "/" + c.variant->name + "/" + c.form->name + "/" + std::to_string(c.shape.T));
      });
  const std::vector<std::string> quick{"linear/chunked/32", "delta_net/chunked/32", "linear/chunked/64",
                                       "delta_net/chunked/64"},
      loops{"linear/recurrent/32", "delta_net/recurrent/32", "linear/recurrent/64", "delta_net/recurrent/64"};
  std::vector<std::string> wanted;
  for (const std::string &name : quick) wanted.push_back("torch/" + name);
  for (const std::string &name : loops) wanted.push_back("torch/" + name);
  for (const std::string &name : quick) wanted.push_back("fla/" + name);
  BOOST_TEST(asked == wanted, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(no_peer_answers_for_parameters_that_it_does_not_take) {
  BenchRequest request;
  request.variants = {"delta_former", "rls"}, request.forms = {"recurrent"}, request.shapes = {{1, 1, 16, 4, 4}};
  const auto answered = [&](const Assignments &settings) {
    request.settings = settings;
    const std::vector<BenchCase> plan = bench_plan(request);
    std::vector<std::string> by;
    bench_peers(
        plan, {0, 60}, [](const BenchCase &) {}, [&](BenchResult r) { by.push_back(r.bench_case->variant->name); });
    std::sort(by.begin(), by.end());
    return by;
  };
  using Names = std::vector<std::string>;
  try {
    BOOST_TEST((answered({}) == Names{"delta_former", "rls"}));
    BOOST_TEST((answered({{"rls.ridge", "2"}}) == Names{"delta_former"}));
    BOOST_TEST((answered({{"delta_former.kappa1", "softmax"}, {"tau", "0.5"}}) == Names{"delta_former", "rls"}));
    BOOST_TEST((answered({{"delta_former.kappa1", "exp"}}) == Names{"rls"}));
  } catch (const Error &none) {
    BOOST_TEST(std::string(none.what()) == "--peers needs a python3 with PyTorch and NumPy, and none was found");
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
