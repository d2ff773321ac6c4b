// SPDX-License-Identifier: Apache-2.0
// Every claim of the quick suite gives its expected verdict under two seeds; the gate (ci/verify.sh) measures all of them
// under seed 1. Each is a test case of its own: `tests --run_test=theory/verdicts/CLAIM`. Claims of the full suite train
// models; recollect_blind tests their verdicts, because it trains the same models.
#include "tests/theory/examine.hpp"
#include <boost/make_shared.hpp>

namespace recollect {
BOOST_AUTO_TEST_SUITE(theory)
BOOST_AUTO_TEST_SUITE(verdicts)

void comes_out_as_stated(const Claim &claim) {
  for (std::uint64_t seed : {2, 3}) check_claim(claim, {Effort::quick, seed, {}});
}

/// Boost asks for them when the tests start; static initialisation is too early
/// for the list.
class CasePerClaim : public boost::unit_test::test_unit_generator {
public:
  boost::unit_test::test_unit *next() const override {
    const auto &all = all_claims();
    while (next_ < all.size() && !(all[next_].measure && all[next_].suite == Effort::quick)) ++next_;
    if (next_ == all.size()) return nullptr;
    const Claim &claim = all[next_++];
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
