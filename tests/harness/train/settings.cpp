// SPDX-License-Identifier: Apache-2.0
#include "harness/train/settings.hpp"
#include "harness/core/error.hpp"
#include "tests/testing.hpp"

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(train_settings)

BOOST_AUTO_TEST_CASE(values_make_every_combination) {
  const std::vector<Setup> all = setups({{"mixer", "linear,vla,none"}, {"pairs", "4:8:+4"}, {"vla.lambda0", "0.5"}});
  BOOST_TEST_REQUIRE(all.size() == 6u);
  BOOST_TEST((all[0].mixer() == "linear" && all[5].mixer() == "none"));
  BOOST_TEST((all[2].settings.integer("pairs") == 4 && all[3].settings.integer("pairs") == 8));
  BOOST_TEST((all[2].mixer_params.real("lambda0") == 0.5 && all[0].mixer_params.real("scale") == 1));
  BOOST_TEST(all[0].settings.real("lr") == 1e-3);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_is_refused) {
  const std::vector<Assignments> wrong{
      {{"mixer", "softmaks"}},
      {{"layres", "2"}},
      {{"steps", "0"}},
      {{"heads", "3"}},
      {{"pairs", "65"}},
      {{"vla.lambda0", "1"}, {"mixer", "vla"}, {"vla.eta", "x"}},
      {{"task", "bigrams"}, {"pairs", "65"}},
      {{"task", "swaps"}, {"vocabulary", "9"}},
      {{"task", "trees"}, {"elements", "7"}},
      {{"task", "text"}},
      {{"nothing.lambda0", "1"}},
      {{"positions", "rope"}, {"width", "6"}, {"heads", "2"}},
      {{"positions", "rope"}, {"head_width", "3"}},
      {{"heads", "4"}, {"kv_heads", "3"}},
      {{"heads", "4"}, {"kv_heads", "8"}},
      {{"mixer", "delta_former"}, {"delta_former.groups", "2"}, {"delta_former.kappa1", "softmax"}}};
  for (const Assignments &given : wrong) BOOST_CHECK_THROW(setups(given), Error);
}

BOOST_AUTO_TEST_CASE(heads_have_their_width_or_the_one_given) {
  const Params plain = resolve_setup({{"width", "12"}, {"heads", "4"}}).settings,
               given = resolve_setup({{"width", "7"}, {"heads", "4"}, {"head_width", "3"}, {"kv_heads", "2"}}).settings;
  BOOST_TEST((head_width(plain) == 3 && head_width(given) == 3));
  for (Tensor tensor : all_tensors) BOOST_TEST(heads_of(tensor, plain) == 4);
  BOOST_TEST((columns_of(Tensor::q, given) == 12 && columns_of(Tensor::w, given) == 12));
  BOOST_TEST((columns_of(Tensor::k, given) == 6 && columns_of(Tensor::v, given) == 6));
  BOOST_TEST((columns_of(Tensor::beta, given) == 4 && columns_of(Tensor::alpha, given) == 2));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
