// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include "theory/associative_memory/delta_rule/runs.hpp"

namespace recollect {
using namespace recollect::theory;
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(section_2_2_linear_norm)

BOOST_AUTO_TEST_CASE(stretches_of_runs_join) {
  // Runs 0 ... 4 are runs 0, 1 and then 2, 3, 4, keys and values alike.
  const auto keys = [](size_t first, size_t runs) {
    return random_runs(KeyLaw::unit, 3, 2, 2, {7, "test", first, runs});
  };
  Sequence joined = keys(0, 2);
  const Sequence all = keys(0, 5), rest = keys(2, 3);
  joined.k.insert(joined.k.end(), rest.k.begin(), rest.k.end());
  joined.v.insert(joined.v.end(), rest.v.begin(), rest.v.end());
  BOOST_TEST(joined.k == all.k);
  BOOST_TEST(joined.v == all.v);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
