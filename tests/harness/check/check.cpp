// SPDX-License-Identifier: Apache-2.0
#include "harness/check/check.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(checks)

CheckCase gated_case() {
  const Variant &v = find_variant("gated_delta_net");
  CheckCase problem{v, variant_params(v), random_sequence({1, 2, 40, 6, 4}, 1), {}, false};
  problem.given.state = Stream(1, "state").normals(2 * 24);
  return problem;
}
const Reference &reference() {
  static const Reference found(gated_case());
  return found;
}
Checked checked(const PartList &candidate, Precision precision = Precision::bf16) {
  return check(reference(), candidate, precision);
}

BOOST_AUTO_TEST_CASE(the_definition_is_right_in_every_type_without_error) {
  for (Precision precision : all_precisions) {
    const Checked found = checked(reference().results(), precision);
    BOOST_TEST(found.right(), name_of(precision));
    BOOST_TEST_REQUIRE(found.parts.size() == 2u);
    for (const Judged &part : found.parts) BOOST_TEST((part.row == 0 && part.worst == 0));
    BOOST_TEST((found.not_checked.empty() && found.diagnosis.empty()));
  }
}

BOOST_AUTO_TEST_CASE(zeros_are_wrong_in_every_type) {
  for (Precision precision : all_precisions)
    for (const char *name : {"o", "state"}) {
      PartList candidate = reference().results();
      for (double &x : find_part(candidate, name)->values) x = 0;
      BOOST_TEST((checked(candidate, precision).judgement == Judgement::wrong), name << name_of(precision));
    }
}

BOOST_AUTO_TEST_CASE(infinity_is_right_only_where_the_definition_exceeds_the_type) {
  CheckCase problem = gated_case();
  for (double &x : problem.given.q) x *= 400;
  for (double &x : problem.given.v) x *= 400;
  const Reference large(problem);
  PartList stored = large.results();
  for (Part &part : stored)
    for (double &x : part.values) x = rounded(x, Precision::f16);
  const std::vector<double> &right = large.results().at(0).values, &o = stored.at(0).values;
  const auto overflow = std::find_if(o.begin(), o.end(), [](double x) { return std::isinf(x); });
  BOOST_TEST_REQUIRE((overflow != o.end()));
  const size_t there = size_t(overflow - o.begin());
  size_t small = 0; // values that are far inside the range
  for (size_t i = 0; i < right.size(); ++i)
    if (std::fabs(right[i]) < std::fabs(right[small])) small = i;
  const auto judged = [&](size_t i, double x, Precision precision = Precision::f16) {
    PartList candidate = stored;
    candidate.at(0).values[i] = x;
    return check(large, candidate, precision).judgement;
  };
  BOOST_TEST((judged(there, o[there]) == Judgement::right));
  BOOST_TEST((judged(there, o[there], Precision::bf16) == Judgement::wrong)); // a type that holds the value
  BOOST_TEST((judged(there, -o[there]) == Judgement::wrong));
  BOOST_TEST((judged(there, std::nan("")) == Judgement::wrong));
  BOOST_TEST((judged(there, 0) == Judgement::wrong));
  BOOST_TEST((judged(small, std::copysign(HUGE_VAL, right[small])) == Judgement::wrong));
  BOOST_TEST((judged(small, right[small] + 5000) == Judgement::wrong));
}

BOOST_AUTO_TEST_CASE(one_wrong_step_is_named_by_where_it_is) {
  PartList candidate = reference().results();
  candidate.at(0).values[(size_t(1) * 40 + 17) * 4 + 2] += 1; // head 1, step 17, channel 2
  const Checked found = checked(candidate);
  BOOST_TEST((found.judgement == Judgement::wrong));
  BOOST_TEST((found.parts.at(0).first_bad == std::vector<long>{0, 1, 17, 2}));
  BOOST_TEST((found.parts.at(1).judgement == Judgement::right));
  for (const auto &[first, end, worst] : found.by_step) BOOST_TEST((worst > 0) == (first <= 17 && 17 < end));
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_said_and_nothing_at_all_decides_nothing) {
  PartList outputs_alone = reference().results();
  outputs_alone.pop_back();
  const Checked found = checked(outputs_alone);
  BOOST_TEST((found.right() && found.not_checked == std::vector<std::string>{"state"}));
  BOOST_TEST((checked({}).judgement == Judgement::undecided && !checked({}).reason.empty()));
}

BOOST_AUTO_TEST_CASE(the_gradient_of_a_symmetric_state_may_stand_in_one_triangle) {
  const Variant &v = find_variant("rls");
  CheckCase problem{v, variant_params(v), random_sequence({1, 1, 6, 3, 2}, 1), {}, false};
  for (Tensor tensor : {Tensor::beta, Tensor::alpha, Tensor::lambda, Tensor::w}) problem.given[tensor].clear();
  problem.given.state = outputs_of(problem).state;
  problem.weights = {Stream(1, "do").normals(12), Stream(1, "dstate").normals(problem.given.state.size())};
  const Reference definition(problem);
  PartList candidate = definition.results();
  std::vector<double> &dstate = find_part(candidate, "dstate")->values;
  double *const P = dstate.data() + 2 * 3; // below S [2,3]: P [3,3]
  for (int i = 0; i < 3; ++i)
    for (int j = i + 1; j < 3; ++j) P[i * 3 + j] += P[j * 3 + i], P[j * 3 + i] = 0;
  BOOST_TEST(check(definition, candidate, Precision::f32).right());
  P[1] *= 2;
  BOOST_TEST((check(definition, candidate, Precision::f32).judgement == Judgement::wrong));
}

BOOST_AUTO_TEST_CASE(float32_forms_are_right_as_float32_and_rounded_operands_are_not) {
  const CheckCase problem = gated_case();
  Run run{"chunked", Real::f32, 16, problem.params};
  BOOST_TEST(checked(as_results(problem, forward(problem.variant, problem.given, run)), Precision::f32).right());
  CheckCase low = problem;
  for (double &x : low.given.v) x = rounded(x, Precision::bf16);
  const PartList coarse = as_results(low, outputs_of(low));
  BOOST_TEST(checked(coarse, Precision::bf16).right());
  BOOST_TEST((checked(coarse, Precision::f32).judgement == Judgement::wrong));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
