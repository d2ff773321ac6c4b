// SPDX-License-Identifier: Apache-2.0
#include "harness/check/users_case.hpp"
#include "harness/core/error.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(users_cases)

CheckCase small_case() {
  const Variant &v = find_variant("delta_net");
  CheckCase problem{v, variant_params(v), random_sequence({1, 2, 5, 3, 4}, 1), {}, false};
  for (Tensor tensor : {Tensor::alpha, Tensor::lambda, Tensor::w}) problem.given[tensor].clear();
  problem.given.state.assign(2 * 4 * 3, 0.5);
  problem.weights.o.assign(2 * 5 * 4, 0.25);
  return problem;
}

bool says(const Error &error, const std::string &what) {
  return std::string(error.what()).find(what) != std::string::npos;
}

BOOST_AUTO_TEST_CASE(a_case_comes_back_as_the_type_holds_it) {
  const Folder folder;
  for (const char *convention : {"", "fla", "flashinfer"})
    for (const char *name : {"case.npz", "case.h5"}) {
      const Convention c = *convention ? preset(convention) : Convention();
      const UsersCase problem = users_case(small_case(), c, {}, Precision::bf16, 1);
      write_case(folder / name, problem, Precision::bf16, {});
      const UsersCase back = read_case(folder / name, problem.variant, problem.params, c, true);
      BOOST_TEST_REQUIRE(back.in_file.size() == problem.in_file.size());
      for (const auto &[array, one] : problem.in_file)
        BOOST_TEST((back.in_file.at(array).data == one.data && back.in_file.at(array).dims == one.dims), array);
      for (double x : back.in_file.at("k").data) BOOST_TEST_REQUIRE(rounded(x, Precision::bf16) == x);
      BOOST_TEST(inexact_inputs(back, Precision::bf16).empty());
    }
}

BOOST_AUTO_TEST_CASE(numbers_that_the_type_of_their_array_cannot_hold_are_named) {
  const auto names = [](const UsersCase &problem) {
    std::vector<std::string> found;
    for (const TypedArray &one : inexact_inputs(problem, Precision::bf16)) found.push_back(one.name);
    return found;
  };
  UsersCase problem = users_case(small_case(), {}, {}, Precision::bf16, 1, {{"state", Precision::f32}});
  BOOST_TEST(names(problem).empty());
  problem.in_file["k"].data[0] = 0.1, problem.in_file["state"].data[0] = double(0.1f);
  BOOST_TEST((names(problem) == std::vector<std::string>{"k"}));
  problem.in_file["state"].data[0] = 0.1;
  BOOST_TEST((names(problem) == std::vector<std::string>{"k", "state"}));
}

BOOST_AUTO_TEST_CASE(a_file_of_float32_says_nothing_of_narrower_types) {
  const Folder folder;
  const UsersCase written = users_case(small_case(), {}, {}, Precision::bf16, 1);
  write_case(folder / "in.npz", written, Precision::bf16, {}); // float32 in the file
  UsersCase read = read_case(folder / "in.npz", written.variant, written.params, {}, true);
  BOOST_TEST((read.types.stored("state", Precision::bf16) == Precision::bf16));
  BOOST_TEST(read_arrays(folder / "in.npz", {{"q", 4, ""}}).at("q").type == "f32");
}

BOOST_AUTO_TEST_CASE(a_dataset_that_nobody_knows_is_an_error_and_not_ignored) {
  const Folder folder;
  write_arrays(folder / "out.npz", {{"o", {{1, 2, 5, 4}, std::vector<double>(40, 1.0)}}, {"final_state", {{1}, {1}}}},
               Real::f32, {});
  const UsersCase problem = users_case(small_case(), {}, {}, Precision::f32, 1);
  BOOST_CHECK_EXCEPTION(read_candidate(folder / "out.npz", problem, layer_inputs(problem)), Error,
                        [](const Error &error) { return says(error, "final_state"); });
}

BOOST_AUTO_TEST_CASE(shapes_of_another_convention_name_its_switch) {
  const Folder folder;
  Convention kv;
  kv.state_kv = true;
  const UsersCase problem = users_case(small_case(), kv, {}, Precision::f32, 1);
  write_case(folder / "in.npz", problem, Precision::f32, {});
  BOOST_CHECK_EXCEPTION(read_case(folder / "in.npz", problem.variant, problem.params, {}, true), Error,
                        [](const Error &error) {
                          return says(error, "in.npz: dataset state has shape [1,2,3,4], needs [1,2,4,3]") &&
                                 says(error, "; the arrays fit with --state kv");
                        });
  write_arrays(folder / "out.npz", {{"o", {{1, 5, 2, 4}, std::vector<double>(40, 1.0)}}}, Real::f32, {});
  UsersCase without_state = problem;
  without_state.in_file.erase("state");
  BOOST_CHECK_EXCEPTION(
      read_candidate(folder / "out.npz", without_state, layer_inputs(without_state)), Error,
      [](const Error &error) { return says(error, "dataset o has shape [1,5,2,4], needs [1,2,5,4]"); });
}

BOOST_AUTO_TEST_CASE(results_are_cut_into_texts) {
  const Variant &linear = find_variant("linear");
  const UsersArrays user{{"q", {{1, 1, 4, 1}, {1, 2, 3, 4}, ""}},
                         {"k", {{1, 1, 4, 1}, {1, 1, 1, 1}, ""}},
                         {"v", {{1, 1, 4, 1}, {5, 6, 7, 8}, ""}},
                         {"cu_seqlens", {{4}, {0, 2, 2, 3}, ""}}};
  const LayerInputs inputs = to_layer(user, linear, variant_params(linear), {}, false);
  const UsersArrays results{{"o", {{1, 1, 4, 1}, {1, 2, 3, NAN}, ""}},
                            {"final_state", {{3, 1, 1, 1}, {10, 20, 30}, ""}},
                            {"dA_log", {{1}, {7}, ""}}};
  const std::vector<PartList> parts = parts_by_text(results, inputs, linear);
  BOOST_TEST_REQUIRE(parts.size() == 4u); // three texts, and the parameters
  BOOST_TEST((find_part(parts[0], "o")->values == std::vector<double>{1, 2}));
  BOOST_TEST((!find_part(parts[1], "o") && find_part(parts[1], "state")->values == std::vector<double>{20}));
  BOOST_TEST((find_part(parts[2], "o")->values == std::vector<double>{3})); // the step outside every text is not judged
  BOOST_TEST((find_part(parts[3], "dA_log")->values == std::vector<double>{7}));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
