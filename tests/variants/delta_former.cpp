// SPDX-License-Identifier: Apache-2.0
#include "tests/testing.hpp"
#include <cmath>

namespace recollect {
namespace {

const std::vector<std::string> kernels{"linear", "round", "exp", "softmax", "relu"};
const Variant &layer() { return find_variant("delta_former"); }
Run with(const std::string &form, const std::string &kappa1, const std::string &kappa2, int chunk = 64,
         const std::string &tau = "1") {
  return {form, Real::f64, chunk, variant_params(layer(), {{"kappa1", kappa1}, {"kappa2", kappa2}, {"tau", tau}})};
}

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(delta_former)

BOOST_AUTO_TEST_CASE(two_steps_by_hand) {
  // One channel: k = (1, 2), w = (-, 0.75), q = (1, -1), v = (8, 4), alpha = (1, 1/2), beta = (-, 1/4). u_1 = 8, and
  // kappa1(k_1, w_2): z = 0.75;  kappa2(k, q_2): z = (-1, -2);  o_1 = kappa2(z = 1) u_1.
  Sequence s = one_head(2, {1, -1}, {1, 2}, {8, 4});
  s.w = {5, 0.75}, s.alpha = {1, 0.5}, s.beta = {3, 0.25};
  const double e = std::exp(1.0), u2_linear = 2 - 0.25 * 0.75 * 8, u2_whole = 2 - 0.25 * 8,
               u2_exp = 2 - 0.25 * std::exp(0.75) * 8;
  const struct {
    std::string kappa1, kappa2;
    double o1, o2;
  } cases[] = {{"linear", "linear", 8, -8 - 2 * u2_linear},
               {"round", "round", 8, -8 - 2 * u2_whole},
               {"relu", "relu", 8, 0},
               {"exp", "exp", 8 * e, 8 / e + u2_exp / (e * e)},
               {"softmax", "softmax", 8, (8 * e + u2_whole) / (e + 1)},
               {"exp", "linear", 8, -8 - 2 * u2_exp}};
  for (const auto &c : cases)
    for (const char *form : {"recurrent", "chunked", "doubling"})
      for (int chunk : {1, 2}) {
        BOOST_TEST_INFO(c.kappa1 << " " << c.kappa2 << " " << form << " C=" << chunk);
        check_close(forward(layer(), s, with(form, c.kappa1, c.kappa2, chunk)).o, {c.o1, c.o2}, 1e-14);
      }
}

BOOST_AUTO_TEST_CASE(every_pair_of_kernels_in_every_form) {
  const Shape shape{1, 3, 70, 6, 5};
  const Sequence s = random_sequence(shape, 11);
  for (const std::string &kappa1 : kernels)
    for (const std::string &kappa2 : kernels) {
      const std::string tau = "8"; // exp(z/8) keeps the recursion of exp from diverging too fast to compare
      const Run reference = with("recurrent", kappa1, kappa2, 1, tau);
      const Output expected = forward(layer(), s, reference);
      const double kappa = input_condition(layer(), s, reference.params, 2);
      for (const char *form : {"chunked", "doubling"})
        for (int chunk : {3, 16, 64}) {
          if (std::string(form) == "doubling" && kappa1 == "exp" && chunk > 16)
            continue; // powers of a positive A grow, as the last case shows
          const double error =
              deviation(forward(layer(), s, with(form, kappa1, kappa2, chunk, tau)), expected).largest();
          const double bound = accumulated_terms(shape, chunk) * epsilon_of(Real::f64) * kappa;
          BOOST_TEST_INFO(kappa1 << " " << kappa2 << " " << form << " C=" << chunk << ": error " << error << ", bound "
                                 << bound);
          BOOST_TEST(error <= bound);
        }
    }
}

BOOST_AUTO_TEST_CASE(no_erase_and_a_softmax_read_is_attention) { // 000 after Eq 42
  Sequence s = random_sequence({1, 2, 70, 9, 4}, 12);
  std::fill(s.beta.begin(), s.beta.end(), 0.0), std::fill(s.alpha.begin(), s.alpha.end(), 1.0);
  Run run = with("recurrent", "linear", "softmax");
  run.params.set("scale", 1 / 3.0); // 1/sqrt(Dk)
  const Output attention = forward(find_variant("softmax"), s);
  for (const char *form : {"recurrent", "chunked", "doubling"}) {
    run.form = form;
    check_close(forward(layer(), s, run).o, attention.o,
                accumulated_terms(s.shape, 64) * epsilon_of(Real::f64) * max_abs(s.v));
  }
}

BOOST_AUTO_TEST_CASE(linear_kernels_at_the_key_are_the_delta_rule) { // 000 Eq 91-93, S_t = S_{t-1}(I - k k^T) + v k^T
  Sequence s = random_sequence({1, 1, 80, 7, 5}, 13);
  s.w.clear(), s.beta.clear(), s.alpha.clear();
  const int T = s.shape.T, Dk = s.shape.Dk, Dv = s.shape.Dv;
  std::vector<double> expected;
  Dense S(Dv, Dk);
  for (int t = 0; t < T; ++t) {
    const Dense k(Dk, 1, {s.k.begin() + t * Dk, s.k.begin() + (t + 1) * Dk}),
        v(Dv, 1, {s.v.begin() + t * Dv, s.v.begin() + (t + 1) * Dv}),
        q(Dk, 1, {s.q.begin() + t * Dk, s.q.begin() + (t + 1) * Dk});
    S = S * (Dense::identity(Dk) - k * transpose(k)) + v * transpose(k);
    const Dense o = S * q;
    expected.insert(expected.end(), o.data.begin(), o.data.end());
  }
  const double kappa = input_condition(layer(), s, variant_params(layer()));
  for (const char *form : {"recurrent", "chunked", "doubling"})
    check_close(forward(layer(), s, with(form, "linear", "linear", 16)).o, expected,
                accumulated_terms(s.shape, 16) * epsilon_of(Real::f64) * kappa * max_abs(expected));
}

BOOST_AUTO_TEST_CASE(swap_of_two_states) { // 000 Theorem 1: k = k_1 - k_2 and v = 0 exchanges the two values
  Sequence s = one_head(3, {1, 0, 0, 1, 1, 0}, {1, 0, 0, 1, 1, -1}, {3, 5, 0});
  for (const char *form : {"recurrent", "chunked", "doubling"})
    check_close(forward(layer(), s, with(form, "round", "round")).o, {3, 5, 5}, 0);
}

BOOST_AUTO_TEST_CASE(grouped_lookups_by_hand) { // 000 Eq 111: 2 round(0.75) + 3 round(2 * 0.75) = 2 + 6
  Sequence s = one_head(2, {1, -1}, {1, 2}, {8, 4});
  s.w = {5, 0.75};
  Run run{"recurrent", Real::f64, 2,
          variant_params(layer(), {{"kappa1", "round"}, {"groups", "2"}, {"a1", "2"}, {"a2", "3"}})};
  for (const char *form : {"recurrent", "chunked", "doubling"}) {
    run.form = form;
    check_close(forward(layer(), s, run).o, {8, -8 - 2 * (4 - 8 * 8)}, 0);
  }
}

BOOST_AUTO_TEST_CASE(shared_lookups_by_hand) {
  // Two heads of the same keys (1, 2) and values (8, 4), lookups (-, 0.75) and (-, 2.5) of weights 3 and -1, rounded: 1 and
  // 2 (ties to even). The mean is (3 * 1 - 1 * 2) / 2, so that both heads have u_2 = 4 - 8 / 2.
  Sequence s;
  s.shape = {1, 2, 2, 1, 1};
  s.q = {1, 1, 1, -1}, s.k = {1, 2, 1, 2}, s.v = {8, 4, 8, 4}, s.w = {5, 0.75, 5, 2.5}, s.beta = {7, 3, 7, -1};
  Run run{"recurrent", Real::f64, 2, variant_params(layer(), {{"kappa1", "round"}, {"lookups", "shared"}})};
  for (const char *form : {"recurrent", "chunked", "doubling"}) {
    run.form = form;
    check_close(forward(layer(), s, run).o, {8, 8 + 2 * 0, 8, -8 - 2 * 0}, 0);
    s.v = {8, 6, 8, 6}; // u_2 = 2
    check_close(forward(layer(), s, run).o, {8, 8 + 2 * 2, 8, -8 - 2 * 2}, 0);
    s.v = {8, 4, 8, 4};
  }
}

BOOST_AUTO_TEST_CASE(shared_lookups_of_a_softmax_by_hand) {
  // Three steps, two heads, keys (0, 1, -). Lookup log 3 weighs keys 1 and 2 as 1 : 3, lookup -log 3 as 3 : 1. With
  // strengths 2 and 1, A_31 = (2 * 1/4 + 1 * 3/4) / 2 = 5/8 and A_32 = (2 * 3/4 + 1 * 1/4) / 2 = 7/8. A single key has
  // weight 1, so A_21 = 3/2.
  const double l = std::log(3.0), u2 = 4 - 1.5 * 8, u3 = 16 - 5.0 / 8 * 8 - 7.0 / 8 * u2;
  Sequence s;
  s.shape = {1, 2, 3, 1, 1};
  s.q = {1, 1, 1, 1, 1, 1}, s.k = {0, 1, 1, 0, 1, 1}, s.v = {8, 4, 16, 8, 4, 16};
  s.w = {5, 6, l, 5, 6, -l}, s.beta = {7, 2, 2, 7, 1, 1};
  Run run{"recurrent", Real::f64, 2, variant_params(layer(), {{"kappa1", "softmax"}, {"lookups", "shared"}})};
  for (const char *form : {"recurrent", "chunked", "doubling"}) {
    run.form = form;
    check_close(forward(layer(), s, run).o, {0, u2, u2 + u3, 0, u2, u2 + u3}, 1e-14);
  }
}

BOOST_AUTO_TEST_CASE(shared_lookups_stay_within_a_text) {
  // Every text separately; and if heads are equal, each as if alone.
  const Shape shape{2, 3, 37, 4, 5};
  const Sequence s = random_sequence(shape, 15);
  const auto run = [&](const char *form, const char *lookups) {
    return Run{form, Real::f64, 8,
               variant_params(layer(), {{"kappa1", "relu"}, {"lookups", lookups}, {"scale", "0.3"}})};
  };
  const std::vector<double> expected = forward(layer(), s, run("recurrent", "shared")).o;
  for (int text = 0; text < shape.B; ++text) {
    Sequence one;
    one.shape = shape, one.shape.B = 1;
    for (Tensor tensor : all_tensors)
      if (const size_t half = s[tensor].size() / 2)
        one[tensor].assign(s[tensor].begin() + std::ptrdiff_t(text * half),
                           s[tensor].begin() + std::ptrdiff_t((text + 1) * half));
    const std::vector<double> whole(expected.begin() + text * 3 * 37 * 5, expected.begin() + (text + 1) * 3 * 37 * 5);
    for (const char *form : {"recurrent", "chunked", "doubling"})
      check_close(forward(layer(), one, run(form, "shared")).o, whole, 1e-12 * max_abs(whole));
  }
  BOOST_TEST(max_difference(expected, forward(layer(), s, run("recurrent", "own")).o) > 1e-3 * max_abs(expected));
  Sequence alike = s;
  for (Tensor tensor : all_tensors) {
    const size_t head = s[tensor].size() / size_t(shape.heads());
    for (size_t i = 0; i < s[tensor].size(); ++i) alike[tensor][i] = s[tensor][i / (3 * head) * 3 * head + i % head];
  }
  const std::vector<double> each = forward(layer(), alike, run("recurrent", "own")).o;
  check_close(forward(layer(), alike, run("chunked", "shared")).o, each, 1e-12 * max_abs(each));
}

BOOST_AUTO_TEST_CASE(
    four_grouped_exponentials_stand_in_for_the_identity) { // 000 E.2: swaps of orthonormal keys, exp in place of z
  const int n = 4;
  std::vector<double> k, v{3, 5, 7, 11}, q;
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < n; ++c) k.push_back(i == c);
  const std::vector<std::pair<int, int>> swaps{
      {0, 1}, {0, 2}, {0, 3}}; // every key is new at its second occurrence, so that z >= -1
  for (const auto &[i, j] : swaps) {
    for (int c = 0; c < n; ++c) k.push_back((c == i) - (c == j));
    v.push_back(0);
  }
  q = k;
  for (size_t i = n * n; i < q.size(); ++i) q[i] = i % n == 0; // read state 0 after each swap
  const Sequence s = one_head(n + int(swaps.size()), q, k, v);
  const auto last = [&](const Assignments &set) {
    return forward(layer(), s, {"chunked", Real::f64, 4, variant_params(layer(), set)}).o;
  };
  const std::vector<double> linear = last({}), grouped = last({{"kappa1", "exp"}, {"groups", "4"}}),
                            single = last({{"kappa1", "exp"}});
  BOOST_TEST(linear.back() == 11);
  // The fit's condition number, below 1e6, times eps, through three swaps that each add a few values of size 11.
  check_close(grouped, linear, 100 * 1e6 * epsilon_of(Real::f64));
  BOOST_TEST(max_difference(single, linear) > 1);
}

BOOST_AUTO_TEST_CASE(doubling_loses_the_digits_that_substitution_keeps) { // 000 D.3.1 on one key repeated 64 times
  Sequence s = random_sequence({1, 1, 64, 4, 1}, 14);
  s.w.clear(), s.beta.clear(), s.alpha.clear();
  for (size_t i = 0; i < s.k.size(); ++i)
    s.k[i] = i % 4 == 0; // I + A is all ones below the diagonal: u_t = v_t - v_{t-1}
  s.q = s.k;
  const std::vector<double> expected = s.v; // the last write wins
  const auto error = [&](const char *form) {
    return max_difference(forward(layer(), s, with(form, "linear", "linear")).o, expected);
  };
  BOOST_TEST(error("chunked") <= 2 * 64 * epsilon_of(Real::f64) * max_abs(s.v));
  BOOST_TEST(error("doubling") > 1e-2 * max_abs(s.v)); // powers of A reach C(62,31) = 4.7e17 > 1/eps
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
