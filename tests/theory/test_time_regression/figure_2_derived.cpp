// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(figure_2_derived)

BOOST_AUTO_TEST_CASE(claims_hold_at_points_of_my_own) {
  check_claim_at("fig2_output_norm_identity", {{"d", "10"}});
  for (const char *id : {"fig2_naive_never_beaten", "fig2_consistent_reading", "fig2_forgetting_helps"})
    check_claim_at(id, {{"noise", "chain"}, {"correlation", "0.3"}, {"start", "zero"}});
  check_claim_at("fig2_consistent_reading", {{"noise", "chain"}, {"correlation", "0.95"}});
  refuse_point("fig2_consistent_reading", {{"noise", "equicorrelated"}, {"correlation", "0.8"}});
}

BOOST_AUTO_TEST_CASE(the_output_norm_fixes_the_loss) {
  // Targets of norm 1 in D = 4 channels, a read at 60 degrees (cosine 1/2): scaled to norm 1 the loss is 2 - 1 = 1,
  // scaled to RMS 1 (norm 2) it is 1 + 4 - 2 = 3 = (2 - 1)^2 + 2 * 1.
  const std::vector<double> target{1, 0, 0, 0}, read{5, 5 * std::sqrt(3.0), 0, 0};
  for (const auto &[output, expected] : {std::pair{"unit", 1.0}, {"rms", 3.0}}) {
    const Task &task = find_task("online_regression");
    const Params params =
        resolve(task.params, {{"sequences", "1"}, {"T", "4"}, {"d", "4"}, {"output", output}}, "task");
    Problem problem = task.generate(params, 1);
    Output reads;
    problem.target.clear();
    for (int t = 0; t < 4; ++t) {
      problem.target.insert(problem.target.end(), target.begin(), target.end());
      reads.o.insert(reads.o.end(), read.begin(), read.end());
    }
    BOOST_TEST(std::fabs(task.score(params, problem, reads).metrics[0].second - expected) < 1e-14);
  }
}

BOOST_AUTO_TEST_CASE(the_first_quarter_is_harder) {
  check_claim_at("fig2_first_quarter", {{"noise", "chain"}, {"correlation", "0.9"}});
  refuse_point("fig2_naive_never_beaten", {{"noise", "equicorrelated"}, {"correlation", "0.95"}});
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
