// SPDX-License-Identifier: Apache-2.0
// tests/files/test_check.py makes the mistakes in NumPy; here the list itself.
#include "harness/pipeline/diagnosis.hpp"
#include "harness/pipeline/samples.hpp"
#include "tests/testing.hpp"
#include <set>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(diagnoses)

std::set<std::string> names_for(const std::string &variant, const Shape &shape) {
  const Variant &v = find_variant(variant);
  std::set<std::string> names;
  for (const Mistake &m : likely_mistakes(v, sample(v, shape, "random", 1), variant_params(v)))
    BOOST_TEST(names.insert(m.name).second, m.name);
  return names;
}

BOOST_AUTO_TEST_CASE(only_mistakes_that_the_layer_allows_are_listed) {
  const std::set<std::string> linear = names_for("linear", {1, 2, 20, 4, 4}),
                              gated = names_for("gated_delta_net", {1, 2, 20, 4, 4});
  for (const char *about : {"beta is not applied", "alpha is not applied", "alpha is one step late"})
    BOOST_TEST((gated.count(about) == 1 && linear.count(about) == 0), about);
}

BOOST_AUTO_TEST_CASE(every_mistake_makes_a_difference) {
  for (const char *name : {"linear", "delta_net", "gated_delta_net", "softmax", "rwkv7"}) {
    const Variant &v = find_variant(name);
    const Sequence s = sample(v, {1, 2, 20, 4, 4}, "random", 1);
    const Output right = forward(v, s, {"recurrent", Real::f64, 1, variant_params(v)});
    for (const Mistake &m : likely_mistakes(v, s, variant_params(v))) {
      const Output wrong = m.make();
      const bool same = wrong.o.size() == right.o.size() && max_difference(wrong.o, right.o) < 1e-9 &&
                        wrong.state.size() == right.state.size() && max_difference(wrong.state, right.state) < 1e-9;
      BOOST_TEST(!same, name << ": " << m.name);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
