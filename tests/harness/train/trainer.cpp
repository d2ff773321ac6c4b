// SPDX-License-Identifier: Apache-2.0
#include "harness/train/trainer.hpp"
#include "harness/system/memory.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(trainer)

Setup small(Assignments given) {
  given.insert({{"width", "8"},
                {"heads", "2"},
                {"ffn", "16"},
                {"layers", "1"},
                {"vocabulary", "8"},
                {"pairs", "1"},
                {"batch", "8"},
                {"steps", "60"},
                {"every", "20"},
                {"mixer", "linear"},
                {"evaluate", "4"}});
  return resolve_setup(given);
}

TrainingState trained(const Setup &setup, std::uint64_t seed) {
  Trainer t(setup, seed);
  while (!t.done()) t.step();
  return t.state();
}

BOOST_AUTO_TEST_CASE(the_rate_rises_and_falls) {
  BOOST_TEST(schedule(0, 100, 0.1) == 0.1);
  BOOST_TEST(schedule(8, 100, 0.1) == 0.9);
  BOOST_TEST(schedule(10, 100, 0.1) == 1);
  BOOST_TEST(std::fabs(schedule(55, 100, 0.1) - 0.5) < 1e-12);
  BOOST_TEST(schedule(99, 100, 0.1) < 1e-3);
  BOOST_TEST(schedule(0, 10, 0) == 1);
  BOOST_TEST(schedule(9, 10, 1) == 1);
}

BOOST_AUTO_TEST_CASE(one_step_of_adamw_by_hand) {
  // The first step moves every number by the rate against its gradient's sign (m / sqrt v = 1), after weight decay of
  // matrices.
  const Setup setup = small({{"steps", "1"}, {"warmup", "0"}, {"lr", "0.01"}, {"decay", "0.5"}, {"clip", "1e-3"}});
  Model model(setup);
  const Numbers start = model.weights().start(3), none(start.size(), 0.0);
  model.set({start, none, none});
  model.differentiate(make_texts(setup.settings, 3, "train", 0));
  const Numbers gradient = model.gradient();
  const Numbers after = trained(setup, 3).parameters;
  const double scale = 1e-3 / std::sqrt(inner(gradient, gradient)); // of clipping
  for (const auto &[name, part] : model.weights().parts())
    for (size_t i = part.offset; i < part.offset + part.size; ++i) {
      const double decayed = part.decays ? start[i] * (1 - 0.01 * 0.5) : start[i], g = scale * gradient[i];
      BOOST_TEST(std::fabs(after[i] - (decayed - 0.01 * g / (std::fabs(g) + 1e-8))) < 1e-12);
    }
}

BOOST_AUTO_TEST_CASE(a_gradient_beyond_all_numbers_ends_it_though_the_loss_is_one) {
  // Answers are embedding . head: scaling these by 1e200 and 1e-200 gives the same answers, but scales the head's
  // gradient by 1e200.
  const Setup setup =
      small({{"mixer", "none"}, {"ffn", "0"}, {"norm", "none"}, {"head", "own"}, {"positions", "none"}});
  const Weights weights(setup);
  for (const double factor : {1.0, 1e200}) {
    Trainer t(setup, 1);
    TrainingState scaled = t.state();
    const auto scale = [&](const char *name, double by) {
      const Weights::Part &part = weights.part(name);
      for (size_t i = 0; i < part.size; ++i) scaled.parameters[part.offset + i] *= by;
    };
    scale("embedding", factor), scale("head", 1 / factor);
    t.restore(scaled);
    t.step();
    BOOST_TEST(t.progressed().diverged == (factor > 1));
    BOOST_TEST(t.progressed().step == (factor > 1 ? 0 : 1)); // the step is not made
  }
}

/// With a rate of 0 every point of the curve is the loss of that step's texts.
BOOST_AUTO_TEST_CASE(batches_come_round_again) {
  const auto losses = [](const std::string &batches) {
    std::vector<double> all;
    const Setup setup = small({{"batches", batches}, {"steps", "6"}, {"every", "1"}, {"lr", "0"}, {"pairs", "4"}});
    for (const CurvePoint &point : trained(setup, 1).curve) all.push_back(point.loss);
    return all;
  };
  const std::vector<double> fresh = losses("0"), again = losses("2");
  BOOST_TEST((fresh.size() == 6u && std::set<double>(fresh.begin(), fresh.end()).size() == 6u));
  BOOST_TEST((again == std::vector<double>{fresh[0], fresh[1], fresh[0], fresh[1], fresh[0], fresh[1]}));
}

/// The trainer after `steps` steps, made `at_once` at a time.
TrainingState after(const Setup &setup, int steps, int at_once) {
  Trainer t(setup, 1);
  while (t.progressed().step < steps && !t.done()) t.step(std::min(at_once, steps - t.progressed().step));
  return t.state();
}
BOOST_AUTO_TEST_CASE(steps_made_at_once_are_those_made_one_by_one) {
  const Setup copying = small({{"task", "copy"},
                               {"pairs", "6"},
                               {"start", "1"},
                               {"curriculum", "0.1"},
                               {"mixer", "softmax"},
                               {"every", "7"},
                               {"lr", "0.02"}}), // texts grow at points of the curve
      learning = small({{"clip", "1e-3"}});
  for (const Setup *setup : {&copying, &learning}) {
    const TrainingState one = after(*setup, 50, 1);
    for (const int at_once : {2, 16, 50}) {
      const TrainingState more = after(*setup, 50, at_once);
      BOOST_TEST((more.parameters == one.parameters && more.first == one.first && more.second == one.second));
      BOOST_TEST((more.running == one.running && more.step == 50 && more.curve.size() == one.curve.size()));
    }
  }
}
BOOST_AUTO_TEST_CASE(nothing_is_learned_after_a_step_that_diverges) {
  // One text per batch: only texts that ask for key 0 have an answer that overflows.
  const Setup setup = small({{"mixer", "none"},
                             {"ffn", "0"},
                             {"norm", "none"},
                             {"head", "own"},
                             {"positions", "none"},
                             {"batch", "1"},
                             {"every", "60"}});
  const Weights weights(setup);
  const size_t key = weights.part("embedding").offset;
  const auto after = [&](int at_once) {
    Trainer t(setup, 1);
    TrainingState start = t.state();
    for (int i = 0; i < 8; ++i) start.parameters[key + size_t(i)] *= 1e200;
    t.restore(start);
    while (!t.done()) t.step(at_once);
    return t.state();
  };
  const TrainingState one = after(1), more = after(32);
  BOOST_TEST_REQUIRE((one.diverged && more.diverged));
  BOOST_TEST((one.step < 20 && more.step == one.step && more.running == one.running));
  BOOST_TEST((more.parameters == one.parameters && more.first == one.first && more.second == one.second));
}

void a_stop_changes_nothing(const Setup &setup) {
  const TrainingState whole = trained(setup, 1);
  BOOST_TEST((whole.step == 60 && !whole.diverged && whole.curve.size() == 3u && whole.curve.back().step == 60));
  BOOST_TEST((trained(setup, 1).parameters == whole.parameters));
  BOOST_TEST((trained(setup, 2).parameters != whole.parameters));
  Trainer first(setup, 1), second(setup, 1);
  for (int i = 0; i < 33; ++i) first.step();
  second.restore(first.state());
  while (!second.done()) second.step();
  BOOST_TEST((second.state().parameters == whole.parameters));
  for (size_t i = 0; i < 3; ++i)
    BOOST_TEST((second.state().curve[i].loss == whole.curve[i].loss && whole.curve[i].step == int(i + 1) * 20));
}
BOOST_AUTO_TEST_CASE(a_seed_decides_and_a_stop_changes_nothing) {
  a_stop_changes_nothing(small({}));
  a_stop_changes_nothing(small({{"dtype", "f32"}}));
}

/// Also if the number of pairs changes.
BOOST_AUTO_TEST_CASE(a_step_is_made_on_texts_of_its_pairs) {
  const Setup setup = small({{"task", "copy"},
                             {"pairs", "6"},
                             {"start", "1"},
                             {"curriculum", "0.1"},
                             {"mixer", "softmax"},
                             {"steps", "60"},
                             {"every", "1"},
                             {"lr", "0.02"}});
  Trainer t(setup, 1);
  Model model(setup);
  std::set<int> pairs;
  while (!t.done()) {
    const TrainingState at = t.state();
    Params now = setup.settings;
    now.set("pairs", t.pairs());
    pairs.insert(t.pairs());
    model.set(at);
    const double expected = model.judge(make_texts(now, 1, "train", std::uint64_t(at.step))).loss;
    t.step();
    BOOST_TEST(t.progressed().curve.back().loss == expected);
  }
  BOOST_TEST((pairs == std::set<int>{1, 2, 4, 6}));
}

BOOST_AUTO_TEST_CASE(texts_double_at_an_accuracy) {
  const Setup setup = small({{"task", "copy"},
                             {"pairs", "6"},
                             {"start", "1"},
                             {"curriculum", "0.4"},
                             {"mixer", "softmax"},
                             {"steps", "400"},
                             {"every", "20"},
                             {"lr", "0.02"}});
  Trainer whole(setup, 1), first(setup, 1), second(setup, 1);
  std::vector<int> pairs;
  while (!whole.done()) {
    if (pairs.empty() || whole.pairs() != pairs.back()) {
      BOOST_TEST(whole.state().step % 20 == 0);
      BOOST_TEST((pairs.empty() || whole.state().curve.back().accuracy >= 0.4));
      pairs.push_back(whole.pairs());
    }
    whole.step();
  }
  BOOST_TEST((pairs == std::vector<int>{1, 2, 4, 6}));
  while (first.pairs() < 4) first.step();
  for (int i = 0; i < 7; ++i) first.step(); // between two points of the curve
  second.restore(first.state());
  while (!second.done()) second.step();
  BOOST_TEST((second.state().parameters == whole.state().parameters));
  Trainer plain(small({{"task", "copy"}, {"pairs", "6"}}), 1);
  BOOST_TEST(plain.pairs() == 6);
}

BOOST_AUTO_TEST_CASE(another_model_is_not_taken_up) {
  Trainer t(small({}), 1), longer(small({{"steps", "90"}}), 1), wider(small({{"ffn", "24"}}), 1);
  for (int i = 0; i < 61; ++i) longer.step();
  BOOST_CHECK_THROW(t.restore(wider.state()), Error);
  BOOST_CHECK_THROW(t.restore(longer.state()), Error); // step 61 of 60
}

BOOST_AUTO_TEST_CASE(whatever_is_wrong_with_a_state_it_is_not_taken_up) {
  Trainer t(small({}), 1);
  t.step(3);
  const TrainingState right = t.state();
  const std::vector<std::function<void(TrainingState &)>> spoils = {[](TrainingState &s) { s.parameters.pop_back(); },
                                                                    [](TrainingState &s) { s.first.push_back(0); },
                                                                    [](TrainingState &s) { s.second.pop_back(); },
                                                                    [](TrainingState &s) { s.running.push_back(0); },
                                                                    [](TrainingState &s) { s.step = -1; },
                                                                    [](TrainingState &s) { s.step = 61; }};
  for (size_t i = 0; i < spoils.size(); ++i) {
    TrainingState wrong = right;
    spoils[i](wrong);
    BOOST_CHECK_THROW(t.restore(wrong), Error);
  }
  t.restore(right);
  BOOST_TEST(t.progressed().step == 3);
}

BOOST_AUTO_TEST_CASE(one_pair_is_learned) { // the value is always at the same place, before SEP and the key
  const Setup setup = small({{"steps", "300"}, {"lr", "0.01"}});
  Trainer t(setup, 1);
  const double untrained = t.evaluate().loss;
  while (!t.done()) t.step();
  BOOST_TEST((t.evaluate().accuracy() == 1 && t.evaluate().loss < untrained / 4));
}

/// Ten words of 3 letters, of which 10, 9 and 8 are right.
BOOST_AUTO_TEST_CASE(a_length_is_solved_if_nine_tenths_of_the_words_are_right_so_far) {
  Numbers answers;
  for (int word = 0; word < 10; ++word) answers.insert(answers.end(), {1, word < 9 ? 1.0 : 0, word < 8 ? 1.0 : 0});
  BOOST_TEST(solved_length(answers, 3) == 2);
  answers[1] = 0; // eight words are right at the second letter
  BOOST_TEST(solved_length(answers, 3) == 1);
  BOOST_TEST(solved_length(Numbers(30, 1.0), 3) == 3);
  BOOST_TEST(solved_length({}, 3) == 0); // diverged
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_into_memory_has_not_diverged) {
  Trainer t(small({}), 3);
  set_memory_limit(1000);
  BOOST_CHECK_THROW(t.step(), OverMemory);
  set_memory_limit(0);
  BOOST_TEST(!t.progressed().diverged);
}

BOOST_AUTO_TEST_CASE(another_model_needs_room_twice_over) {
  BOOST_TEST(room_for_another(0, 100, 0)); // the first is tried in any case
  BOOST_TEST((room_for_another(3, {}, {}) && room_for_another(1, 100, 100)));
  BOOST_TEST((room_for_another(1, 100, 67) && !room_for_another(1, 100, 66))); // of 33 bytes each, and of 34
  BOOST_TEST((room_for_another(4, 100, 34) && !room_for_another(4, 100, 33)));
}

BOOST_AUTO_TEST_CASE(what_diverges_says_so) {
  // Raw keys and step sizes of 1 and more: the delta rule's state overflows.
  Trainer t(small({{"mixer", "delta_net"}, {"lr", "1000"}, {"clip", "0"}, {"warmup", "0"}, {"steps", "400"}}), 1);
  while (!t.done()) t.step();
  BOOST_TEST((t.state().diverged && t.state().step < 400 && t.evaluate().accuracy() == 0));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
