// SPDX-License-Identifier: Apache-2.0
#include "harness/check/battery.hpp"
#include "tests/testing.hpp"
#include <array>
#include <cmath>
#include <set>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(batteries)

std::vector<BatteryCase> of(const std::string &name, Precision precision = Precision::f32, bool gradient = false) {
  const Variant &v = find_variant(name);
  return battery(v, variant_params(v), precision, gradient);
}
const Sequence *find_case(const std::vector<BatteryCase> &all, const std::string &name) {
  for (const BatteryCase &one : all)
    if (one.name == name) return &one.problem.given;
  return nullptr;
}
bool any_case(const std::vector<BatteryCase> &all, const std::function<bool(const Sequence &)> &has) {
  return std::any_of(all.begin(), all.end(), [&](const BatteryCase &one) { return has(one.problem.given); });
}
bool holds(const std::vector<double> &values, double x) {
  return std::find(values.begin(), values.end(), x) != values.end();
}

BOOST_AUTO_TEST_CASE(every_two_values_meet_in_some_case) {
  const std::array<int, 8> values{4, 4, 4, 4, 4, 2, 2, 2};
  std::vector<std::array<int, 8>> rows;
  for (const BatteryRow &r : battery_rows())
    rows.push_back({r.steps, r.gates, r.keys, r.widths, r.heads, r.state, r.beta, r.w});
  for (size_t i = 0; i < 8; ++i)
    for (size_t j = i + 1; j < 8; ++j) {
      std::set<std::pair<int, int>> met;
      for (const auto &row : rows) met.insert({row[i], row[j]});
      BOOST_TEST(int(met.size()) == values[i] * values[j], "factors " << i << " and " << j);
    }
}

BOOST_AUTO_TEST_CASE(gated_delta_net_meets_what_kernels_trip_over) {
  const std::vector<BatteryCase> all = of("gated_delta_net");
  BOOST_TEST((all.size() >= 22 && all.size() <= 26));
  std::set<int> lengths;
  for (const BatteryCase &one : all) {
    const Sequence &s = one.problem.given;
    lengths.insert(s.shape.T);
    BOOST_TEST(s.shape.heads() > 1);
    BOOST_TEST(!one.why.empty());
    BOOST_CHECK_NO_THROW(check_inputs(one.problem.variant, s, one.problem.params));
  }
  BOOST_TEST((lengths == std::set<int>{1, 2, 63, 64, 65, 130, 250, 1000}));
  for (int width : {48, 60, 96, 128})
    BOOST_TEST(any_case(all, [&](const Sequence &s) { return s.shape.Dk == width || s.shape.Dv == width; }), width);
  const auto some = [&](const auto &has) { return any_case(all, has); };
  BOOST_TEST(some([](const Sequence &s) { return s.shape.Dk != s.shape.Dv && !s.state.empty(); }));
  BOOST_TEST(some([](const Sequence &s) { return s.state.empty(); }));
  BOOST_TEST(some([](const Sequence &s) { return s.shape.B > 1 && s.shape.H > 1; }));
  BOOST_TEST(some([](const Sequence &s) { return holds(s.alpha, 0) && holds(s.alpha, 1); }));
  BOOST_TEST(some([](const Sequence &s) { return holds(s.beta, 0) && holds(s.beta, 2); }));
  BOOST_TEST(some([](const Sequence &s) { return max_abs(s.k) > 100; }));
}

BOOST_AUTO_TEST_CASE(a_decode_step_goes_on_from_the_prefill) {
  const std::vector<BatteryCase> all = of("gated_delta_net", Precision::bf16);
  const Sequence *prefill = find_case(all, "T130-prefill"), *decode = find_case(all, "T1-decode-S0");
  BOOST_TEST_REQUIRE((prefill && decode && decode->shape.T == 1));
  std::vector<double> state = forward(find_variant("gated_delta_net"), *prefill).state;
  for (double &x : state) x = rounded(x, Precision::bf16);
  BOOST_TEST(decode->state == state);
}

BOOST_AUTO_TEST_CASE(inputs_are_exact_in_the_type, *slow) {
  for (Precision precision : {Precision::bf16, Precision::f16, Precision::tf32})
    for (const BatteryCase &one : of("rwkv7", precision, true)) {
      const CheckCase &c = one.problem;
      const auto exact = [&](const std::vector<double> &all) {
        for (double x : all)
          if (x != rounded(x, storage_of(precision))) return false;
        return true;
      };
      for (Tensor tensor : all_tensors) BOOST_TEST(exact(c.given[tensor]), one.name << " " << name_of(tensor));
      BOOST_TEST((exact(c.given.state) && exact(c.weights.o) && exact(c.weights.state)), one.name);
      BOOST_TEST((c.weights.o.size() == c.given.v.size() && !c.weights.state.empty()));
    }
}

BOOST_AUTO_TEST_CASE(names_are_files_and_seeds_are_bits) {
  std::set<std::string> names;
  for (const BatteryCase &one : of("gated_delta_net")) {
    BOOST_TEST(names.insert(one.name).second, one.name);
    BOOST_TEST(one.name.find_first_of(" /.") == std::string::npos);
  }
  const Variant &v = find_variant("linear");
  const Sequence a = of("linear").back().problem.given, b = of("linear").back().problem.given;
  BOOST_TEST((a.q == b.q && a.state == b.state));
  BOOST_TEST(battery(v, variant_params(v), Precision::f32, false, 2).back().problem.given.q != a.q);
}

/// Cases of every layer in the type with the smallest range, f16, whose largest number is 65504.
BOOST_AUTO_TEST_CASE(every_layer_has_one_that_it_can_take_and_stays_finite_on, *slow) {
  for (const Variant &v : all_variants()) {
    const std::vector<BatteryCase> all = battery(v, variant_params(v), Precision::f16, false);
    BOOST_TEST(all.size() >= (v.traits.stable ? 14u : 4u), v.name << ": " << all.size());
    for (const BatteryCase &one : all) {
      BOOST_CHECK_NO_THROW(check_inputs(v, one.problem.given, one.problem.params));
      const Output out = outputs_of(one.problem);
      BOOST_TEST((max_abs(out.o) < 65504 && max_abs(out.state) < 65504), v.name << " " << one.name);
      if (!v.traits.stable) BOOST_TEST(one.well_conditioned);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
