// SPDX-License-Identifier: Apache-2.0
// Runs that differ in their seeds alone: side by side they have the numbers that they have alone, to the last bit.
#include "harness/core/memory.hpp"
#include "harness/train/trainer.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <set>

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(side_by_side)

using Seeds = std::vector<std::uint64_t>;

Setup small(Assignments given) {
  given.insert({{"width", "12"},
                {"heads", "2"},
                {"ffn", "16"},
                {"layers", "2"},
                {"vocabulary", "16"},
                {"pairs", "2"},
                {"batch", "5"},
                {"steps", "12"},
                {"every", "5"},
                {"mixer", "softmax"},
                {"evaluate", "2"}});
  return resolve_setup(given);
}

void same(Trainer &one, Trainer &other, int run) {
  const TrainingState a = one.state(), b = other.state(run);
  BOOST_TEST((a.step == b.step && a.diverged == b.diverged && a.running == b.running));
  BOOST_TEST((a.parameters == b.parameters && a.first == b.first && a.second == b.second));
  BOOST_TEST((a.curve.size() == b.curve.size()));
  for (size_t i = 0; i < a.curve.size(); ++i)
    BOOST_TEST((a.curve[i].step == b.curve[i].step && a.curve[i].loss == b.curve[i].loss &&
                a.curve[i].accuracy == b.curve[i].accuracy));
  const Judged alone = one.evaluate(), beside = other.evaluate(run);
  BOOST_TEST((alone.loss == beside.loss && alone.right == beside.right && alone.asked == beside.asked));
}

/// Together and each alone; how many of them diverged.
int as_alone(const Setup &setup, const Seeds &seeds) {
  Trainer together(setup, seeds);
  while (!together.done()) together.step();
  int diverged = 0;
  for (size_t run = 0; run < seeds.size(); ++run) {
    Trainer one(setup, seeds[run]);
    while (!one.done()) one.step();
    same(one, together, int(run));
    diverged += one.progressed().diverged;
  }
  return diverged;
}

BOOST_AUTO_TEST_CASE(every_kind_of_mixer_in_both_precisions) {
  for (const char *mixer : {"softmax", "linear", "delta_net", "vla", "gated_delta_net", "rls", "mamba", "none"})
    for (const char *dtype : {"f32", "f64"}) BOOST_TEST_CONTEXT(mixer << ' ' << dtype)
  as_alone(small({{"mixer", mixer}, {"dtype", dtype}, {"keys", "unit"}}), {1, 2, 7});
}

BOOST_AUTO_TEST_CASE(every_part_that_has_parameters) {
  as_alone(small({{"norm", "layer"}, {"convolution", "2"}, {"convolved", "all"}, {"biases", "all"}, {"clip", "0"}}),
           {3, 4});
  as_alone(small({{"norm", "none"}, {"head", "own"}, {"positions", "rope"}, {"clip", "0.01"}}), {3, 4, 5});
  as_alone(small({{"mixer", "gated_delta_net"},
                  {"kv_heads", "1"},
                  {"gates", "numbers"},
                  {"reads", "rms"},
                  {"positions", "none"},
                  {"convolution", "3"}}),
           {3, 4});
  as_alone(small({{"mixer", "delta_former"}, {"lookups", "keys"}, {"ffn", "0"}, {"batches", "2"}}), {3, 4});
}

/// More rows than a block has, and of some texts more answers than of others.
BOOST_AUTO_TEST_CASE(texts_that_ask_for_different_numbers_of_answers) {
  const Setup setup = small({{"task", "bigrams"}, {"context", "9"}, {"pairs", "6"}, {"batch", "31"}, {"dtype", "f32"}});
  const auto asked = [&](std::uint64_t seed) {
    const Texts texts = make_texts(setup.settings, seed, "train", 0);
    return std::count_if(texts.labels.begin(), texts.labels.end(), [](int label) { return label >= 0; });
  };
  BOOST_TEST(asked(1) != asked(2));
  as_alone(setup, {1, 2, 3});
}

BOOST_AUTO_TEST_CASE(one_that_diverges_leaves_the_others_alone) {
  const Setup setup = small({{"mixer", "delta_net"}, {"keys", "unit"}});
  Trainer together(setup, Seeds{1, 2, 3});
  for (int i = 0; i < 4; ++i) together.step();
  TrainingState beyond = together.state(1);
  for (double &parameter : beyond.parameters) parameter *= 1e200;
  together.restore(beyond, 1);
  while (!together.done()) together.step();
  const TrainingState left = together.state(1);
  BOOST_TEST((left.diverged && left.step == 4 && left.parameters == beyond.parameters && left.first == beyond.first));
  for (int run : {0, 2}) {
    Trainer one(setup, std::uint64_t(run + 1));
    while (!one.done()) one.step();
    same(one, together, run);
  }
}

/// Raw keys and steps of hundreds: the delta rule's state grows past every number, of one seed sooner than of others.
BOOST_AUTO_TEST_CASE(all_diverge_at_their_own_steps) {
  const Setup setup = small({{"mixer", "delta_net"}, {"lr", "1000"}, {"clip", "0"}, {"warmup", "0"}, {"steps", "400"}});
  Trainer together(setup, Seeds{1, 2, 3, 4});
  std::set<int> steps;
  while (!together.done()) together.step();
  for (int run = 0; run < 4; ++run) steps.insert(together.progressed(run).step);
  BOOST_TEST(steps.size() > 1u);
  BOOST_TEST(as_alone(setup, {1, 2, 3, 4}) == 4);
}

BOOST_AUTO_TEST_CASE(lengths_that_differ_for_a_while) {
  const Setup setup = small({{"task", "copy"},
                             {"pairs", "6"},
                             {"start", "1"},
                             {"curriculum", "0.4"},
                             {"steps", "240"},
                             {"every", "20"},
                             {"lr", "0.02"}});
  Trainer together(setup, Seeds{1, 2, 3});
  int differ = 0;
  while (!together.done()) {
    differ += together.pairs(0) != together.pairs(1) || together.pairs(0) != together.pairs(2);
    together.step();
  }
  BOOST_TEST(differ > 0);
  as_alone(setup, {1, 2, 3});
}

BOOST_AUTO_TEST_CASE(each_goes_on_from_where_it_was) {
  const Setup setup = small({{"mixer", "gated_delta_net"}, {"dtype", "f32"}});
  Trainer first(setup, 2), together(setup, Seeds{1, 2, 3});
  for (int i = 0; i < 7; ++i) first.step();
  together.restore(first.state(), 1);
  for (int i = 0; i < 4; ++i) together.step();
  Trainer resumed(setup, Seeds{3, 1, 2}); // beside others in another order
  resumed.restore(together.state(2), 0), resumed.restore(together.state(0), 1), resumed.restore(together.state(1), 2);
  while (!resumed.done()) resumed.step();
  for (int run = 0; run < 3; ++run) {
    Trainer one(setup, Seeds{3, 1, 2}[size_t(run)]);
    while (!one.done()) one.step();
    same(one, resumed, run);
  }
}

BOOST_AUTO_TEST_CASE(as_many_at_once_as_memory_holds) {
  const Setup setup = small({{"mixer", "delta_net"}, {"keys", "unit"}});
  const auto fits = [&](std::uint64_t bytes, const Seeds &seeds) {
    set_memory_limit(bytes);
    try {
      Trainer(setup, seeds).step();
    } catch (const OverMemory &) {
      return false;
    }
    return true;
  };
  const std::uint64_t before = memory_limit();
  std::uint64_t enough = 1 << 10;
  while (!fits(enough, {1})) enough *= 2;
  BOOST_TEST(!fits(enough / 2, {1, 2, 3}));
  set_memory_limit(enough); // two models of the three would need more
  as_alone(setup, {1, 2, 3});
  set_memory_limit(before);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
