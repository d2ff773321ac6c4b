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
      bench_peers(plan, 0, [&](BenchResult r) { results.push_back(std::move(r)); });
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

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
