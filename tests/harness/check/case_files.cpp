// SPDX-License-Identifier: Apache-2.0
#include "harness/check/case_files.hpp"
#include "harness/core/error.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(case_files)

CheckCase small_case() {
  const Variant &v = find_variant("delta_net");
  CheckCase problem{v, variant_params(v), random_sequence({1, 2, 5, 3, 4}, 1), {}, false};
  for (Tensor tensor : {Tensor::alpha, Tensor::lambda, Tensor::w}) problem.given[tensor].clear();
  problem.given.state.assign(2 * 4 * 3, 0.5);
  problem.weights.o.assign(2 * 5 * 4, 0.25);
  return problem;
}

BOOST_AUTO_TEST_CASE(a_case_comes_back_as_the_type_holds_it) {
  const Folder folder;
  CheckCase problem = small_case();
  round_case(problem, Precision::bf16, {});
  for (const char *name : {"case.npz", "case.h5"}) {
    write_case(folder / name, problem, {}, Precision::bf16, {});
    const CheckCase back = read_case(folder / name, problem.variant, problem.params, {}, true);
    for (Tensor tensor : all_tensors) BOOST_TEST(back.given[tensor] == problem.given[tensor], name_of(tensor));
    BOOST_TEST((back.given.state == problem.given.state && back.weights.o == problem.weights.o));
    for (double x : back.given.k) BOOST_TEST_REQUIRE(rounded(x, Precision::bf16) == x);
  }
}

BOOST_AUTO_TEST_CASE(a_dataset_that_nobody_knows_is_an_error_and_not_ignored) {
  const Folder folder;
  write_arrays(folder / "out.npz", {{"o", {{1, 2, 5, 4}, std::vector<double>(40, 1.0)}}, {"final_state", {{1}, {1}}}},
               Real::f32, {});
  BOOST_CHECK_EXCEPTION(read_candidate(folder / "out.npz", small_case(), {}), Error, [](const Error &error) {
    return std::string(error.what()).find("final_state") != std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
