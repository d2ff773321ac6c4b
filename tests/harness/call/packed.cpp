// SPDX-License-Identifier: Apache-2.0
// Passes over packed texts and grouped heads, judged as `check --grad` judges a kernel's results: against the
// definition's, text by text and with q and k repeated for every head.
#include "harness/call/packed.hpp"
#include "harness/check/samples.hpp"
#include "harness/check/users_check.hpp"
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/device/backend.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(packed)

const char *const layers[] = {"linear", "retnet", "mamba2", "gated_linear", "delta_net", "gated_delta_net", "softmax"};

/// A case with a state per text and gradients of it.
UsersCase case_of(const char *layer, const Shape &shape, const Sharing &sharing, Precision precision) {
  const Variant &v = find_variant(layer);
  CheckCase problem{v, variant_params(v), sample(v, shape, "random", 1), {}, false};
  Shape of_states = shape;
  if (!sharing.cu_seqlens.empty()) of_states.B = int(sharing.cu_seqlens.size()) - 1;
  problem.given.state = plausible_state(v, of_states, problem.params, 1);
  problem.weights = {Stream(1, "do").normals(problem.given.v.size()),
                     Stream(1, "dstate").normals(problem.given.state.size())};
  return users_case(problem, {}, sharing, precision, 1);
}

Run fast_run(const LayerInputs &inputs, Real real) { return {"fast", real, 64, inputs.params}; }

/// The results of the fast form's passes.
std::vector<TextResults> results_of(const Variant &variant, const LayerInputs &inputs, Real real) {
  const Run run = fast_run(inputs, real);
  return by_text(inputs,
                 forward(variant, inputs, run, [](const std::string &note) { BOOST_ERROR("told of " << note); }),
                 gradient_by(variant, inputs, run));
}

Checked judged(const UsersCase &problem, Real real) {
  const LayerInputs inputs = layer_inputs(problem);
  const Candidate candidate{
      to_user(problem.in_file, inputs, problem.convention, results_of(problem.variant, inputs, real)), {}};
  return UsersReference(problem, layer_inputs(problem)).check(candidate, precision_of(real, Math::exact));
}

void all_right(const Shape &shape, const Sharing &sharing) {
  for (const char *layer : layers)
    for (Real real : {Real::f32, Real::bf16}) {
      const Checked found = judged(case_of(layer, shape, sharing, precision_of(real, Math::exact)), real);
      BOOST_TEST(found.right(), layer << " " << name_of(real) << ": " << found.where);
      BOOST_TEST(found.not_checked.empty(), layer);
    }
}

Sharing packed_texts() {
  Sharing sharing;
  sharing.cu_seqlens = {0, 70, 70, 71, 200}; // none, one, and numbers that are no multiples of a chunk
  return sharing;
}
Sharing groups_of_two() {
  Sharing sharing;
  sharing.q_heads = sharing.k_heads = 2;
  return sharing;
}

BOOST_AUTO_TEST_CASE(texts_of_any_length_have_states_of_their_own) { all_right({1, 2, 203, 20, 12}, packed_texts()); }
BOOST_AUTO_TEST_CASE(heads_share_queries_and_keys) { all_right({2, 4, 70, 16, 24}, groups_of_two()); }
BOOST_AUTO_TEST_CASE(heads_of_packed_texts_share_queries_and_keys) {
  Sharing both = packed_texts();
  both.q_heads = both.k_heads = 2;
  all_right({1, 4, 203, 16, 16}, both);
}

BOOST_AUTO_TEST_CASE(lengths_of_texts_give_their_starts) {
  BOOST_TEST((starts_of_texts("30,0,69", 100) == std::vector<int>{0, 30, 30, 99} && starts_of_texts("", 1).empty()));
  for (const char *wrong : {"60,41", "1.5", "-1", "101"})
    BOOST_CHECK_EXCEPTION(starts_of_texts(wrong, 100), Error, [&](const Error &error) {
      return error.what() == std::string("--texts needs whole numbers that add up to at most T = 100, got ") + wrong;
    });
}

BOOST_AUTO_TEST_CASE(a_packed_text_is_its_steps_and_its_state) {
  const UsersArrays user{{"q", {{1, 1, 4, 1}, {1, 2, 3, 4}, ""}},
                         {"k", {{1, 1, 4, 1}, {1, 1, 1, 1}, ""}},
                         {"v", {{1, 1, 4, 1}, {5, 6, 7, 8}, ""}},
                         {"cu_seqlens", {{4}, {0, 2, 2, 3}, ""}},
                         {"state", {{3, 1, 1, 1}, {10, 20, 30}, ""}}};
  const Variant &linear = find_variant("linear");
  const LayerInputs inputs = to_layer(user, linear, variant_params(linear), {}, false);
  BOOST_TEST_REQUIRE((inputs.packed && inputs.texts.size() == 3u && inputs.texts[1].empty()));
  const Sequence first = sequence_of(inputs, 0), last = sequence_of(inputs, 2);
  BOOST_TEST((first.q == std::vector<double>{1, 2} && first.v == std::vector<double>{5, 6} &&
              first.state == std::vector<double>{10}));
  BOOST_TEST((last.q == std::vector<double>{3} && last.v == std::vector<double>{7} &&
              last.state == std::vector<double>{30} && last.shape.T == 1));
  const TextResults empty = results_of_empty(inputs, linear, 1);
  BOOST_TEST((empty.output.state == std::vector<double>{20}));
  std::vector<TextResults> results{{forward(linear, first), {}}, empty, {forward(linear, last), {}}};
  const UsersArrays found = to_user(user, inputs, {}, results);
  BOOST_TEST((found.at("final_state").data == std::vector<double>{10 + 5 + 6, 20, 30 + 7}));
  BOOST_TEST((found.at("o").data == std::vector<double>{15, 42, 111, 0})); // S q, and 0 at the step outside every text
}

/// Also where the form takes the arrays as they are.
BOOST_AUTO_TEST_CASE(sums_over_groups_have_the_same_bits_twice) {
  const UsersCase problem = case_of("gated_delta_net", {2, 8, 130, 32, 32}, groups_of_two(), Precision::bf16);
  const LayerInputs inputs = layer_inputs(problem);
  const auto twice = [&] { return results_of(problem.variant, inputs, Real::bf16).at(0).gradient; };
  const Sequence first = twice(), second = twice();
  for (Tensor tensor : all_tensors) BOOST_TEST((first[tensor] == second[tensor]), name_of(tensor));
  BOOST_TEST(first.q.size() == inputs.all.q.size());
  BOOST_TEST(first.k.size() == size_t(2 * 2 * 130 * 32));
}

BOOST_AUTO_TEST_CASE(inputs_are_not_repeated) {
  const LayerInputs inputs = layer_inputs(case_of("linear", {2, 4, 5, 3, 2}, groups_of_two(), Precision::f32));
  BOOST_TEST((inputs.grouped() && inputs.key_heads == 2 && inputs.shape_of(Tensor::k).H == 2));
  BOOST_TEST(inputs.shape_of(Tensor::v).H == 4);
  BOOST_TEST(inputs.all.k.size() == size_t(2 * 2 * 5 * 3));
  const Sequence one = sequence_of(inputs, 0);
  BOOST_TEST((one.k.size() == size_t(2 * 4 * 5 * 3) && one.v == inputs.all.v && one.state == inputs.all.state));
  for (size_t head = 0; head < 8; ++head) // of both batch entries
    BOOST_TEST((std::equal(one.k.begin() + std::ptrdiff_t(head * 15), one.k.begin() + std::ptrdiff_t(head * 15 + 15),
                           inputs.all.k.begin() + std::ptrdiff_t(head / 2 * 15))),
               head);
}

/// The largest memory on the device during a forward pass.
double peak_of(const UsersCase &problem) {
  const LayerInputs inputs = layer_inputs(problem);
  return double(peak_bytes([&] {
    const Job job = prepare(problem.variant, inputs, fast_run(inputs, Real::bf16));
    job.reset();
    job.launch();
  }));
}

BOOST_AUTO_TEST_CASE(a_form_that_takes_shared_heads_allocates_no_repeated_array) {
  const Shape n{1, 8, 512, 64, 64};
  Sharing one_head;
  one_head.q_heads = one_head.k_heads = 1;
  const UsersCase shared = case_of("gated_delta_net", n, one_head, Precision::bf16);
  const LayerInputs inputs = layer_inputs(shared);
  const double saved = peak_of(case_of("gated_delta_net", n, {}, Precision::bf16)) - peak_of(shared),
               of_seven_heads = 2 * 7 * 512 * 64 * 2; // bytes of q and k
  if (takes_packed(shared.variant, inputs, fast_run(inputs, Real::bf16)))
    BOOST_TEST(saved >= 0.9 * of_seven_heads);
  else
    BOOST_TEST(std::fabs(saved) < 0.1 * of_seven_heads);
}

/// Only float64, and layers without such kernels, need a pass per text on a GPU.
BOOST_AUTO_TEST_CASE(forms_that_declare_it_take_the_arrays_as_they_are) {
  for (const char *layer : layers) {
    const UsersCase problem = case_of(layer, {1, 4, 203, 16, 16}, packed_texts(), Precision::f32);
    const LayerInputs inputs = layer_inputs(problem);
    const Variant &v = problem.variant;
    const Form *const chunked = v.find_form("chunked"); // softmax has none
    const bool packs = chunked && chunked->packs;
    BOOST_TEST(packs == (chunked && chunked->native.bf16), layer); // the kernels of 16 bits
    for (Real real : {Real::f32, Real::bf16, Real::f16}) {
      BOOST_TEST(takes_packed(v, inputs, fast_run(inputs, real)) == packs, layer);
      BOOST_TEST(takes_packed_backward(v, inputs, fast_run(inputs, real)) == packs, layer);
    }
    BOOST_TEST(!takes_packed(v, inputs, fast_run(inputs, Real::f64)), layer);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

} // namespace recollect
