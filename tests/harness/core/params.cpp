// SPDX-License-Identifier: Apache-2.0
#include "harness/core/error.hpp"
#include "tests/testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(params)

const std::vector<ParamSpec> specs{integer_param("n", 4, 1, 10, "count"), real_param("noise", 0.5, 0, 1, "sigma"),
                                   automatic_param("scale", "1/sqrt(Dk)", -no_limit, no_limit, "factor"),
                                   choice_param("keys", {"unit", "gaussian"}, "distribution")};

/// The message of the usage error from resolving `given`.
std::string refusal(const Assignments &given) {
  try {
    resolve(specs, given, "owner");
  } catch (const Error &e) {
    BOOST_TEST(e.code == exit_usage);
    return e.what();
  }
  return "accepted";
}

BOOST_AUTO_TEST_CASE(defaults_and_values) {
  const Params p = resolve(specs, {{"n", "7"}, {"keys", "gaussian"}}, "owner");
  BOOST_TEST(p.integer("n") == 7);
  BOOST_TEST(p.real("noise") == 0.5);
  BOOST_TEST(p.text("keys") == "gaussian");
  BOOST_TEST(p.real_or("scale", 0.25) == 0.25);
  BOOST_TEST(p.str() == "keys=gaussian,n=7,noise=0.5");
  BOOST_CHECK_THROW(p.real("never_declared"), std::logic_error);
}

BOOST_AUTO_TEST_CASE(bad_values_are_refused_by_name) {
  BOOST_TEST(refusal({{"m", "1"}}) == "owner has no parameter 'm', did you mean 'n'?");
  BOOST_TEST(refusal({{"n", "2.5"}}) == "owner: parameter n needs a whole number, got '2.5'");
  BOOST_TEST(refusal({{"n", "11"}}) == "owner: parameter n must lie in [1, 10], got 11");
  BOOST_TEST(refusal({{"n", "4x"}}) == "owner: parameter n needs a finite number, got '4x'");
  BOOST_TEST(refusal({{"noise", "nan"}}) == "owner: parameter noise needs a finite number, got 'nan'");
  BOOST_TEST(refusal({{"keys", "unti"}}) ==
             "owner: parameter keys cannot be 'unti', did you mean 'unit'? (one of unit, gaussian)");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
