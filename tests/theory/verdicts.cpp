// SPDX-License-Identifier: Apache-2.0
// Every claim that is measured gives its expected verdict. Each is a test case of its own:
// `tests --run_test=theory/verdicts/CLAIM`.
#include "tests/theory/examine.hpp"
#include <boost/make_shared.hpp>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(verdicts)

/// Under seeds 1 ... 3. Once, if it is of the full suite only: such a claim trains models, whose seeds are its own.
void comes_out_as_stated(const Claim &claim) {
  const std::uint64_t seeds = claim.suite == Effort::full ? 1 : 3;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) check_claim(claim, {Effort::quick, seed, {}});
}

/// A test case per claim that is measured. Boost asks for them when the tests start; static initialisation is too early
/// for the list.
class CasePerClaim : public boost::unit_test::test_unit_generator {
public:
  boost::unit_test::test_unit *next() const override {
    while (next_ < all_claims().size() && !all_claims()[next_].measure) ++next_;
    if (next_ == all_claims().size()) return nullptr;
    const Claim &claim = all_claims()[next_++];
    return boost::unit_test::make_test_case([&claim] { comes_out_as_stated(claim); }, claim.id, __FILE__, __LINE__);
  }

private:
  mutable size_t next_ = 0;
};
const boost::unit_test::ut_detail::auto_test_unit_registrar
    case_per_claim(boost::make_shared<CasePerClaim>(), boost::unit_test::decorator::collector_t::instance());

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
