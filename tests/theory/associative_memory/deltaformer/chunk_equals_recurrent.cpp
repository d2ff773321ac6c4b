// SPDX-License-Identifier: Apache-2.0
#include "tests/theory/examine.hpp"
#include <set>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(chunk_equals_recurrent)

BOOST_AUTO_TEST_CASE(reaches_every_exact_fast_form_in_both_types) {
  std::set<std::string> reached, wanted;
  for (const Point &p : select_claims({"chunk_equals_recurrent"}).front()->measure({}))
    reached.insert(p.params.text("variant") + " " + p.params.text("form") + " " + p.params.text("real"));
  for (const Variant &variant : all_variants())
    for (const Form &form : variant.forms)
      if (form.exact && form.name != "recurrent")
        for (const char *real : {"f32", "f64"}) wanted.insert(variant.name + " " + form.name + " " + real);
  for (const std::string &name : wanted) BOOST_TEST(reached.count(name) == 1, name << " was not measured");
}

BOOST_AUTO_TEST_CASE(measures_at_the_users_point) {
  const Claim &claim = *select_claims({"chunk_equals_recurrent"}).front();
  const std::vector<Point> points =
      claim.measure({Effort::quick, 1, resolve(claim.params, {{"T", "37"}, {"C", "5"}}, claim.id)});
  BOOST_TEST_REQUIRE(!points.empty());
  for (const Point &p : points) {
    BOOST_TEST(p.params.real("T") == 37);
    BOOST_TEST(p.params.real("C") == 5);
    BOOST_TEST((p.verdict == (p.role == Role::rival ? Verdict::refuted : Verdict::holds)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
