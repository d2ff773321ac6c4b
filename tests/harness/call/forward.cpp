// SPDX-License-Identifier: Apache-2.0
#include "harness/call/forward.hpp"
#include "harness/core/error.hpp"
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(passes)

/// The message of the input error from running the variant.
std::string refusal(const std::string &variant, const Sequence &s, const Run &run = {}) {
  try {
    forward(find_variant(variant), s, run);
  } catch (const Error &e) {
    BOOST_TEST(e.code == (run.form == "sideways" ? exit_usage : exit_input));
    return e.what();
  }
  return "accepted";
}
bool says(const std::string &message, const std::string &words) { return message.find(words) != std::string::npos; }

BOOST_AUTO_TEST_CASE(runs_from_a_state_to_a_state) {
  // S_1 = 2 + 3*5, read at 7
  Sequence s = one_head(1, {7}, {3}, {5});
  s.state = {2};
  const Output out = forward(find_variant("linear"), s);
  check_close(out.o, {119}, 0);
  check_close(out.state, {17}, 0);
  BOOST_TEST((out.state_shape.rows == 1 && out.state_shape.columns == 1));
}

BOOST_AUTO_TEST_CASE(a_prepared_job_starts_anew_at_each_reset) {
  const Sequence s = random_sequence({1, 2, 9, 4, 3}, 1);
  const Job job = prepare(find_variant("delta_net"), s, {"chunked", Real::f64, 4, {}});
  job.reset(), job.launch();
  const Output first = job.fetch();
  job.reset(), job.launch();
  const Output again = job.fetch();
  BOOST_TEST((again.o == first.o && again.state == first.state));
}

BOOST_AUTO_TEST_CASE(fast_is_the_faster_form_at_the_shape) {
  const Variant &layer = find_variant("gated_linear");
  for (const Shape &shape : {Shape{1, 1, 40, 16, 4}, Shape{1, 1, 40, 16, 64}}) {
    const Sequence s = random_sequence(shape, 1);
    const auto o = [&](const char *form) { return forward(layer, s, {form, Real::f32, 16, {}}).o; };
    const bool definition = counts_work() && shape.Dv == 4;
    BOOST_TEST((o("recurrent") != o("chunked")));
    BOOST_TEST((o("fast") == o(definition ? "recurrent" : "chunked")));
  }
}

BOOST_AUTO_TEST_CASE(chunks_are_clamped_and_float_is_not_double) {
  const Sequence s = random_sequence({1, 1, 9, 4, 3}, 1);
  const Variant &layer = find_variant("delta_net");
  BOOST_TEST(
      (forward(layer, s, {"chunked", Real::f64, 1000, {}}).o == forward(layer, s, {"chunked", Real::f64, 9, {}}).o));
  const Output f32 = forward(layer, s, {"recurrent", Real::f32, 1, {}}), f64 = forward(layer, s);
  BOOST_TEST((deviation(f32, f64).largest() > 0 && deviation(f32, f64).largest() < 1e-5));
}

BOOST_AUTO_TEST_CASE(refuses_by_name_what_it_cannot_run) {
  const Sequence good = random_sequence({1, 1, 3, 2, 2}, 1);
  Sequence s = good;
  s.k.pop_back();
  BOOST_TEST(says(refusal("linear", s), "k has"));
  s = good, s.v[1] = std::nan("");
  BOOST_TEST(says(refusal("linear", s), "v"));
  s = good, s.beta.clear();
  BOOST_TEST(says(refusal("delta_net", s), "beta is absent"));
  s = good, s.alpha[0] = -0.5;
  BOOST_TEST(says(refusal("gated_linear", s), "alpha holds -0.5"));
  s = good, s.lambda[0] = -1e-300;
  BOOST_TEST(says(refusal("gated_linear", s), "lambda holds -1e-300"));
  s = good, s.alpha[0] = 1.5;
  BOOST_TEST(says(refusal("gated_linear", s), "alpha"));
  s = good, s.state = {1};
  BOOST_TEST(says(refusal("linear", s), "state"));
  BOOST_TEST(says(refusal("linear", good, {"sideways", Real::f64, 1, {}}), "it has recurrent, chunked"));
  BOOST_TEST(refusal("linear", good) == "accepted");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
