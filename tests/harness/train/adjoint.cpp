// SPDX-License-Identifier: Apache-2.0
#include "harness/train/adjoint.hpp"
#include "harness/pipeline/gradient.hpp"
#include "tests/harness/pipeline/gradient_case.hpp"

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(adjoints, *boost::unit_test::precondition(tape_runs))

BOOST_AUTO_TEST_CASE(layers_without_an_adjoint_have_gradient) {
  BOOST_TEST(!find_adjoint("mesa"));
  const Variant &layer = find_variant("linear_rms");
  const Sequence s = random_sequence({1, 1, 4, 3, 3}, 1);
  Sequence bare;
  bare.shape = s.shape, bare.q = s.q, bare.k = s.k, bare.v = s.v;
  const Params params = variant_params(layer);
  BOOST_TEST((mixer_gradient(layer, bare, params, s.v).k == gradient(layer, bare, params, {s.v, {}}).k));
  const Variant &rls = find_variant("rls");
  BOOST_TEST((mixer_gradient(rls, bare, variant_params(rls), s.v).k == rls_adjoint(bare, variant_params(rls), s.v).k));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
