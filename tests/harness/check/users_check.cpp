// SPDX-License-Identifier: Apache-2.0
// The size of the noise, and how verdicts of texts are combined. tests/files/test_check_conventions.py checks kernels
// in every convention.
#include "harness/check/users_check.hpp"
#include "harness/call/packed.hpp"
#include "harness/check/samples.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(users_checks)

using Numbers = std::vector<double>;

CheckCase layer_case(const char *layer, const Shape &shape, int states, bool gradient) {
  const Variant &v = find_variant(layer);
  CheckCase problem{v, variant_params(v), sample(v, shape, "random", 1), {}, false};
  Shape of_states = shape;
  of_states.B = states;
  problem.given.state = plausible_state(v, of_states, problem.params, 1);
  if (gradient)
    problem.weights = {Stream(1, "do").normals(problem.given.v.size()),
                       Stream(1, "dstate").normals(problem.given.state.size())};
  return problem;
}

Convention raw_gates() {
  Convention c;
  c.gate = Gate::gdn, c.strength = Strength::sigmoid, c.scale = {Scale::rsqrt, 1}, c.l2norm = 1e-6;
  return c;
}

UsersCase packed_case(Precision precision, const Convention &c = raw_gates(), bool gradient = true) {
  Sharing sharing;
  sharing.q_heads = sharing.k_heads = 2, sharing.cu_seqlens = {0, 30, 30, 47};
  return users_case(layer_case("gated_delta_net", {1, 4, 50, 8, 6}, 3, gradient), c, sharing, precision, 1);
}

/// The definition's results on these inputs, in the user's arrays.
Candidate computed(const UsersCase &problem) {
  const LayerInputs inputs = layer_inputs(problem);
  std::vector<TextResults> results;
  for (size_t text = 0; text < inputs.texts.size(); ++text) {
    if (inputs.texts[text].empty()) {
      results.push_back(results_of_empty(inputs, problem.variant, text));
      continue;
    }
    const CheckCase one = case_of(problem, inputs, text);
    results.push_back({outputs_of(one), {}});
    if (problem.gradient) results.back().gradient = gradients_of(one);
  }
  const UsersArrays user = in_layer_order(problem.in_file, problem.convention);
  return {in_file_order(to_user(user, inputs, problem.convention, results), problem.convention), {}};
}

void round(UsersArrays &arrays, Precision precision) {
  for (auto &[name, array] : arrays)
    for (double &x : array.data) x = rounded(x, ArrayTypes().stored(name, precision));
}

/// A kernel that rounds what it converts (normalised rows, logarithms of gates), and its results.
Candidate honest(const UsersCase &problem, Precision precision) {
  UsersCase rounded_inputs = problem;
  for (const char *name : {"q", "k"}) {
    UsersArray &rows = rounded_inputs.in_file.at(name);
    const size_t width = size_t(rows.dims[3]);
    for (size_t row = 0; row < rows.data.size(); row += width) {
      double squares = *problem.convention.l2norm;
      for (size_t j = row; j < row + width; ++j) squares += rows.data[j] * rows.data[j];
      for (size_t j = row; j < row + width; ++j)
        rows.data[j] = rounded(rows.data[j] / std::sqrt(squares), precision) * std::sqrt(squares);
    }
  }
  for (double &x : rounded_inputs.in_file.at("alpha").data) x = rounded(x, precision);
  Candidate found = computed(rounded_inputs);
  round(found.in_file, precision);
  return found;
}

std::vector<std::string> wrong_parts(const Checked &found) {
  std::vector<std::string> names;
  for (const Judged &part : found.parts)
    if (part.judgement == Judgement::wrong) names.push_back(part.name);
  return names;
}

BOOST_AUTO_TEST_CASE(a_kernel_that_rounds_what_it_converts_is_right_in_every_type) {
  for (Precision precision : {Precision::f32, Precision::f16, Precision::bf16}) BOOST_TEST_CONTEXT(name_of(precision)) {
      const UsersCase problem = packed_case(precision);
      const UsersReference reference(problem, layer_inputs(problem));
      const Checked found = reference.check(honest(problem, precision), precision);
      BOOST_TEST((found.judgement == Judgement::right), found.reason << " " << found.where);
      double largest = 0;
      for (const Judged &part : found.parts) largest = std::max(largest, part.row);
      BOOST_TEST((largest > 0.05 && largest < 5), largest); // the noise has the size of the errors
    }
}

BOOST_AUTO_TEST_CASE(zeros_and_small_faults_are_wrong_in_every_array) {
  const UsersCase problem = packed_case(Precision::f32);
  const UsersReference reference(problem, layer_inputs(problem));
  const Candidate right = computed(problem);
  for (const auto &[name, array] : right.in_file) {
    const std::string part = name == "final_state" ? "state" : name;
    for (double factor : {0.0, 1.001}) {
      Candidate wrong = right;
      for (double &x : wrong.in_file.at(name).data) x *= factor;
      const std::vector<std::string> names = wrong_parts(reference.check(wrong, Precision::f32));
      const bool found = !names.empty() && std::all_of(names.begin(), names.end(),
                                                       [&](const std::string &one) { return one.rfind(part, 0) == 0; });
      BOOST_TEST(found, name << " times " << factor);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_text_that_is_wrong_is_named) {
  const Convention plain;
  const UsersCase problem = packed_case(Precision::f32, plain, false);
  const UsersReference reference(problem, layer_inputs(problem));
  Candidate wrong = computed(problem);
  UsersArray &o = wrong.in_file.at("o"); // [1,4,50,6]
  for (size_t h = 0; h < 4; ++h)
    for (size_t t = 30; t < 47; ++t)
      for (size_t i = 0; i < 6; ++i) o.data[(h * 50 + t) * 6 + i] /= std::sqrt(8.0);
  const Checked found = reference.check(wrong, Precision::f32);
  BOOST_TEST((wrong_parts(found) == std::vector<std::string>{"o[2]"}));
  BOOST_TEST(found.where.rfind("text 2 (its step 0 is step 30): ", 0) == 0, found.where);
  BOOST_TEST_REQUIRE(!found.diagnosis.empty());
  BOOST_TEST(found.diagnosis[0].rfind("text 2: ", 0) == 0, found.diagnosis[0]);
}

BOOST_AUTO_TEST_CASE(one_of_130_short_texts_is_wrong_alone) {
  Sharing sharing;
  sharing.cu_seqlens = {0};
  for (int text = 0; text < 130; ++text) sharing.cu_seqlens.push_back(sharing.cu_seqlens.back() + text % 4); // 0 to 3
  const int T = sharing.cu_seqlens.back();
  const UsersCase problem =
      users_case(layer_case("gated_delta_net", {1, 2, T, 8, 6}, 130, true), {}, sharing, Precision::f32, 1);
  const UsersReference reference(problem, layer_inputs(problem));
  Candidate candidate = computed(problem);
  round(candidate.in_file, Precision::f32);
  BOOST_TEST(reference.check(candidate, Precision::f32).right());
  UsersArray &dstate = candidate.in_file.at("dstate"); // [130,2,6,8]
  const size_t size = dstate.data.size() / 130;
  for (size_t i = 117 * size; i < 118 * size; ++i) dstate.data[i] = 0;
  BOOST_TEST((wrong_parts(reference.check(candidate, Precision::f32)) == std::vector<std::string>{"dstate[117]"}));
}

BOOST_AUTO_TEST_CASE(parts_go_by_the_users_names) {
  CheckCase layer = layer_case("gated_delta_net", {1, 2, 40, 8, 6}, 1, true);
  const UsersCase problem = users_case(layer, preset("fla"), {}, Precision::f32, 1);
  const UsersReference reference(problem, layer_inputs(problem));
  Candidate wrong = computed(problem);
  wrong.in_file.at("final_state").name = "ht"; // the other name that fla has for it
  for (double &x : wrong.in_file.at("dalpha").data) x = 0;
  wrong.in_file.erase("dstate");
  const Checked found = reference.check(wrong, Precision::f32);
  BOOST_TEST((found.names == PartNames{{"state", "ht"}, {"dalpha", "dg"}, {"dstate", "dh0"}}));
  BOOST_TEST(called("dalpha", found.names) == "dg (dalpha)");
  BOOST_TEST(called("dq", found.names) == "dq");
  BOOST_TEST(found.where.find("dg (dalpha) is wrong, o, ht (state), dq") != std::string::npos, found.where);
  BOOST_TEST_REQUIRE(!found.diagnosis.empty());
  BOOST_TEST(found.diagnosis[0].find("dg (dalpha)") != std::string::npos, found.diagnosis[0]);
  BOOST_TEST((found.not_checked == std::vector<std::string>{"dstate"}));
  wrong = computed(problem);
  for (const char *name : {"do", "dfinal_state"}) BOOST_TEST(!wrong.in_file.count(name));
  wrong.in_file.at("dstate").data[0] += 10;
  BOOST_TEST(reference.check(wrong, Precision::f32).where.rfind("dh0 (dstate) is wrong", 0) == 0);
}

BOOST_AUTO_TEST_CASE(the_layers_own_arrays_are_judged_as_ever) {
  CheckCase problem = layer_case("gated_delta_net", {1, 2, 40, 8, 6}, 1, true);
  const UsersCase users = users_case(problem, {}, {}, Precision::f32, 1);
  const LayerInputs inputs = layer_inputs(users);
  const CheckCase rounded_case = case_of(users, inputs, 0);
  const Reference layer(rounded_case);
  const UsersReference reference(users, inputs);
  BOOST_TEST_REQUIRE(reference.results().size() == layer.results().size());
  Candidate candidate = computed(users);
  round(candidate.in_file, Precision::bf16);
  const Sequence gradient = gradients_of(rounded_case);
  PartList parts = as_results(rounded_case, outputs_of(rounded_case), gradient);
  for (Part &part : parts)
    for (double &x : part.values) x = rounded(x, Precision::bf16);
  const Checked by_user = reference.check(candidate, Precision::bf16), by_layer = check(layer, parts, Precision::bf16);
  BOOST_TEST_REQUIRE(by_user.parts.size() == by_layer.parts.size());
  for (size_t i = 0; i < by_user.parts.size(); ++i)
    BOOST_TEST((by_user.parts[i].row == by_layer.parts[i].row && by_user.parts[i].head == by_layer.parts[i].head),
               by_user.parts[i].name);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
