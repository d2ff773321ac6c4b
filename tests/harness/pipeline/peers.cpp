// SPDX-License-Identifier: Apache-2.0
// tests/files/test_peers.py holds the peers' outputs to ours; here how the program asks them.
#include "harness/pipeline/peers.hpp"
#include "harness/core/error.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(peers)

BOOST_AUTO_TEST_CASE(peers_are_timed_or_their_absence_is_said) {
  BenchRequest request;
  request.variants = {"linear", "dijiang"}, request.shapes = {{1, 1, 64, 8, 8}, {2, 1, 32, 4, 6}};
  try {
    for (const bool backward : {false, true}) {
      request.backward = backward;
      const std::vector<BenchCase> plan = bench_plan(request);
      std::vector<BenchResult> results;
      std::vector<int> begun;
      bench_peers(
          plan, 0, [&](const BenchCase &c) { begun.push_back(c.index); },
          [&](BenchResult r) { results.push_back(std::move(r)); });
      BOOST_TEST((begun == std::vector<int>{0, 1, 2, 3}));
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

BOOST_AUTO_TEST_CASE(no_peer_answers_for_parameters_that_it_does_not_take) {
  BenchRequest request;
  request.variants = {"delta_former", "rls"}, request.forms = {"recurrent"}, request.shapes = {{1, 1, 16, 4, 4}};
  const auto answered = [&](const Assignments &settings) {
    request.settings = settings;
    const std::vector<BenchCase> plan = bench_plan(request);
    std::vector<std::string> by;
    bench_peers(
        plan, 0, [](const BenchCase &) {}, [&](BenchResult r) { by.push_back(r.bench_case->variant->name); });
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
