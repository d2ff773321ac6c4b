// SPDX-License-Identifier: Apache-2.0
#include "harness/files/hdf5_file.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <nlohmann/json.hpp>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(bench_command)

BOOST_AUTO_TEST_CASE(a_sweep_is_timed_fitted_and_kept, *slow) {
  const Folder folder;
  const Outcome o =
      run_program("bench --variants linear --shape 1,1,64,8,8 --sweep T=64:256:*2 --min-time 0 --max-time 1 -o '" +
                  (folder / "b.h5") + "' --json '" + (folder / "b.json") + "'");
  BOOST_TEST(o.status == 0, o.err);
  BOOST_TEST(o.out.find("ceilings of this run") == 0u);
  BOOST_TEST(o.out.find("time ~ T^") != std::string::npos);
  const Hdf5File file(folder / "b.h5");
  BOOST_TEST((file.table("bench").rows.size() == 3 && file.table("bench_growth").rows.size() == 1));
  BOOST_TEST(nlohmann::json::parse(read_file(folder / "b.json")).at("benchmarks").size() >= 3 * 6u);
}

BOOST_AUTO_TEST_CASE(outputs_do_not_overwrite_each_other) {
  const Folder folder;
  const std::string x = "'" + (folder / "x") + "'";
  BOOST_TEST(run_program("bench --variants linear -o " + x + " --json " + x).status == 2);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
