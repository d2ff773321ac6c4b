// SPDX-License-Identifier: Apache-2.0
#include "harness/train/texts.hpp"
#include "harness/core/error.hpp"
#include "harness/train/settings.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <set>
#include <tuple>

namespace recollect::train {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(train_texts)

Params of(const Assignments &given) { return resolve(settings(), given, "train"); }

BOOST_AUTO_TEST_CASE(mqar_asks_every_key_for_its_value) {
  const Params p = of({{"pairs", "5"}, {"vocabulary", "20"}, {"batch", "30"}});
  const Texts texts = make_texts(p, 1, "train", 4);
  BOOST_TEST((texts.count == 30 && texts.length == 16 && text_length(p) == 16));
  std::set<std::vector<int>> different;
  for (int i = 0; i < texts.count; ++i) {
    const int *x = &texts.tokens[size_t(i) * 16], *y = &texts.labels[size_t(i) * 16];
    different.insert(std::vector<int>(x, x + 16));
    std::map<int, int> value;
    for (int pair = 0; pair < 5; ++pair) {
      BOOST_TEST((x[2 * pair] < 10 && x[2 * pair + 1] >= 10 && x[2 * pair + 1] < 19));
      value[x[2 * pair]] = x[2 * pair + 1];
    }
    BOOST_TEST(value.size() == 5u); // distinct keys
    BOOST_TEST(x[10] == 19);
    std::set<int> asked;
    for (int t = 0; t < 16; ++t) {
      BOOST_TEST((t < 11 ? y[t] == -1 : y[t] == value.at(x[t])));
      if (t > 10) asked.insert(x[t]);
    }
    BOOST_TEST(asked.size() == 5u);
  }
  BOOST_TEST(different.size() == 30u);
  BOOST_TEST((make_texts(p, 1, "train", 4).tokens == texts.tokens));
  BOOST_TEST(
      (make_texts(p, 1, "train", 5).tokens != texts.tokens && make_texts(p, 2, "train", 4).tokens != texts.tokens));
}

/// Texts of 16 tokens with 3 pairs: 6 of them, 6 of filler, the separator, 3 keys.
BOOST_AUTO_TEST_CASE(longer_texts_are_filled_before_the_separator) {
  const Assignments base{{"pairs", "3"}, {"vocabulary", "20"}, {"batch", "30"}, {"length", "16"}};
  BOOST_CHECK_THROW(check_texts(of({{"pairs", "3"}, {"length", "9"}})), Error);
  for (const std::string filler : {"random", "pairs", "pad"}) {
    Assignments given = base;
    given["filler"] = filler;
    const Params p = of(given);
    const Texts texts = make_texts(p, 1, "train", 0);
    BOOST_TEST((texts.length == 16 && text_length(p) == 16));
    std::set<int> seen;
    for (int i = 0; i < texts.count; ++i) {
      const int *x = &texts.tokens[size_t(i) * 16], *y = &texts.labels[size_t(i) * 16];
      std::map<int, int> value{{x[0], x[1]}, {x[2], x[3]}, {x[4], x[5]}};
      BOOST_TEST((value.size() == 3u && x[12] == 19));
      for (int t = 6; t < 12; ++t) {
        seen.insert(x[t]);
        BOOST_TEST(y[t] == -1);
        if (filler == "random") BOOST_TEST((value.count(x[t]) == 0 && x[t] < 19));
        if (filler == "pad") BOOST_TEST(x[t] == 19);
        if (filler == "pairs" && t % 2 == 0) BOOST_TEST((value.count(x[t]) == 1 && x[t + 1] == value[x[t]]));
      }
      for (int t = 13; t < 16; ++t) BOOST_TEST(y[t] == value.at(x[t]));
    }
    BOOST_TEST((filler == "pad" ? seen.size() == 1 : seen.size() > 14));
  }
  Assignments odd = base;
  odd["length"] = "15", odd["filler"] = "pairs"; // long enough for two and a half pairs
  const Texts texts = make_texts(of(odd), 1, "train", 0);
  BOOST_TEST((texts.tokens[10] == 19 && texts.tokens[11] == 19 && texts.tokens[9] >= 10));
}

/// 004's printed baselines are the guess of the most frequent value among all 127 tokens: .262, .151, .084 at n = 4, 8,
/// 24. Among 63 it would be .273, .173, .099. 3,000 texts; the fraction's standard deviation is below .09.
BOOST_AUTO_TEST_CASE(keys_and_values_of_any_token_have_the_papers_guess) {
  for (const auto &[any, n, guess] : {std::tuple(true, 4, 0.262),
                                      {true, 8, 0.151},
                                      {true, 24, 0.084},
                                      {false, 4, 0.273},
                                      {false, 8, 0.173},
                                      {false, 24, 0.099}}) {
    const Params p = of({{"pairs", std::to_string(n)},
                         {"batch", "3000"},
                         {"key_tokens", any ? "any" : "lower"},
                         {"values", any ? "any" : "upper"}});
    const Texts texts = make_texts(p, 1, "train", 0);
    std::set<int> keys;
    double share = 0;
    for (int i = 0; i < texts.count; ++i) {
      const int *x = &texts.tokens[size_t(i) * size_t(texts.length)];
      std::map<int, int> count;
      std::set<int> own;
      int most = 0;
      for (int pair = 0; pair < n; ++pair)
        own.insert(x[2 * pair]), keys.insert(x[2 * pair]), most = std::max(most, ++count[x[2 * pair + 1]]);
      BOOST_TEST(own.size() == size_t(n));
      share += double(most) / n / texts.count;
    }
    BOOST_TEST(keys.size() == (any ? 127u : 64u));
    BOOST_TEST(std::fabs(share - guess) < 0.0005 + 4 * 0.09 / std::sqrt(3000.0), any << " " << n << ": " << share);
  }
}

BOOST_AUTO_TEST_CASE(what_repeats_in_a_text_is_a_setting) {
  const Assignments base{
      {"pairs", "8"}, {"vocabulary", "20"}, {"batch", "60"}, {"key_tokens", "any"}, {"values", "any"}};
  const auto texts = [&](const char *repeats) {
    Assignments given = base;
    given["repeats"] = repeats;
    return make_texts(of(given), 1, "train", 0);
  };
  const auto distinct = [](const Texts &t, int offset) { // texts without a repeat among keys (0) or values (1)
    int count = 0;
    for (int i = 0; i < t.count; ++i) {
      std::set<int> seen;
      for (int pair = 0; pair < 8; ++pair)
        seen.insert(t.tokens[size_t(i) * size_t(t.length) + size_t(2 * pair + offset)]);
      count += seen.size() == 8;
    }
    return count;
  };
  const Texts none = texts("none"), values = texts("values"), all = texts("all");
  BOOST_TEST((distinct(none, 0) == 60 && distinct(none, 1) == 60));
  BOOST_TEST((distinct(values, 0) == 60 && distinct(values, 1) < 40));
  BOOST_TEST((distinct(all, 0) < 40 && distinct(all, 1) < 40));
  for (int i = 0; i < all.count; ++i) { // the answer is the latest value of the key
    const int *x = &all.tokens[size_t(i) * size_t(all.length)], *y = &all.labels[size_t(i) * size_t(all.length)];
    std::map<int, int> value;
    for (int pair = 0; pair < 8; ++pair) value[x[2 * pair]] = x[2 * pair + 1];
    for (int t = 17; t < 25; ++t) BOOST_TEST(y[t] == value.at(x[t]));
  }
  Assignments few = base;
  few["pairs"] = "20";
  BOOST_CHECK_THROW(check_texts(of(few)), Error); // 19 keys are needed
  few["pairs"] = "12", few["values"] = "upper", few["repeats"] = "none";
  BOOST_CHECK_THROW(check_texts(of(few)), Error); // 9 values are needed
  few = base, few["held_out_keys"] = "unseen";
  BOOST_CHECK_THROW(check_texts(of(few)), Error); // no key is unseen
}

BOOST_AUTO_TEST_CASE(values_and_unseen_keys_have_their_half) {
  for (const auto &[values, low, high] : {std::tuple("upper", 10, 18), {"lower", 0, 9}, {"any", 0, 18}}) {
    const Params p =
        of({{"pairs", "4"}, {"vocabulary", "20"}, {"batch", "60"}, {"values", values}, {"held_out_keys", "unseen"}});
    const Texts train = make_texts(p, 1, "train", 0), held_out = make_texts(p, 1, "evaluate", 0);
    std::set<int> found, keys;
    for (size_t at = 0; at < train.tokens.size(); at += 13)
      for (size_t i = at; i < at + 8; i += 2) {
        BOOST_TEST((train.tokens[i] < 10 && held_out.tokens[i] >= 10 && held_out.tokens[i] < 19));
        keys.insert(held_out.tokens[i]);
        found.insert(train.tokens[i + 1]), found.insert(held_out.tokens[i + 1]);
      }
    BOOST_TEST((*found.begin() == low && *found.rbegin() == high && int(found.size()) == high - low + 1));
    BOOST_TEST(keys.size() == 9u);
  }
  BOOST_CHECK_THROW(check_texts(of({{"pairs", "10"}, {"vocabulary", "20"}, {"held_out_keys", "unseen"}})), Error);
}

BOOST_AUTO_TEST_CASE(under_a_fixed_map_a_key_has_one_value) {
  const auto pairs_seen = [](const std::string &map, std::uint64_t seed) {
    const Params p = of({{"pairs", "4"}, {"vocabulary", "20"}, {"batch", "60"}, {"map", map}});
    std::set<std::pair<int, int>> seen;
    for (const char *use : {"train", "evaluate"}) {
      const Texts texts = make_texts(p, seed, use, 0);
      for (size_t at = 0; at < texts.tokens.size(); at += 13)
        for (size_t i = at; i < at + 8; i += 2) seen.emplace(texts.tokens[i], texts.tokens[i + 1]);
    }
    return seen;
  };
  const auto fixed = pairs_seen("fixed", 1), other = pairs_seen("fixed", 2);
  BOOST_TEST((fixed.size() == 10u && other.size() == 10u && fixed != other)); // ten keys
  std::set<int> values;
  for (const auto &[key, value] : fixed) values.insert(value);
  BOOST_TEST((values.size() > 3u && *values.begin() >= 10 && *values.rbegin() < 19));
  BOOST_TEST(pairs_seen("fresh", 1).size() > 80u); // of the 90 possible pairs
}

BOOST_AUTO_TEST_CASE(shuffled_answers_are_the_same_ones_in_training_alone) {
  const Assignments base{{"pairs", "6"}, {"vocabulary", "64"}, {"batch", "20"}};
  Assignments other = base;
  other["labels"] = "shuffled";
  const Texts right = make_texts(of(base), 1, "train", 0), shuffled = make_texts(of(other), 1, "train", 0);
  BOOST_TEST((right.tokens == shuffled.tokens && right.labels != shuffled.labels));
  for (int i = 0; i < right.count; ++i) {
    const auto sorted = [&](std::vector<int> all) {
      all = {all.begin() + i * 19, all.begin() + (i + 1) * 19};
      std::sort(all.begin(), all.end());
      return all;
    };
    BOOST_TEST((sorted(right.labels) == sorted(shuffled.labels)));
  }
  BOOST_TEST((make_texts(of(base), 1, "evaluate", 0).labels == make_texts(of(other), 1, "evaluate", 0).labels));
}

BOOST_AUTO_TEST_CASE(bigrams_ask_every_cue_that_came_before) {
  const Params p = of({{"task", "bigrams"}, {"pairs", "6"}, {"context", "9"}, {"vocabulary", "20"}, {"batch", "40"}});
  const Texts texts = make_texts(p, 1, "train", 2), held_out = make_texts(p, 1, "evaluate", 2);
  BOOST_TEST((texts.length == 19 && text_length(p) == 19 && chance(p) == 1.0 / 6));
  std::set<std::map<int, int>> maps;
  for (int i = 0; i < texts.count; ++i) {
    const int *x = &texts.tokens[size_t(i) * 19], *y = &texts.labels[size_t(i) * 19];
    std::map<int, int> response;
    std::set<int> responses;
    for (int t = 0; t < 19; ++t) {
      const bool cue = t % 2 == 0;
      BOOST_TEST((x[t] < 10) == cue);
      BOOST_TEST(y[t] == (cue && response.count(x[t]) ? response[x[t]] : -1));
      if (cue && t < 18) {
        BOOST_TEST((!response.count(x[t]) || response[x[t]] == x[t + 1]));
        response[x[t]] = x[t + 1], responses.insert(x[t + 1]);
      }
    }
    BOOST_TEST((y[18] >= 0 && response.size() == responses.size() && response.size() <= 6u));
    maps.insert(response);
    const int *z = &held_out.labels[size_t(i) * 19];
    BOOST_TEST((std::count(z, z + 18, -1) == 18 && z[18] >= 10));
  }
  BOOST_TEST(maps.size() == 40u);
}

BOOST_AUTO_TEST_CASE(swaps_ask_for_the_first_element) {
  const Params p = of({{"task", "swaps"}, {"elements", "4"}, {"pairs", "12"}, {"vocabulary", "10"}, {"batch", "5"}});
  const Texts texts = make_texts(p, 1, "train", 0);
  BOOST_TEST((texts.length == 12 && chance(p) == 0.25));
  const std::pair<int, int> places[] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  std::set<int> seen;
  for (int i = 0; i < 5; ++i) {
    std::vector<int> held{0, 1, 2, 3};
    for (int t = 0; t < 12; ++t) {
      const int token = texts.tokens[size_t(i * 12 + t)];
      BOOST_TEST_REQUIRE((token >= 0 && token < 6));
      seen.insert(token);
      std::swap(held[size_t(places[token].first)], held[size_t(places[token].second)]);
      BOOST_TEST(texts.labels[size_t(i * 12 + t)] == held[0]);
    }
  }
  BOOST_TEST(seen.size() == 6u);
}

/// 3 pairs in 20 tokens, and one key written again: its answer is the value written last.
BOOST_AUTO_TEST_CASE(zoology_asks_every_key_once_among_random_tokens) {
  const Assignments given{{"task", "zoology"}, {"pairs", "3"}, {"vocabulary", "40"}, {"batch", "30"}, {"updates", "1"}};
  Assignments longer = given;
  longer["length"] = "20";
  const Params p = of(longer);
  BOOST_TEST((text_length(of(given)) == 14 && text_length(p) == 20 && chance(p) == 1.0 / 3));
  const Texts texts = make_texts(p, 1, "train", 2);
  std::set<int> places;
  for (int i = 0; i < texts.count; ++i) {
    const int *x = &texts.tokens[size_t(i) * 20], *y = &texts.labels[size_t(i) * 20];
    std::map<int, int> value;
    for (int pair = 0; pair < 4; ++pair) value[x[2 * pair]] = x[2 * pair + 1];
    BOOST_TEST(value.size() == 3u);
    std::set<int> asked;
    for (int t = 0; t < 20; ++t) {
      if (y[t] < 0) continue;
      BOOST_TEST((t >= 8 && y[t] == value.at(x[t])));
      asked.insert(x[t]), places.insert(t);
    }
    BOOST_TEST(asked.size() == 3u);
  }
  BOOST_TEST(places == (std::set<int>{8, 10, 12, 14, 16, 18}), boost::test_tools::per_element());
  BOOST_TEST(
      (make_texts(p, 1, "train", 3).tokens != texts.tokens && make_texts(p, 2, "train", 2).tokens != texts.tokens));
  BOOST_TEST((make_texts(p, 1, "evaluate", 2).tokens != texts.tokens));
  BOOST_CHECK_THROW(check_texts(of({{"task", "zoology"}, {"pairs", "4"}, {"length", "15"}})), Error);
}

/// 4 pairs of 2 x 2 keys: neither token of a key alone determines the value, and the second one asks.
BOOST_AUTO_TEST_CASE(zoology_composes_keys_of_two_tokens) {
  const Params p = of({{"task", "zoology"},
                       {"key_length", "2"},
                       {"pairs", "4"},
                       {"vocabulary", "60"},
                       {"length", "30"},
                       {"batch", "30"}});
  const Texts texts = make_texts(p, 1, "train", 0);
  BOOST_TEST((texts.length == 30 && chance(p) == 0.25));
  for (int i = 0; i < texts.count; ++i) {
    const int *x = &texts.tokens[size_t(i) * 30], *y = &texts.labels[size_t(i) * 30];
    std::map<std::pair<int, int>, int> value;
    std::map<int, std::set<int>> first, second;
    for (int t = 0; t < 12; t += 3) {
      BOOST_TEST((x[t] < 20 && x[t + 1] >= 20 && x[t + 1] < 40 && x[t + 2] >= 40));
      value[{x[t], x[t + 1]}] = x[t + 2];
      first[x[t]].insert(x[t + 2]), second[x[t + 1]].insert(x[t + 2]);
    }
    BOOST_TEST((value.size() == 4u && first.size() == 2u && second.size() == 2u));
    for (const auto *half : {&first, &second})
      for (const auto &[token, values] : *half) BOOST_TEST(values.size() == 2u);
    int asked = 0;
    for (int t = 0; t < 30; ++t) {
      if (y[t] < 0) continue;
      BOOST_TEST(y[t] == value.at({x[t - 1], x[t]}));
      ++asked;
    }
    BOOST_TEST(asked == 4);
  }
}

/// 6 pairs of 3 keys, 3 values and 4 noise tokens. In a text such as 0 4 7 9 2 3 0 4 2 3 0 the third and the last key, 0,
/// ask for 4, and the second 2 asks for 3.
BOOST_AUTO_TEST_CASE(noisy_recall_asks_keys_that_occurred_before) {
  const Params p = of({{"task", "noisy_recall"},
                       {"pairs", "6"},
                       {"vocabulary", "10"},
                       {"noise_tokens", "4"},
                       {"noise", "0.4"},
                       {"batch", "200"}});
  BOOST_TEST((text_length(p) == 11 && chance(p) == 1.0 / 3));
  const Texts texts = make_texts(p, 1, "train", 0);
  int noise = 0;
  for (int i = 0; i < texts.count; ++i) {
    const int *x = &texts.tokens[size_t(i) * 11], *y = &texts.labels[size_t(i) * 11];
    std::map<int, int> value;
    for (int t = 0; t < 11; t += 2) {
      if (t < 10) BOOST_TEST(y[t + 1] == -1);
      if (x[t] >= 6) {
        BOOST_TEST((t < 10 && x[t + 1] >= 6 && y[t] == -1));
        ++noise;
      } else {
        BOOST_TEST(y[t] == (value.count(x[t]) ? value[x[t]] : -1));
        if (t < 10) BOOST_TEST((x[t + 1] >= 3 && value.emplace(x[t], x[t + 1]).first->second == x[t + 1]));
      }
    }
    BOOST_TEST((x[10] < 3 && y[10] >= 3 && y[10] < 6));
  }
  BOOST_TEST(std::abs(noise - 0.4 * 4 * 200) < 5 * std::sqrt(0.4 * 0.6 * 4 * 200)); // one of the first five is no noise
  BOOST_TEST(make_texts(p, 1, "train", 0).tokens == texts.tokens);
  BOOST_TEST(make_texts(p, 1, "evaluate", 0).tokens != texts.tokens);
  BOOST_CHECK_THROW(check_texts(of({{"task", "noisy_recall"}, {"vocabulary", "17"}})), Error);
  BOOST_CHECK_THROW(check_texts(of({{"task", "noisy_recall"}, {"noise_tokens", "0"}})), Error);
  BOOST_CHECK_THROW(check_texts(of({{"task", "noisy_recall"}, {"pairs", "2"}})), Error);
}

/// 2 words in 9 tokens, as in 6 6 3 6 0 7 6 6 with words 3 and 0, blank 6 and separator 7, which asks for 3 and 0.
BOOST_AUTO_TEST_CASE(selective_copy_asks_for_the_words_in_order) {
  const Params p =
      of({{"task", "selective_copy"}, {"pairs", "2"}, {"vocabulary", "8"}, {"length", "9"}, {"batch", "400"}});
  BOOST_TEST((text_length(p) == 9 && chance(p) == 1.0 / 6));
  BOOST_TEST(text_length(of({{"task", "selective_copy"}, {"pairs", "5"}})) == 11);
  const Texts texts = make_texts(p, 1, "train", 0);
  int before_first = 0;
  for (int i = 0; i < texts.count; ++i) {
    const int *x = &texts.tokens[size_t(i) * 9], *y = &texts.labels[size_t(i) * 9];
    std::vector<int> words;
    for (int t = 0; t < 6; ++t) {
      BOOST_TEST((x[t] <= 6 && y[t] == -1));
      if (x[t] < 6) words.push_back(x[t]);
      before_first += words.empty();
    }
    BOOST_TEST_REQUIRE(words.size() == 2u);
    BOOST_TEST((x[5] < 6 && x[6] == 7 && y[6] == -1 && x[7] == 6 && x[8] == 6 && y[7] == words[0] && y[8] == words[1]));
  }
  BOOST_TEST(std::abs(before_first - 800) < 5 * std::sqrt(400)); // each of the 4 blanks with probability 1/2
  BOOST_CHECK_THROW(check_texts(of({{"task", "selective_copy"}, {"pairs", "4"}, {"length", "8"}})), Error);
}

BOOST_AUTO_TEST_CASE(words_ask_for_the_product_so_far) {
  // Z3's elements in order rotate by 0, 1 and 2 places, so products are sums modulo 3.
  const Params p = of({{"task", "words"}, {"group", "Z3"}, {"pairs", "12"}, {"batch", "5"}, {"held_out_pairs", "40"}});
  const Texts texts = make_texts(p, 1, "train", 0), longer = make_texts(p, 1, "evaluate", 0);
  BOOST_TEST((texts.length == 12 && longer.length == 40 && text_length(p) == 12 && chance(p) == 1.0 / 3));
  for (const Texts *all : {&texts, &longer})
    for (int i = 0; i < 5; ++i)
      for (int t = 0, sum = 0; t < all->length; ++t) {
        sum += all->tokens[size_t(i * all->length + t)];
        BOOST_TEST(all->labels[size_t(i * all->length + t)] == sum % 3);
      }
  BOOST_TEST(chance(of({{"task", "words"}, {"group", "A5"}})) == 1.0 / 60);
  BOOST_CHECK_THROW(check_texts(of({{"task", "words"}, {"group", "S5"}, {"vocabulary", "119"}})), Error);
  BOOST_CHECK_THROW(check_texts(p), Error); // learned positions
  Assignments free{{"task", "words"}, {"group", "Z3"}, {"held_out_pairs", "200"}, {"positions", "none"}};
  BOOST_CHECK_NO_THROW(check_texts(of(free)));
  free["task"] = "mqar"; // 200 keys of 64
  BOOST_CHECK_THROW(check_texts(of(free)), Error);
}

BOOST_AUTO_TEST_CASE(trees_ask_what_the_first_node_reaches) {
  const Params p = of({{"task", "trees"}, {"elements", "12"}, {"batch", "30"}});
  const Texts texts = make_texts(p, 1, "train", 0);
  BOOST_TEST((texts.length == 12 && chance(p) == 0.5));
  std::set<std::vector<int>> different;
  for (int i = 0; i < texts.count; ++i) {
    const int *parent = &texts.tokens[size_t(i) * 12], *y = &texts.labels[size_t(i) * 12];
    different.insert(std::vector<int>(parent, parent + 12));
    int reached = 0, roots = 0;
    for (int node = 0; node < 12; ++node) {
      int at = node;
      while (parent[at] != at) {
        BOOST_TEST_REQUIRE(parent[at] < at);
        at = parent[at];
      }
      BOOST_TEST(y[node] == int(at == 0));
      reached += y[node], roots += parent[node] == node;
    }
    BOOST_TEST((reached == 6 && roots == 2));
  }
  BOOST_TEST(different.size() == 30u);
}

BOOST_AUTO_TEST_CASE(copy_asks_for_the_next_token) {
  const Texts texts = make_texts(of({{"task", "copy"}, {"pairs", "3"}, {"batch", "2"}}), 1, "train", 0);
  BOOST_TEST(texts.length == 7);
  for (int i = 0; i < 2; ++i) {
    const int *x = &texts.tokens[size_t(i) * 7], *y = &texts.labels[size_t(i) * 7];
    for (int j = 0; j < 3; ++j) BOOST_TEST((x[4 + j] == x[j] && y[3 + j] == x[j] && y[j] == -1));
    BOOST_TEST((x[3] == 127 && y[6] == -1));
  }
}

BOOST_AUTO_TEST_CASE(text_asks_for_the_next_byte) {
  Corpus corpus;
  for (int i = 0; i < 300; ++i) corpus.bytes += char(i % 251); // 240 and more in the last tenth: bytes past 127 too
  const Params p = of({{"task", "text"}, {"vocabulary", "256"}, {"context", "7"}, {"batch", "400"}});
  BOOST_TEST((corpus.held_out() == 270u && text_length(p) == 7 && chance(p) == 1.0 / 256));
  std::set<int> starts;
  for (const char *use : {"train", "evaluate"}) {
    const Texts texts = make_texts(p, 1, use, 0, &corpus);
    for (int i = 0; i < texts.count; ++i) {
      const int *x = &texts.tokens[size_t(i) * 7], *y = &texts.labels[size_t(i) * 7];
      for (int t = 0; t < 7; ++t) BOOST_TEST((y[t] == (x[t] + 1) % 251 && (t == 6 || x[t + 1] == y[t])));
      if (use == std::string("evaluate")) starts.insert(x[0]);
    }
    if (use == std::string("train")) // every position occurred, and none whose answer is the last byte is held out
      BOOST_TEST(*std::max_element(texts.labels.begin(), texts.labels.end()) == 250);
  }
  BOOST_TEST((starts.size() == 23u && *starts.begin() == 19 && *starts.rbegin() == 41)); // bytes 270 ... 292
  BOOST_CHECK_THROW(make_texts(p, 1, "train", 0), Error);
  BOOST_CHECK_THROW(make_texts(of({{"task", "copy"}}), 1, "train", 0, &corpus), Error);
  corpus.bytes.resize(79);
  BOOST_CHECK_THROW(make_texts(p, 1, "train", 0, &corpus), Error);
  corpus.bytes += char(79);
  BOOST_TEST(make_texts(p, 1, "evaluate", 0, &corpus).labels[6] == 79);
}

BOOST_AUTO_TEST_CASE(a_corpus_is_known_by_size_and_hash) { // FNV-1a's published value of "foobar"
  BOOST_TEST(Corpus{"foobar"}.identity() == "6 bytes, 85944171f73967e8");
  BOOST_TEST(Corpus{"foobas"}.identity() != Corpus{"foobar"}.identity());
  BOOST_CHECK_THROW(load_corpus("no such file"), Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect::train
