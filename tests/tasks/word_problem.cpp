// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/groups.hpp"
#include "tests/tasks/task_testing.hpp"

namespace recollect {
BOOST_AUTO_TEST_SUITE(tasks)
BOOST_AUTO_TEST_SUITE(word_problem)

namespace {

double length_of(const Instance &words) { return metric(words.score(delta_rule(words.problem.sequence)), "length"); }

/// The element at a letter, recovered from the keys that its steps write, and the number of steps that write nothing.
std::pair<Permutation, int> letter_of(const Instance &words, int n, int reflections, int letter) {
  const Sequence &s = words.problem.sequence;
  Permutation list(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) list[size_t(i)] = i;
  int idle = 0;
  for (int r = 0; r < reflections; ++r) {
    const int t = n + letter * reflections + r;
    std::vector<int> places; // the two keys that the step has components of
    for (int key = 0; key < n; ++key) {
      double product = 0;
      for (int c = 0; c < s.shape.Dk; ++c)
        product += s.k[size_t(t * s.shape.Dk + c)] * s.k[size_t(key * s.shape.Dk + c)];
      if (std::fabs(product) > 0.5) places.push_back(key);
    }
    BOOST_TEST((places.size() == 2 || places.empty()));
    if (places.size() == 2)
      std::swap(list[size_t(places[0])], list[size_t(places[1])]);
    else
      BOOST_TEST(s.beta[size_t(t)] == 0);
    idle += places.empty();
  }
  return {list, idle};
}

} // namespace

BOOST_AUTO_TEST_CASE(answers_are_the_products_of_the_letters) {
  for (const std::string &name : group_names()) BOOST_TEST_CONTEXT(name) {
      check_generator("word_problem", {{"group", name}});
      const PermutationGroup group = group_named(name);
      const int n = group.points, reflections = n - 1, T = n + 12 * reflections;
      const Instance words("word_problem", {{"group", name}, {"memories", "1"}, {"letters", "12"}});
      Permutation held = group.elements[0];
      for (int letter = 0; letter < 12; ++letter) {
        const auto [element, idle] = letter_of(words, n, reflections, letter);
        BOOST_TEST(group.index_of(element) < int(group.elements.size()));
        BOOST_TEST(idle == reflections - int(exchanges_of(element).size()));
        held = product(held, element);
        for (int h = 0; h < n; ++h)
          BOOST_TEST(words.problem.answer[size_t(h * T + n + (letter + 1) * reflections - 1)] == held[size_t(h)]);
      }
    }
}

BOOST_AUTO_TEST_CASE(the_delta_rule_solves_every_group_by_reflections_and_none_by_projections) {
  for (const std::string &name : group_names()) BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(length_of(Instance("word_problem", {{"group", name}, {"letters", "200"}})) == 200);
      BOOST_TEST(length_of(Instance("word_problem", {{"group", name}, {"memories", "16"}, {"eigenvalue", "0"}})) <= 3);
    }
}

BOOST_AUTO_TEST_CASE(one_reflection_a_letter_is_enough_for_parity_alone) {
  for (const std::string &name : group_names()) {
    const Instance words("word_problem", {{"group", name}, {"memories", "16"}, {"reflections", "1"}});
    BOOST_TEST((length_of(words) == 32) == (name == "parity"), name);
  }
  // The longest letters of A5, like those of S5, are 5-cycles, i.e. four exchanges; those of S3 take two.
  BOOST_TEST(length_of(Instance("word_problem", {{"group", "S3"}, {"reflections", "2"}})) == 32);
  BOOST_TEST(length_of(Instance("word_problem", {{"group", "A5"}, {"memories", "16"}, {"reflections", "3"}})) < 32);
}

BOOST_AUTO_TEST_CASE(the_length_ends_at_the_first_letter_that_too_few_memories_have_right) {
  // Parity: two heads, one step per letter. Of 4 memories one is wrong at letter 3 and another at letter 5.
  const Assignments given{{"group", "parity"}, {"letters", "8"}, {"level", "0.75"}};
  const Instance words("word_problem", given);
  Output out = perfect(words.problem);
  const auto spoil = [&](int memory, int head, int letter) {
    for (int c = 0; c < 8; ++c) out.o[size_t(((memory * 2 + head) * 10 + 2 + letter - 1) * 8 + c)] *= -1;
  };
  spoil(1, 0, 3);
  BOOST_TEST(metric(words.score(out), "length") == 8);
  spoil(2, 1, 5);
  BOOST_TEST(metric(words.score(out), "length") == 8); // at each letter three of four memories are right
  spoil(3, 1, 5);
  const Score score = words.score(out);
  BOOST_TEST(metric(score, "length") == 4);
  BOOST_TEST(metric(score, "product_accuracy") == (32 - 3) / 32.0);
  BOOST_TEST(metric(score, "accuracy") == (64 - 3) / 64.0);
  check_close(score.series.at("product_accuracy_by_letter"), {1, 1, 0.75, 1, 0.5, 1, 1, 1}, 0);
}

BOOST_AUTO_TEST_CASE(chance_by_hand) {
  const auto chance = [](const Assignments &given) {
    const Task &task = find_task("word_problem");
    return task.ends(resolve(task.params, given, "word_problem")).chance;
  };
  // Parity with one memory: each letter is right with probability 1/4, so that the expected length is 1/4 + 1/16 of two
  // letters.
  BOOST_TEST(std::fabs(chance({{"group", "parity"}, {"memories", "1"}, {"letters", "2"}}) - 5.0 / 16) < 1e-14);
  // Two memories of which one must be right: 1 - (3/4)^2.
  const Assignments two{{"group", "parity"}, {"memories", "2"}, {"letters", "1"}, {"level", "0.5"}};
  BOOST_TEST(std::fabs(chance(two) - 7.0 / 16) < 1e-14);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
