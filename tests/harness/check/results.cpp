// SPDX-License-Identifier: Apache-2.0
#include "harness/check/results.hpp"
#include "harness/call/segment.hpp"
#include "harness/check/battery.hpp"
#include "harness/check/noise.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <optional>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(results_of_kernels)

CheckCase problem_of(const std::string &name, const Shape &shape, bool log_gates = false) {
  const Variant &v = find_variant(name);
  CheckCase problem{v, variant_params(v), random_sequence(shape, 3), {}, log_gates};
  const size_t state = v.state_shape(shape, problem.params).size() * shape.heads();
  problem.weights = {Stream(3, "do").normals(problem.given.v.size()), Stream(3, "dstate").normals(state)};
  if (state) problem.given.state = Stream(3, "state").normals(state);
  return problem;
}

/// Largest difference of two parts over the largest number.
double apart(const Part &a, const Part &b) { return max_difference(a.values, b.values) / max_abs(b.values); }

BOOST_AUTO_TEST_CASE(segments_whose_handovers_are_left_alone_give_the_whole) {
  for (const char *name : {"linear", "gated_delta_net", "softmax"}) {
    const CheckCase problem = problem_of(name, {2, 2, 21, 5, 4});
    const PartList whole = definition_of(problem),
                   parts = in_segments(problem, 8, [](std::vector<double> &, const std::string &) {});
    BOOST_TEST_REQUIRE(whole.size() == parts.size(), name);
    for (size_t i = 0; i < whole.size(); ++i) BOOST_TEST(apart(parts[i], whole[i]) < 1e-12, name << whole[i].name);
  }
}

/// The shortest case of the battery that has more than one head; it has one or two steps.
CheckCase short_case_with_heads(const Variant &v) {
  std::optional<CheckCase> found;
  for (const BatteryCase &one : battery(v, variant_params(v), Precision::f32, true, 1, 2)) {
    const Shape &n = one.problem.given.shape;
    if (n.heads() > 1 && (!found || n.T < found->given.shape.T)) found.emplace(one.problem);
  }
  BOOST_TEST_REQUIRE(found.has_value(), v.name);
  return *found;
}

/// The numbers of `part` that belong to the heads of `own`, the first of which is `first`.
std::vector<double> of_heads(const Part &part, const Part &own, size_t first) {
  const auto begin = part.values.begin() + std::ptrdiff_t(first * part.rows * part.columns);
  return {begin, begin + std::ptrdiff_t(own.values.size())};
}

BOOST_AUTO_TEST_CASE(heads_of_every_layer_computed_alone_are_those_of_the_whole) {
  const auto nothing = [](std::vector<double> &, const std::string &) {};
  for (const Variant &v : all_variants()) {
    const CheckCase problem = short_case_with_heads(v);
    const PartList whole = in_segments(problem, 8, nothing);
    std::vector<std::pair<size_t, PartList>> found(problem.given.shape.heads());
    over_heads(problem, [&](const CheckCase &own, size_t first) {
      found[first] = {own.given.shape.heads(), in_segments(own, 8, nothing)};
    });
    size_t heads = 0;
    for (size_t first = 0; first < found.size(); ++first) {
      heads += found[first].first;
      for (const Part &own : found[first].second) {
        const Part &part = *find_part(whole, own.name);
        BOOST_TEST(max_difference(own.values, of_heads(part, own, first)) <= 1e-12 * max_abs(part.values),
                   v.name << " " << own.name);
      }
      if (found[first].first) BOOST_TEST(found[first].second.size() == whole.size(), v.name);
    }
    BOOST_TEST(heads == problem.given.shape.heads(), v.name);
  }
}

BOOST_AUTO_TEST_CASE(a_head_is_disturbed_alone_as_in_the_whole) {
  for (const char *name : {"gated_delta_net", "gated_linear", "rwkv7"}) {
    const CheckCase problem = short_case_with_heads(find_variant(name));
    for (Precision precision : {Precision::f32, Precision::bf16}) {
      const CheckCase whole = disturbed(problem, precision, 3, 64);
      for (size_t head = 0; head < problem.given.shape.heads(); ++head) {
        CheckCase own = problem;
        own.given = slice_heads(problem.given, head, 1), own.weights = {};
        const Sequence alone = disturbed(own, precision, 3, 64, head).given, part = slice_heads(whole.given, head, 1);
        for (Tensor tensor : all_tensors) BOOST_TEST((alone[tensor] == part[tensor]), name << name_of(tensor));
        BOOST_TEST((alone.state == part.state), name);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_state_lost_between_segments_shows_in_outputs_and_its_gradient_in_gradients) {
  const CheckCase problem = problem_of("gated_delta_net", {1, 1, 12, 5, 4});
  const PartList whole = definition_of(problem);
  const auto lost = [&](const std::string &which) {
    return in_segments(problem, 6, [&](std::vector<double> &numbers, const std::string &what) {
      if (what == which) std::fill(numbers.begin(), numbers.end(), 0.0);
    });
  };
  const auto difference = [&](const PartList &found, const std::string &name) {
    return apart(*find_part(found, name), *find_part(whole, name));
  };
  BOOST_TEST((difference(lost("state"), "o") > 0.01 && difference(lost("state"), "state") > 0.01));
  BOOST_TEST((difference(lost("dstate"), "o") < 1e-14 && difference(lost("dstate"), "dk") > 0.01));
}

BOOST_AUTO_TEST_CASE(gradients_of_logarithms_are_those_of_gates_times_the_gates) {
  const CheckCase factors = problem_of("gated_delta_net", {1, 1, 6, 3, 2}),
                  logs = problem_of("gated_delta_net", {1, 1, 6, 3, 2}, true);
  std::vector<double> expected = find_part(definition_of(factors), "dalpha")->values;
  for (size_t i = 0; i < expected.size(); ++i) expected[i] *= factors.given.alpha[i];
  check_close(find_part(definition_of(logs), "dalpha")->values, expected, 1e-13);
}

/// mlstm where each step ties with the memory's unit, max(1 * 2, |2|); differences are not derivatives at a tie.
BOOST_AUTO_TEST_CASE(at_a_kink_the_declared_subgradient_is_the_reference) {
  if (!takes_gradients()) return;
  CheckCase problem = problem_of("mlstm", {1, 1, 52, 64, 64}); // more operations than a quick tape
  std::fill(problem.given.alpha.begin(), problem.given.alpha.end(), 1.0);
  std::fill(problem.given.beta.begin(), problem.given.beta.end(), 2.0);
  problem.given.state.clear();
  const PartList found = definition_of(problem);
  const Sequence tape = gradient(problem.variant, problem.given, problem.params, problem.weights);
  check_close(find_part(found, "dbeta")->values, tape.beta, 1e-12 * max_abs(tape.beta));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
