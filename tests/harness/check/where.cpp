// SPDX-License-Identifier: Apache-2.0
#include "harness/check/where.hpp"
#include "harness/check/plant.hpp"
#include "tests/harness/call/gradient_case.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(where_errors_live, *boost::unit_test::precondition(tape_runs))

/// B 2, H 4, T 120, Dk = Dv = 20.
const Reference &ground() {
  static const Reference reference(planting_ground(find_variant("gated_delta_net"), Precision::f32, false));
  return reference;
}

/// The message if part `name` is wrong in these rows (b, h, row) and columns.
std::string where(const std::string &name,
                  const std::function<bool(size_t b, size_t h, size_t row, size_t column)> &bad, double error = 1) {
  PartList candidate = ground().results();
  Part &part = *find_part(candidate, name);
  for (size_t i = 0; i < part.values.size(); ++i) {
    const size_t head = i / (part.rows * part.columns);
    if (bad(head / 4, head % 4, i / part.columns % part.rows, i % part.columns)) part.values[i] += error;
  }
  PartList judged{part}; // the other parts are missing
  return where_wrong(ground(), judged, judge_all(ground(), judged, Precision::f32), ground().noise(Precision::f32));
}

BOOST_AUTO_TEST_CASE(steps) {
  BOOST_TEST(where("o", [](size_t, size_t, size_t t, size_t) { return t == 119; }) == "o: the last step");
  BOOST_TEST(where("o", [](size_t, size_t, size_t t, size_t) { return t >= 64; }) ==
             "o: from step 64 on, the last partial chunk of 64");
  BOOST_TEST(where("o", [](size_t, size_t, size_t t, size_t) { return t >= 32; }) ==
             "o: from step 32 on, the first boundary of chunks of 32");
  BOOST_TEST(where("o", [](size_t, size_t, size_t t, size_t) { return t < 9; }) ==
             "o: before step 9, where the initial state still matters");
  BOOST_TEST(where("dv", [](size_t, size_t, size_t t, size_t) { return t % 16 == 3; }) == "dv: t mod 16 = 3");
  BOOST_TEST(where("dk", [](size_t, size_t, size_t t, size_t) { return t / 16 % 2 == 0; }) ==
             "dk: every second chunk of 16");
}

BOOST_AUTO_TEST_CASE(heads_and_channels) {
  BOOST_TEST(where("o", [](size_t b, size_t, size_t, size_t) { return b == 1; }) == "o: batch entry 1");
  BOOST_TEST(where("o", [](size_t, size_t h, size_t, size_t) { return h % 2; }) == "o: heads 1, 3");
  BOOST_TEST(where("o", [](size_t b, size_t h, size_t, size_t) { return b && h == 2; }) == "o: batch entry 1, head 2");
  BOOST_TEST(where("o", [](size_t, size_t h, size_t t, size_t) { return h == 1 && t >= 96; }) ==
             "o: head 1, from step 96 on, the last partial chunk of 32");
  BOOST_TEST(where("o", [](size_t, size_t, size_t, size_t j) { return j >= 16; }) == "o: channels 16 to 19");
  BOOST_TEST(where("state", [](size_t, size_t, size_t i, size_t) { return i < 4; }) == "state: rows 0 to 3");
  BOOST_TEST(where("state", [](size_t, size_t, size_t, size_t j) { return j == 5; }) == "state: column 5");
}

BOOST_AUTO_TEST_CASE(gates) {
  const std::vector<double> &alpha = ground().problem().given.alpha;
  const auto gate = [&](size_t b, size_t h, size_t t) { return alpha[(b * 4 + h) * 120 + t]; };
  BOOST_TEST(where("o", [&](size_t b, size_t h, size_t t, size_t) { return h == 2 && gate(b, h, t) == 0; }) ==
             "o: head 2, only where alpha is exactly 0");
  const std::string low = where(
      "dalpha", [&](size_t b, size_t h, size_t t, size_t) { return gate(b, h, t) < 0.05; }, 100);
  BOOST_TEST(low.rfind("dalpha: heads 2, 3, only where alpha is at most 0.0", 0) == 0, low);
}

BOOST_AUTO_TEST_CASE(parts_and_no_pattern) {
  PartList candidate = ground().results();
  for (double &x : find_part(candidate, "state")->values) x = std::nan("");
  const std::string said =
      where_wrong(ground(), candidate, judge_all(ground(), candidate, Precision::f32), ground().noise(Precision::f32));
  BOOST_TEST(said == "state is wrong, o, dq, dk, dv, dbeta, dalpha, dstate are right; state: not finite");
  BOOST_TEST(where("o", [](size_t b, size_t h, size_t t, size_t) { return (7 * t + 3 * h + b) % 5 < 2; }) == "");
  BOOST_TEST(where("o", [](size_t, size_t, size_t, size_t) { return true; }) == "");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
