// SPDX-License-Identifier: Apache-2.0
#include "harness/train/weights.hpp"
#include "tests/testing.hpp"

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(train_weights)

BOOST_AUTO_TEST_CASE(a_count_by_hand) {
  // Vocabulary 16, width 8, texts of 7 tokens (2 pairs), 2 heads, ffn 12, one block of gated_delta_net behind a
  // convolution of two taps.
  const Weights w(resolve_setup({{"vocabulary", "16"},
                                 {"width", "8"},
                                 {"heads", "2"},
                                 {"ffn", "12"},
                                 {"layers", "1"},
                                 {"pairs", "2"},
                                 {"convolution", "2"},
                                 {"mixer", "gated_delta_net"}}));
  const size_t mixer = 8 + 2 * 8 + 4 * 64 + 2 * (8 * 2 + 2), mlp = 8 + 8 * 12 + 12 + 12 * 8;
  BOOST_TEST(w.size() == 16 * 8 + 7 * 8 + mixer + mlp + 8);
  size_t covered = 0;
  for (const auto &[name, part] : w.parts()) covered += part.size;
  BOOST_TEST(covered == w.size());
  const Numbers start = w.start(1);
  BOOST_TEST((start[w.part("gain").offset] == 1 && start[w.part("0.alpha bias").offset] == 3));
  BOOST_TEST((w.part("0.k").decays && !w.part("0.ffn bias").decays));
  BOOST_TEST((w.start(1) == start && w.start(2) != start));
}

BOOST_AUTO_TEST_CASE(the_model_of_000_E_4) {
  // Embedding and unembedding 10 x 12; q, w 12 -> 12, k, v 12 -> 3 and out 12 -> 12, with biases; one number per lookup
  // and one alpha.
  const Weights w(resolve_setup({{"task", "swaps"},
                                 {"vocabulary", "10"},
                                 {"width", "12"},
                                 {"heads", "4"},
                                 {"kv_heads", "1"},
                                 {"head", "own"},
                                 {"norm", "none"},
                                 {"ffn", "0"},
                                 {"layers", "1"},
                                 {"positions", "none"},
                                 {"biases", "all"},
                                 {"gates", "numbers"},
                                 {"mixer", "delta_former"}}));
  BOOST_TEST(w.size() == 2 * 120 + 3 * (144 + 12) + 2 * (36 + 3) + 4 + 1);
  BOOST_TEST((!w.has("0.beta") && w.part("0.beta bias").spread == 1 && w.part("0.alpha bias").mean == 1));
}

BOOST_AUTO_TEST_CASE(norms_and_heads_have_their_own) {
  const Assignments base{{"vocabulary", "16"}, {"width", "8"}, {"heads", "2"}, {"mixer", "linear"}};
  const auto size = [&](const std::string &name, const std::string &value) {
    Assignments all = base;
    all[name] = value;
    return Weights(resolve_setup(all)).size();
  };
  const size_t norms = 2 * 2 + 1, plain = size("norm", "rms");
  BOOST_TEST(size("norm", "layer") == plain + norms * 8);
  BOOST_TEST(size("norm", "none") == plain - norms * 8);
  BOOST_TEST(size("head", "own") == plain + 16 * 8);
}

BOOST_AUTO_TEST_CASE(a_sum_of_weighted_inputs_starts_at_their_size) {
  // The spread is 1 over the root of the number of summands. For the embedding, which the head may share, that number
  // is the model's width.
  const Weights w(resolve_setup({{"mixer", "gated_delta_net"},
                                 {"width", "16"},
                                 {"heads", "4"},
                                 {"ffn", "25"},
                                 {"layers", "1"},
                                 {"head", "own"},
                                 {"positions", "learned"},
                                 {"norm", "layer"},
                                 {"convolution", "9"}}));
  for (const char *name :
       {"embedding", "head", "positions", "0.q", "0.k", "0.v", "0.o", "0.beta", "0.alpha", "0.ffn in"})
    BOOST_TEST(w.part(name).spread == 1 / 4.0, name);
  BOOST_TEST((w.part("0.convolution").spread == 1 / 3.0 && w.part("0.ffn out").spread == 1 / 5.0));
  for (const auto &[name, part] : w.parts()) { // means: gains 1, biases of decays 3, else 0
    const bool gain = name.find("gain") != std::string::npos;
    BOOST_TEST(part.mean == (gain ? 1 : name == "0.alpha bias" ? 3 : 0), name);
    BOOST_TEST(part.decays == (part.spread > 0), name);
  }
}

BOOST_AUTO_TEST_CASE(matrices_start_with_outputs_of_the_size_of_inputs) {
  const Weights w(resolve_setup({{"mixer", "none"}, {"layers", "1"}}));
  BOOST_TEST(!w.has("0.q"));
  const Numbers start = w.start(3);
  const Weights::Part &in = w.part("0.ffn in"); // 128 x 256 numbers of variance 1/128
  double square = 0;
  for (size_t i = 0; i < in.size; ++i) square += start[in.offset + i] * start[in.offset + i];
  BOOST_TEST(std::fabs(square / 256 - 1) < 6.47 * std::sqrt(2.0 / double(in.size)));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
