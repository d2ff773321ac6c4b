// SPDX-License-Identifier: Apache-2.0
// What a network keeps from one batch to the next. tests/harness/train/network/model.cpp compares its gradient with
// differences.
#include "harness/train/network/network.hpp"
#include "harness/call/make_call.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(networks)

BOOST_AUTO_TEST_CASE(what_ran_before_does_not_matter) {
  for (const char *mixer : {"softmax", "gated_delta_net", "none"}) {
    const Setup setup = resolve_setup({{"mixer", mixer},
                                       {"width", "8"},
                                       {"heads", "2"},
                                       {"ffn", "12"},
                                       {"vocabulary", "16"},
                                       {"pairs", "3"},
                                       {"batch", "3"},
                                       {"convolution", "2"}});
    const Weights weights(setup);
    const Numbers start = weights.start(1);
    const Array<double> parameters = upload<double>("parameters", start);
    const auto texts = [&](std::uint64_t number) { return make_texts(setup.settings, 1, "train", number); };
    Network<double> used(setup, weights), fresh(setup, weights);
    const Array<double> other = upload<double>("gradient", Numbers(start.size(), 7.0)),
                        found = upload<double>("gradient", Numbers(start.size(), 7.0)),
                        expected = upload<double>("gradient", Numbers(start.size()));
    for (int i = 0; i < 4; ++i) used.run(parameters, texts(1), other); // recorded and replayed, if that is possible
    const double loss = used.run(parameters, texts(2)).loss;
    used.run(parameters, texts(1), found);
    used.run(parameters, texts(2), found);
    const Judged again = used.run(parameters, texts(2), found), once = fresh.run(parameters, texts(2), expected);
    BOOST_TEST_INFO(mixer);
    BOOST_TEST((again.loss == once.loss && loss == once.loss && again.right == once.right && once.asked == 9));
    BOOST_TEST_INFO(mixer);
    BOOST_TEST((download(found) == download(expected) && download(other) != download(found)));
    BOOST_TEST((download(parameters) == start));
  }
}

/// A layer that is linear in its keys reads twice as much from keys twice as long, unless keys are normalised.
BOOST_AUTO_TEST_CASE(only_unit_keys_forget_their_length) {
  for (const char *keys : {"raw", "unit"}) {
    const Setup setup = resolve_setup(
        {{"mixer", "linear"}, {"width", "8"}, {"heads", "2"}, {"vocabulary", "16"}, {"pairs", "3"}, {"keys", keys}});
    const Weights weights(setup);
    const Numbers start = weights.start(1);
    Numbers longer = start;
    const Weights::Part &part = weights.part(in_block(0, "k"));
    for (size_t i = 0; i < part.size; ++i) longer[part.offset + i] *= 2;
    Network<double> network(setup, weights);
    const auto loss = [&](const Numbers &at) {
      return network.run(upload<double>("parameters", at), make_texts(setup.settings, 1, "train", 1)).loss;
    };
    const double moved = std::fabs(loss(longer) - loss(start));
    BOOST_TEST((keys == std::string("raw") ? moved > 1e-6 : moved < 1e-12), keys << " moved by " << moved);
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
