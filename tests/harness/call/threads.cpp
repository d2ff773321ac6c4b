// SPDX-License-Identifier: Apache-2.0
// `run` of one seed gives the same bits on any number of threads; every layer's outputs and gradients: same_bits.cpp.
#include "harness/files/results.hpp"
#include "tests/program.hpp"
#include "tests/testing.hpp"
#include <algorithm>

namespace recollect {
namespace {

Table metrics(const std::string &arguments, int threads) {
  const Folder folder;
  const Outcome o = run_program("run --tasks recall --set n=40 --set d=16 --seed 3 --seeds 1 --dtype f32 --chunk 16 " +
                                    arguments + " -o '" + (folder / "r.h5") + "'",
                                "/usr/bin/env' OMP_NUM_THREADS=" + std::to_string(threads) + " '" RECOLLECT_PROGRAM);
  BOOST_TEST_REQUIRE(o.status == 0, o.err);
  const Results results = Results::read(folder / "r.h5");
  const auto found = std::find_if(results.tables().begin(), results.tables().end(),
                                  [](const Table &t) { return t.name == "metrics"; });
  BOOST_TEST_REQUIRE((found != results.tables().end()));
  return *found;
}

} // namespace

BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(threads)

BOOST_AUTO_TEST_CASE(leave_every_bit, *slow) {
  for (const char *arguments :
       {"--variants all --form fast", "--variants all --form recurrent", "--variants delta_former --form doubling",
        "--variants mesa --form conjugate_gradients", "--variants skyformer --form nystrom"}) {
    const Table one = metrics(arguments, 1);
    BOOST_TEST(one.rows.size() > 0u);
    for (int threads : {2, 3, 5}) BOOST_TEST((metrics(arguments, threads) == one), arguments << ", " << threads);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
