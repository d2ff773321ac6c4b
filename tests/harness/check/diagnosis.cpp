// SPDX-License-Identifier: Apache-2.0
// Every known mistake is planted and must be named; correct kernels and unknown mistakes must not be named.
#include "harness/check/diagnosis.hpp"
#include "harness/check/plant.hpp"
#include "harness/numerics/random.hpp"
#include "tests/harness/call/gradient_case.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(diagnoses, *boost::unit_test::precondition(tape_runs))

struct Counted {
  int shown = 0, refused = 0, named = 0, right = 0, accused = 0;
};
Counted count(const std::string &layer, Precision precision) {
  Counted found;
  plant(find_variant(layer), precision, 1, [&](const Planted &one) {
    if (one.mistake.empty()) {
      ++found.right;
      if (one.refused) ++found.accused;
      return;
    }
    if (one.effect < 1.5) return;
    ++found.shown;
    if (one.refused) ++found.refused;
    if (one.named_right()) ++found.named;
  });
  return found;
}

BOOST_AUTO_TEST_CASE(the_planted_catalogue_is_named, *slow) {
  for (const char *layer : {"gated_delta_net", "linear", "softmax"})
    for (Precision precision : {Precision::f32, Precision::bf16}) {
      const Counted found = count(layer, precision);
      BOOST_TEST_INFO(layer << " " << name_of(precision) << ": " << found.shown << " show, " << found.refused
                            << " refused, " << found.named << " named");
      BOOST_TEST(found.shown >= 30);
      BOOST_TEST(found.refused >= 0.98 * found.shown);
      BOOST_TEST(found.named >= 0.85 * found.shown);
      BOOST_TEST((found.right == (precision == Precision::f32 ? 20 : 16) && found.accused == 0));
    }
}

/// The layers' own fast forms in float32 on misread inputs, so that rounding is real and not drawn like the noise.
BOOST_AUTO_TEST_CASE(float32_kernels_that_misread_are_named, *slow) {
  int wrong = 0, named = 0;
  for (const char *layer : {"gated_linear", "gated_delta_net", "softmax"}) {
    CheckCase problem = planting_ground(find_variant(layer), Precision::f32, false);
    problem.weights = {};
    const Reference reference(problem);
    const Suspects suspects(reference);
    for (const Mistake &mistake : all_mistakes()) {
      if (!mistake.misread) continue;
      for (const Misread &misread : mistake.misread(reference.problem())) {
        const Sequence inputs = misread.inputs();
        bool gates = true; // a chunked form takes logarithms
        for (Tensor gate : {Tensor::alpha, Tensor::lambda})
          for (double x : inputs[gate]) gates = gates && x >= 0 && x <= 1;
        if (!gates) continue;
        const PartList candidate =
            as_results(reference.problem(), forward(problem.variant, inputs, {"fast", Real::f32, 64, problem.params}));
        const std::vector<Judged> judged = judge_all(reference, candidate, Precision::f32);
        if (all_right(judged)) continue; // the mistake has no effect here
        const std::vector<Explanation> found = suspects.explain(candidate, judged, Precision::f32);
        ++wrong;
        if (std::any_of(found.begin(), found.end(),
                        [&](const Explanation &one) { return one.mistakes == std::vector<const Mistake *>{&mistake}; }))
          ++named;
        else
          BOOST_TEST_MESSAGE(layer << ": not named: " << misread.what);
      }
    }
  }
  BOOST_TEST_INFO(named << " of " << wrong << " named");
  BOOST_TEST((wrong >= 50 && named >= 0.85 * wrong));
}

/// A small problem, and a candidate that starts out correct.
struct Kernel {
  Reference reference;
  PartList results = reference.results();
  explicit Kernel(const std::string &layer, bool wide = true)
      : reference(planting_ground(find_variant(layer), Precision::f32, wide)) {}
  void restore() { results = reference.results(); }
  Part &part(const std::string &name) { return *find_part(results, name); }
  std::vector<std::string> named() const {
    std::vector<std::string> all;
    const std::vector<Judged> judged = judge_all(reference, results, Precision::f32);
    for (const Explanation &one : Suspects(reference).explain(results, judged, Precision::f32))
      for (const Mistake *mistake : one.mistakes) all.push_back(mistake->name);
    return all;
  }
  std::vector<std::string> said(Precision precision) const {
    return diagnose(reference, results, judge_all(reference, results, precision), precision);
  }
};
using Names = std::vector<std::string>;

BOOST_AUTO_TEST_CASE(mistakes_outside_the_catalogue_get_no_name) {
  Kernel kernel("gated_delta_net");
  BOOST_TEST(kernel.named().empty()); // correct
  const Stream random(1, "diagnosis/noise");
  for (size_t i = 0; i < kernel.part("o").values.size(); ++i) kernel.part("o").values[i] = random.normal(i);
  BOOST_TEST(kernel.named().empty());
  kernel.restore();
  for (double &x : kernel.part("o").values) x *= 1.1;
  BOOST_TEST(kernel.named().empty());
  kernel.restore();
  for (double &x : kernel.part("dk").values) x += 0.3;
  BOOST_TEST(kernel.named().empty());
}

BOOST_AUTO_TEST_CASE(an_array_of_nothing_but_NaN_gets_no_name) {
  for (const char *name : {"o", "dk"}) {
    Kernel kernel("gated_delta_net");
    std::fill(kernel.part(name).values.begin(), kernel.part(name).values.end(), std::nan(""));
    BOOST_TEST((kernel.named().empty() && kernel.said(Precision::f32).empty()), name);
  }
}

BOOST_AUTO_TEST_CASE(a_wrong_state_alone_and_a_wrong_gradient_alone_are_named) {
  Kernel kernel("gated_delta_net");
  for (double &x : kernel.part("state").values) x = -x;
  BOOST_TEST((kernel.named() == Names{"zero_or_negated"}));
  kernel.restore();
  std::fill(kernel.part("dk").values.begin(), kernel.part("dk").values.end(), 0.0);
  BOOST_TEST((kernel.named() == Names{"gradient_zero"}));
  for (double &x : kernel.part("o").values) x = -x; // a mistake in the forward pass as well
  BOOST_TEST((kernel.named() == Names{"zero_or_negated", "gradient_zero"}));
}

BOOST_AUTO_TEST_CASE(mistakes_that_occur_together_are_named_together) {
  Kernel kernel("gated_delta_net", false);
  CheckCase transposed = kernel.reference.problem();
  const size_t D = size_t(transposed.given.shape.Dk);
  const auto turn = [&](std::vector<double> &S) {
    const std::vector<double> own = S;
    for (size_t i = 0; i < S.size(); ++i) S[i] = own[i / (D * D) * D * D + i % D * D + i / D % D];
  };
  turn(transposed.given.state);
  transposed.weights = {};
  const PartList wrong = definition_of(transposed);
  kernel.part("o") = *find_part(wrong, "o"), kernel.part("state") = *find_part(wrong, "state");
  BOOST_TEST((kernel.named() == Names{"initial_state_transposed"}));
  turn(kernel.part("state").values);
  BOOST_TEST((kernel.named() == Names{"initial_state_transposed", "state_returned_transposed"}));
}

BOOST_AUTO_TEST_CASE(errors_of_a_coarser_type_are_named_as_such) {
  Kernel kernel("gated_delta_net");
  const CheckCase moved = disturbed(kernel.reference.problem(), Precision::tf32, 50, 64);
  kernel.results = definition_of(moved);
  const Names f32 = kernel.said(Precision::f32), tf32 = kernel.said(Precision::tf32);
  BOOST_TEST((f32 == Names{"the errors are of the size of tf32, not of f32"}));
  BOOST_TEST(tf32.empty());
}

/// Files often hold float32 whatever type a kernel writes, so that --dtype is easily forgotten.
BOOST_AUTO_TEST_CASE(numbers_of_16_bits_are_recognised_under_another_type) {
  Kernel kernel("gated_delta_net");
  const auto store = [&] {
    for (Part &part : kernel.results)
      if (part.name != "state" && part.name != "dstate")
        for (double &x : part.values) x = rounded(x, Precision::bf16);
  };
  store();
  BOOST_TEST((kernel.said(Precision::f32) ==
              Names{"every number is exact in bf16; with --dtype bf16 the candidate is right"}));
  BOOST_TEST(kernel.said(Precision::bf16).empty());
  kernel.restore();
  std::fill(kernel.part("dk").values.begin(), kernel.part("dk").values.end(), 0.0);
  store();
  const Names said = kernel.said(Precision::f32), in_type = kernel.said(Precision::bf16);
  BOOST_REQUIRE(said.size() == 2 && in_type.size() == 1);
  BOOST_TEST(said[0] == "every number is exact in bf16; with --dtype bf16 the candidate is wrong too");
  BOOST_TEST(said[1] == in_type[0]);
  BOOST_TEST(in_type[0].find("(gradient_zero)") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
