// SPDX-License-Identifier: Apache-2.0
// The mistakes computed by hand on small numbers, and properties of all of them.
#include "harness/check/mistakes.hpp"
#include "harness/check/plant.hpp"
#include "harness/command_line/print_mistakes.hpp"
#include "harness/numerics/random.hpp"
#include "tests/harness/call/gradient_case.hpp"
#include "tests/testing.hpp"
#include <cmath>
#include <set>
#include <sstream>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(mistakes_made)

CheckCase forward_case(const std::string &layer, Sequence s) {
  const Variant &v = find_variant(layer);
  return {v, variant_params(v), std::move(s), {}};
}

/// A part of the results with the mistake, made in the way whose description begins with `way`.
std::vector<double> made(const CheckCase &problem, const std::string &mistake, const std::string &way,
                         const std::string &part = "o") {
  const PartList right = definition_of(problem);
  for (const Made &one : ways_to_make(find_mistake(mistake), problem, right))
    if (one.what.rfind(way, 0) == 0) return find_part(results_of(one, problem, right), part)->values;
  BOOST_TEST_REQUIRE(false, mistake << " is not made in the way of '" << way << "'");
  return {};
}

/// The gated delta rule for scalars: S_t = a_t S_{t-1} (1 - b_t k_t^2) + b_t v_t k_t.
struct Gated {
  std::vector<double> q{3, 5}, k{0.5, 0.75}, v{2, 7}, beta{0.5, 0.25}, alpha{0.5, 0.125};
  double start = 4;

  std::vector<double> states() const {
    const auto next = [&](double S, size_t t) {
      return alpha[t] * S * (1 - beta[t] * k[t] * k[t]) + beta[t] * v[t] * k[t];
    };
    const double first = next(start, 0);
    return {first, next(first, 1)};
  }
  std::vector<double> reads() const { return {q[0] * states()[0], q[1] * states()[1]}; }
  CheckCase problem() const {
    Sequence s = one_head(2, q, k, v);
    s.beta = beta, s.alpha = alpha, s.state = {start};
    return forward_case("gated_delta_net", s);
  }
};

BOOST_AUTO_TEST_CASE(gates_and_order_by_hand) {
  const Gated right;
  const auto is = [&](const std::string &mistake, const std::string &way, const std::vector<double> &expected) {
    BOOST_TEST_INFO(mistake);
    check_close(made(right.problem(), mistake, way), expected, 1e-13);
  };
  const auto changed = [&](auto change) {
    Gated wrong = right;
    for (size_t t : {0, 1}) change(wrong, t);
    return wrong.reads();
  };
  is("beta_not_applied", "", changed([](Gated &x, size_t t) { x.beta[t] = 1; }));
  is("beta_applied_twice", "", changed([](Gated &x, size_t t) { x.beta[t] *= x.beta[t]; }));
  is("beta_activated_again", "", changed([](Gated &x, size_t t) { x.beta[t] = 1 / (1 + std::exp(-x.beta[t])); }));
  is("beta_not_activated", "", changed([](Gated &x, size_t t) { x.beta[t] = std::log(x.beta[t] / (1 - x.beta[t])); }));
  is("beta_one_step_late", "", changed([&](Gated &x, size_t t) { x.beta[t] = t ? right.beta[0] : 0; }));
  is("gate_not_applied", "", changed([](Gated &x, size_t t) { x.alpha[t] = 1; }));
  is("gate_applied_twice", "", changed([](Gated &x, size_t t) { x.alpha[t] *= x.alpha[t]; }));
  is("gate_taken_for_its_logarithm", "", changed([](Gated &x, size_t t) { x.alpha[t] = std::exp(x.alpha[t]); }));
  is("logarithm_taken_for_gate", "", changed([](Gated &x, size_t t) { x.alpha[t] = std::log(x.alpha[t]); }));
  is("gate_one_step_off", "alpha is one step late",
     changed([&](Gated &x, size_t t) { x.alpha[t] = t ? right.alpha[0] : 1; }));
  is("gate_one_step_off", "alpha is one step early",
     changed([&](Gated &x, size_t t) { x.alpha[t] = t ? 1 : right.alpha[1]; }));
  is("gate_clamped", "the logarithm of alpha is clamped at -1",
     changed([](Gated &x, size_t t) { x.alpha[t] = std::max(x.alpha[t], std::exp(-1)); }));
  is("new_pair_decayed", "", changed([](Gated &x, size_t t) { x.v[t] *= x.alpha[t]; }));
  is("initial_state_ignored", "", changed([](Gated &x, size_t) { x.start = 0; }));
  is("queries_and_keys_exchanged", "", changed([&](Gated &x, size_t) { x.q = right.k, x.k = right.q; }));
  is("keys_and_values_exchanged", "", changed([&](Gated &x, size_t) { x.k = right.v, x.v = right.k; }));
  const std::vector<double> S = right.states();
  is("read_before_write", "", {right.q[0] * right.start, right.q[1] * S[0]});
  is("mask_off_by_one", "the mask is off by 1", {right.q[0] * S[1], right.q[1] * S[1]});
  is("mask_row_divided", "o_t sees steps up to t / 2", {right.q[0] * S[0], right.q[1] * S[0]});
  is("first_token_only", "", {right.q[0] * S[0], right.q[1] * S[0]});
  is("tail_not_written", "o is zero in the last row", {right.q[0] * S[0], 0});
}

BOOST_AUTO_TEST_CASE(the_erase_by_hand) {
  const Gated x;
  std::vector<double> undecayed, erase, write, added;
  double a = x.start, b = x.start, c = x.start, d = x.start;
  for (size_t t : {0, 1}) {
    const double k = x.k[t], v = x.v[t], beta = x.beta[t], alpha = x.alpha[t];
    undecayed.push_back(x.q[t] * (a = alpha * a + beta * k * (v - a * k)));
    write.push_back(x.q[t] * (b = alpha * b - alpha * b * k * k + beta * v * k));
    erase.push_back(x.q[t] * (c = alpha * c - beta * alpha * c * k * k + v * k));
    added.push_back(x.q[t] * (d = alpha * d + beta * v * k));
  }
  check_close(made(x.problem(), "error_before_decay", ""), undecayed, 1e-13);
  Sequence erases = x.problem().given; // with an erase key that is not the key
  erases.w = {0.3, -0.7};
  std::vector<double> other;
  double e = x.start;
  for (size_t t : {0, 1})
    other.push_back(x.q[t] * (e = x.alpha[t] * e + x.beta[t] * x.k[t] * (x.v[t] - e * erases.w[t])));
  check_close(made(forward_case("comba", erases), "error_before_decay", ""), other, 1e-13);
  Sequence channels = x.problem().given; // one channel
  channels.lambda = x.alpha, channels.alpha.clear();
  check_close(made(forward_case("kda", channels), "error_before_channel_decay", ""), undecayed, 1e-13);
  check_close(made(x.problem(), "beta_on_one_side", "beta is applied to the write"), write, 1e-13);
  check_close(made(x.problem(), "beta_on_one_side", "beta is applied to the erase"), erase, 1e-13);
  check_close(made(x.problem(), "correction_skipped", "the correction S k is skipped: beta v"), added, 1e-13);
}

BOOST_AUTO_TEST_CASE(states_by_hand) {
  const Gated x;
  const std::vector<double> S = x.states();
  check_close(made(x.problem(), "state_not_updated", "", "state"), {x.start}, 0);
  check_close(made(x.problem(), "state_before_last_step", "", "state"), {S[0]}, 1e-15);
  check_close(made(x.problem(), "state_decayed_twice", "the final state decays once more by the gate of the last step",
                   "state"),
              {S[1] * x.alpha[1]}, 1e-15);
  check_close(made(x.problem(), "padding_decays_state", "the steps that pad the last chunk to 16", "state"),
              {S[1] * std::pow(x.alpha[1], 14)}, 1e-15);
  const std::vector<double> ones(40, 1);
  const CheckCase counting = forward_case("linear", one_head(40, ones, ones, ones));
  const std::vector<double> counts = made(counting, "state_not_handed_over",
                                          "the state is not handed over between chunks of 16"),
                            tail = made(counting, "tail_without_state", "the last partial chunk of 16");
  for (int t = 0; t < 40; ++t) {
    BOOST_TEST(counts[size_t(t)] == t % 16 + 1);
    BOOST_TEST(tail[size_t(t)] == (t < 32 ? t + 1 : t - 31));
  }
  check_close(
      made(counting, "state_of_last_full_chunk", "the state returned is that after the last full chunk of 32", "state"),
      {32}, 0);
}

BOOST_AUTO_TEST_CASE(layouts_and_scales_by_hand) {
  const Sequence s = random_sequence({1, 2, 3, 1, 1}, 1); // two heads of three steps: S_t sums v k
  const CheckCase problem = forward_case("linear", s);
  const auto sums = [&](auto at) { // at(head, step): index of an element
    std::vector<double> o(6);
    for (int h = 0; h < 2; ++h) {
      double S = 0;
      for (int t = 0; t < 3; ++t) S += s.v[at(h, t)] * s.k[at(h, t)], o[at(h, t)] = S * s.q[at(h, t)];
    }
    return o;
  };
  const std::vector<double> right = sums([](int h, int t) { return h * 3 + t; });
  check_close(made(problem, "tensors_read_as_bthd", "arrays are taken"), sums([](int h, int t) { return t * 2 + h; }),
              1e-15);
  check_close(made(problem, "tensors_read_as_bthd", "the output"),
              {right[0], right[3], right[1], right[4], right[2], right[5]}, 1e-15);
  check_close(made(problem, "heads_permuted", "o of heads is written where"),
              {right[3], right[4], right[5], right[0], right[1], right[2]}, 1e-15);
  const CheckCase wide = forward_case("linear", random_sequence({1, 1, 5, 4, 2}, 2));
  const std::vector<double> o = outputs_of(wide).o;
  std::vector<double> twice = o, half = o;
  for (size_t i = 0; i < o.size(); ++i) twice[i] *= 2, half[i] /= 2; // sqrt(Dk) = 2
  check_close(made(wide, "scale_wrong", "the scale is missing"), twice, 1e-14);
  check_close(made(wide, "scale_wrong", "scores have an extra factor 1/sqrt(Dk)"), half, 1e-14);
}

BOOST_AUTO_TEST_CASE(attention_by_hand) {
  const double e = std::exp(1.0); // keys 0 and 1 of width 1: scores 0 and 1 for a query of 1
  const CheckCase two = forward_case("softmax", one_head(2, {1, 1}, {0, 1}, {2, 4}));
  check_close(made(two, "padding_not_masked", "14 keys that pad tiles of 16 are not masked"),
              {2.0 / 15, (2 + 4 * e) / (15 + e)}, 1e-14);
  std::vector<double> k(17, 0.0), v(17, 1.0), q(17, 1.0);
  k[16] = 1; // the last tile of 16 raises the maximum from 0 to 1
  const CheckCase tiles = forward_case("softmax", one_head(17, q, k, v));
  const double sum = 16 / e + 1; // of weights exp(score - 1)
  BOOST_TEST(std::fabs(made(tiles, "softmax_not_rescaled", "the sum of values")[16] - 17 / sum) < 1e-14);
  BOOST_TEST(std::fabs(made(tiles, "softmax_not_rescaled", "the normaliser")[16] - sum / 17) < 1e-14);
  const CheckCase low = forward_case("softmax", one_head(2, {1, 1}, {-6e4, -6e4}, {2, 4}));
  check_close(made(low, "finite_mask", ""), {4, 3}, 1e-14); // in the first row the masked key is the more likely one
}

BOOST_AUTO_TEST_CASE(number_types_by_hand) {
  const auto read = [](const std::string &mistake, const std::string &way, double x) {
    return made(forward_case("linear", one_head(1, {x}, {1}, {1})), mistake, way).at(0);
  };
  for (const auto &[x, rounded] :
       {std::pair{1 + 0x1p-9, 1.0}, {1 + 0x1p-8, 1.0}, {1 + 0x3p-8, 1 + 0x1p-6}, {-3.0, -3.0}})
    BOOST_TEST(read("inputs_rounded", "the inputs are rounded to bf16", x) == rounded);
  // The bits of 1 in float16, 0x3c00, are those of 2^-7 in bfloat16; q k v becomes 2^-21.
  BOOST_TEST(read("float16_bits_as_bfloat16", "", 1) == 0x1p-21);
}

BOOST_AUTO_TEST_CASE(every_mistake_says_what_it_is) {
  BOOST_TEST(all_mistakes().size() >= 80);
  std::ostringstream list;
  print_mistakes(list);
  for (const Mistake &mistake : all_mistakes()) {
    BOOST_TEST((!mistake.what.empty() && !mistake.shows.empty() && bool(mistake.make) != bool(mistake.misread)),
               mistake.name);
    BOOST_TEST(list.str().find(mistake.name + ": ") != std::string::npos);
  }
  std::ostringstream one;
  describe(one, find_mistake("initial-state-ignored"));
  BOOST_TEST(one.str() ==
             "initial_state_ignored\nWhat is wrong: the initial state is ignored\nWhere it shows: o and the state, "
             "where an initial state is given: errors are largest in the first steps\nPublic reports: vllm #22034, "
             "sparkinfer #1071\n");
}

BOOST_AUTO_TEST_CASE(ways_have_names_of_their_own_and_need_what_the_layer_takes) {
  const auto made_on = [](const std::string &layer) {
    std::set<std::string> names;
    const CheckCase problem = planting_ground(find_variant(layer), Precision::f32, false);
    const PartList right = definition_of(problem);
    for (const Mistake &mistake : all_mistakes()) {
      std::set<std::string> ways;
      for (const Made &way : ways_to_make(mistake, problem, right))
        BOOST_TEST(ways.insert(way.what).second, mistake.name << ": " << way.what);
      if (!ways.empty()) names.insert(mistake.name);
    }
    return names;
  };
  const std::set<std::string> linear = made_on("linear"), gated = made_on("gated_delta_net"),
                              softmax = made_on("softmax");
  for (const char *name : {"beta_not_applied", "gate_not_applied", "error_before_decay", "correction_skipped"})
    BOOST_TEST((gated.count(name) == 1 && linear.count(name) == 0), name);
  for (const char *name : {"initial_state_ignored", "state_returned_transposed", "state_gradient_not_handed_over"})
    BOOST_TEST((gated.count(name) == 1 && softmax.count(name) == 0), name);
  BOOST_TEST((softmax.count("padding_not_masked") == 1 && gated.count("padding_not_masked") == 0));
}

/// If a kernel's backward pass differentiates its wrong outputs, its gradient must be that of those outputs.
BOOST_AUTO_TEST_CASE(misreadings_obey_the_chain_rule, *boost::unit_test::precondition(tape_runs)) {
  for (const char *layer : {"gated_delta_net", "comba", "rwkv7"}) {
    CheckCase problem = planting_ground(find_variant(layer), Precision::f64, true);
    for (Tensor gate : {Tensor::beta, Tensor::alpha, Tensor::lambda}) // away from where a mistake switches
      for (double &x : problem.given[gate]) x = 0.45 + 0.5 * x;
    const double step = 1e-6;
    const auto along = [&](double length) {
      CheckCase other = problem;
      for (Tensor tensor : all_tensors)
        for (size_t i = 0; i < other.given[tensor].size(); ++i)
          other.given[tensor][i] += length * Stream(1, name_of(tensor)).normal(i);
      for (size_t i = 0; i < other.given.state.size(); ++i)
        other.given.state[i] += length * Stream(1, "state").normal(i);
      return other;
    };
    const CheckCase up = along(step), down = along(-step);
    const auto weighed = [&](const CheckCase &at, const Misread &misread) {
      CheckCase wrong = at;
      wrong.given = misread.inputs();
      const Output out = outputs_of(wrong);
      return inner(out.o, problem.weights.o) + inner(out.state, problem.weights.state);
    };
    for (const Mistake &mistake : all_mistakes()) {
      if (!mistake.misread) continue;
      const std::vector<Misread> here = mistake.misread(problem), above = mistake.misread(up),
                                 below = mistake.misread(down);
      for (size_t i = 0; i < here.size(); ++i) {
        if (!here[i].chain) continue; // roundings have no derivative
        CheckCase wrong = problem;
        wrong.given = here[i].inputs();
        Sequence gradient = gradients_of(wrong);
        here[i].chain(gradient);
        double slope = 0, size = 0;
        const auto add = [&](const std::vector<double> &d, const char *name) {
          for (size_t j = 0; j < d.size(); ++j) slope += d[j] * Stream(1, name).normal(j), size += std::fabs(d[j]);
        };
        for (Tensor tensor : all_tensors) add(gradient[tensor], name_of(tensor));
        add(gradient.state, "state");
        const double measured = (weighed(up, above[i]) - weighed(down, below[i])) / (2 * step);
        BOOST_TEST(std::fabs(measured - slope) <= 1e-5 * size,
                   layer << ", " << here[i].what << ": " << measured << " for " << slope);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_by_hand, *boost::unit_test::precondition(tape_runs)) {
  CheckCase problem = planting_ground(find_variant("delta_net"), Precision::f64, false);
  const PartList right = definition_of(problem);
  const auto part = [&](const std::string &mistake, const std::string &way, const std::string &name) {
    return made(problem, mistake, way, name);
  };
  const std::vector<double> dq = find_part(right, "dq")->values, dk = find_part(right, "dk")->values;
  BOOST_TEST(
      (part("gradients_exchanged", "dq and dk", "dk") == dq && part("gradients_exchanged", "dq and dk", "dq") == dk));
  check_close(part("state_gradient_of_final_state", "", "dstate"), problem.weights.state, 0);
  // This mistake keeps only the write's contribution to dbeta. It is the derivative with respect to a factor on v,
  // divided by beta, and is measured as a difference.
  const Part &dv = *find_part(right, "dv");
  const std::vector<double> write = part("beta_gradient_lacks_key_side", "", "dbeta");
  const size_t t = 7, Dv = dv.columns;
  const double h = 1e-6;
  const auto loss = [&](double factor) {
    CheckCase moved = problem;
    for (size_t i = t * Dv; i < (t + 1) * Dv; ++i) moved.given.v[i] *= factor;
    const Output out = outputs_of(moved);
    return inner(out.o, problem.weights.o) + inner(out.state, problem.weights.state);
  };
  const double measured = (loss(1 + h) - loss(1 - h)) / (2 * h) / problem.given.beta[t];
  BOOST_TEST(std::fabs(write[t] - measured) < 1e-6 * std::fabs(measured));
  // This mistake loses the gradient of the state at every boundary between chunks; the last chunk's gradient is then
  // that of the chunk alone.
  const std::vector<double> cut =
      part("state_gradient_not_handed_over", "the gradient of the state is not handed back between chunks of 64", "dk");
  const size_t D = size_t(problem.given.shape.Dk), T = size_t(problem.given.shape.T);
  BOOST_TEST((std::equal(cut.begin() + long(64 * D), cut.begin() + long(T * D), dk.begin() + long(64 * D),
                         [](double a, double b) { return std::fabs(a - b) < 1e-9; }) &&
              !std::equal(cut.begin(), cut.begin() + long(64 * D), dk.begin(),
                          [](double a, double b) { return std::fabs(a - b) < 1e-3; })));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
