// SPDX-License-Identifier: Apache-2.0
// Zeros, the mean, a flipped sign, noise and NaN are refused for every layer, part and type. RECOLLECT_FULL_BATTERY=1
// runs every case of the battery, which takes about twenty minutes; otherwise a few short ones run.
#include "harness/check/battery.hpp"
#include "harness/check/check.hpp"
#include "harness/core/error.hpp"
#include "harness/numerics/random.hpp"
#include "tests/testing.hpp"
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(never_vacuous)

using Numbers = std::vector<double>;

/// A short case, and one with a step or two more or less than a chunk of 64; all cases if asked for.
std::vector<BatteryCase> chosen(const Variant &v) {
  const bool full = std::getenv("RECOLLECT_FULL_BATTERY");
  const int most_steps = full ? std::numeric_limits<int>::max() : 65;
  std::vector<BatteryCase> all = battery(v, variant_params(v), Precision::bf16, true, 1, most_steps), some;
  if (full) return all;
  for (int T : {2, 65, 63})
    for (BatteryCase &one : all)
      if (one.problem.given.shape.T == T) {
        some.push_back(std::move(one));
        break;
      }
  if (some.size() > 2) some.pop_back();
  return some;
}

struct Wrong {
  const char *name;
  std::function<Numbers(const Numbers &)> of;
};
const std::vector<Wrong> &wrongs() {
  static const std::vector<Wrong> all{
      {"zeros", [](const Numbers &x) { return Numbers(x.size(), 0.0); }},
      {"the mean",
       [](const Numbers &x) { return Numbers(x.size(), std::accumulate(x.begin(), x.end(), 0.0) / double(x.size())); }},
      {"the sign turned",
       [](Numbers x) {
         for (double &one : x) one = -one;
         return x;
       }},
      {"noise of its size",
       [](const Numbers &x) {
         static Numbers all; // numbers of a stream do not depend on how many are drawn
         if (all.size() < x.size()) all = Stream(1, "never_vacuous").normals(x.size());
         Numbers noise(all.begin(), all.begin() + std::ptrdiff_t(x.size()));
         const double rms = std::sqrt(inner(x.data(), x.data(), int(x.size())) / double(x.size()));
         for (double &one : noise) one *= rms;
         return noise;
       }},
      {"a NaN", [](Numbers x) {
         x[x.size() / 2] = std::nan("");
         return x;
       }}};
  return all;
}

BOOST_AUTO_TEST_CASE(what_is_plainly_wrong_is_refused, *slow) {
  int judged = 0, undecided = 0;
  for (const Variant &v : all_variants())
    for (BatteryCase &one : chosen(v)) {
      std::optional<Reference> made;
      try {
        made.emplace(std::move(one.problem));
      } catch (const Error &failure) {
        BOOST_TEST_MESSAGE("undecided: " << v.name << " " << one.name << ": " << failure.what());
        judged += 5, undecided += 5;
        continue;
      }
      const Reference &reference = *made;
      for (Precision precision : all_precisions) {
        const std::string where = v.name + " " + one.name + " " + recollect::name_of(precision);
        bool decided = true;
        for (const Judged &part : judge_all(reference, reference.results(), precision)) {
          BOOST_TEST((part.judgement != Judgement::wrong), where << ": the definition's own " << part.name);
          decided = decided && part.judgement == Judgement::right;
        }
        ++judged, undecided += !decided;
        if (!decided) BOOST_TEST_MESSAGE("undecided: " << where);
        for (const Part &part : reference.results()) {
          if (max_abs(part.values) == 0) continue; // zeros are correct here
          for (const Wrong &wrong : wrongs()) {
            Part candidate = part;
            candidate.values = wrong.of(part.values);
            if (candidate.values == part.values) continue; // a single number is its own mean
            const std::vector<Judged> found = judge_all(reference, {candidate}, precision);
            BOOST_TEST_REQUIRE(found.size() == 1u);
            BOOST_TEST((found[0].judgement != Judgement::right), where << ": " << wrong.name << " for " << part.name);
          }
        }
      }
    }
  BOOST_TEST(judged >= 2 * 5 * 50);
  BOOST_TEST_MESSAGE(undecided << " of " << judged << " could not be decided");
  if (std::getenv("RECOLLECT_FULL_BATTERY")) BOOST_TEST(undecided * 50 <= judged); // short cases are the hardest
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
