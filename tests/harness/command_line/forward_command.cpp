// SPDX-License-Identifier: Apache-2.0
// What the command does with files. tests/files/test_forward.py compares outputs with NumPy's.
#include "harness/files/tensors.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(forward_command)

BOOST_AUTO_TEST_CASE(one_value_after_another_is_their_sum) {
  const Folder folder;
  const Sequence s = one_head(2, {1, 1}, {1, 1}, {2, 5});
  write_arrays(folder / "in.h5", {{"q", {{1, 1, 2, 1}, s.q}}, {"k", {{1, 1, 2, 1}, s.k}}, {"v", {{1, 1, 2, 1}, s.v}}},
               Real::f64, {});
  const std::string files = "-i '" + (folder / "in.h5") + "' -o '" + (folder / "out.npz") + "' --dtype f64";
  const Outcome o = run_program("forward linear " + files);
  BOOST_TEST((o.status == 0 && o.out.empty()), o.err);
  const UsersArrays read = read_users(folder / "out.npz", {"o", "final_state"}, {});
  BOOST_TEST((read.at("o").data == std::vector<double>{2, 7} && read.at("final_state").data == std::vector<double>{7}));
}

BOOST_AUTO_TEST_CASE(a_refused_input_leaves_no_output) {
  const Folder folder;
  write_arrays(folder / "in.h5", {{"q", {{1, 1, 1, 1}, {1}}}}, Real::f64, {});
  const Outcome o = run_program("forward linear -i '" + (folder / "in.h5") + "' -o '" + (folder / "out.h5") + "'");
  BOOST_TEST(o.status == 3);
  BOOST_TEST(o.err.find("dataset k is absent") != std::string::npos);
  BOOST_TEST(!std::filesystem::exists(folder / "out.h5"));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
