// SPDX-License-Identifier: Apache-2.0
// Every form's backward pass compared with the definition's gradient, by the limits of `check --grad`.
#include "harness/call/backward.hpp"
#include "harness/check/check.hpp"
#include "harness/core/error.hpp"
#include "tests/harness/call/gradient_case.hpp"
#include <cmath>

namespace recollect {
BOOST_AUTO_TEST_SUITE(harness)
BOOST_AUTO_TEST_SUITE(backward_passes)

/// Calls f(variant, form) for all forms with a backward pass.
template <class F> void each_backward(const F &f) {
  int found = 0;
  for (const Variant &variant : all_variants())
    for (const Form &form : variant.forms)
      if (form.vjp) f(variant, form), ++found;
  BOOST_TEST(found > 0);
}

Sequence pass(const GradientCase &c, const Form &form, int chunk, Real real = Real::f64,
              Schedule schedule = Schedule::automatic) {
  Run run{form.name, real, chunk, c.params};
  run.schedule = schedule;
  return backward(c.variant, c.s, run, c.weights);
}

/// The definition's gradient of a case and its rounding noise, computed once; candidates are judged as `check --grad`
/// judges a user's.
class Referee {
public:
  explicit Referee(const GradientCase &c) : reference_({c.variant, c.params, c.s, c.weights}) {}
  bool right(const Sequence &candidate, Precision precision = Precision::f32) const {
    for (const Judged &part : judge_all(reference_, as_results(reference_.problem(), {}, candidate), precision))
      if (part.judgement == Judgement::wrong) {
        BOOST_TEST_MESSAGE(part.name << ": a row errs by " << part.row << ", a head by " << part.head
                                     << " of rounding");
        return false;
      }
    return true;
  }
  bool right_in_float64(const Sequence &candidate) const { return right(candidate, Precision::f64); }

private:
  Reference reference_;
};

/// A layer without a backward pass would be trained through the tape, and would have to say why.
BOOST_AUTO_TEST_CASE(every_layer_has_one) {
  for (const Variant &variant : all_variants())
    BOOST_TEST(std::any_of(variant.forms.begin(), variant.forms.end(),
                           [](const Form &form) { return form.vjp.f32 && form.vjp.f64; }),
               variant.name);
}

BOOST_AUTO_TEST_CASE(any_chunks_in_any_schedule, *slow) {
  each_backward([](const Variant &variant, const Form &form) {
    const GradientCase c = case_of(variant, {2, 1, 23, 7, 5}, 11);
    const Referee referee(c);
    for (Schedule schedule : {Schedule::streaming, Schedule::three_phase})
      for (int chunk : {1, 5, 8, 64})
        BOOST_TEST(referee.right_in_float64(pass(c, form, chunk, Real::f64, schedule)),
                   variant.name << " " << name_of(schedule) << " chunk " << chunk);
    const Sequence narrow = pass(c, form, 8, Real::f32);
    BOOST_TEST(referee.right(narrow), variant.name << " in float32");
    BOOST_TEST(!referee.right_in_float64(narrow), variant.name << ": the bound sees float32's rounding");
  });
}

BOOST_AUTO_TEST_CASE(several_blocks_and_windows, *slow) {
  each_backward([](const Variant &variant, const Form &form) {
    const GradientCase c = case_of(variant, {1, 2, 147, 18, 33}, 12);
    const Referee referee(c);
    for (int chunk : {37, 64})
      BOOST_TEST(referee.right_in_float64(pass(c, form, chunk)), variant.name << " chunk " << chunk);
  });
}

/// Layers with GPU kernels of static extents for these sizes (harness/device/static_extents.hpp).
constexpr const char *at_usual_sizes[] = {"linear",          "linear_elu", "retnet",        "mamba2",
                                          "gated_linear",    "rwkv6",      "delta_net",     "longhorn",
                                          "gated_delta_net", "softmax",    "softmax_qknorm"};
const Form &fast_form(const Variant &variant) {
  return *variant.find_form(variant.find_form("chunked") ? "chunked" : "parallel");
}

BOOST_AUTO_TEST_CASE(at_the_sizes_that_gpus_have_kernels_for, *slow) {
  for (const char *name : at_usual_sizes) {
    GradientCase c = case_of(find_variant(name), {1, 1, 192, 64, 64}, 19);
    for (bool gates_of_0 : {false, true}) {
      for (size_t t = 70; gates_of_0 && t < c.s.alpha.size(); t += 7) c.s.alpha[t] = 0;
      BOOST_TEST(Referee(c).right(pass(c, fast_form(c.variant), 64, Real::f32, Schedule::three_phase)),
                 name << (gates_of_0 ? ", gates of 0" : ""));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_asked_at_one_step_does_not_reach_later_ones, *slow) {
  for (const char *name : at_usual_sizes)
    for (Real real : {Real::f32, Real::f64}) {
      GradientCase c = case_of(find_variant(name), {1, 1, 192, 64, 64}, 20);
      const Sequence base = pass(c, fast_form(c.variant), 64, real, Schedule::three_phase);
      const size_t after = 64 * 106;
      for (size_t i = after - 64; i < after; ++i) // the products of these numbers with the values overflow
        c.weights.o[i] = std::copysign(real == Real::f32 ? 3e38 : 1e308, c.weights.o[i]);
      const Sequence changed = pass(c, fast_form(c.variant), 64, real, Schedule::three_phase);
      for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::v})
        for (size_t i = after; i < base[tensor].size(); ++i)
          if (!(std::fabs(changed[tensor][i] - base[tensor][i]) <= 1e-4 * max_abs(base[tensor]))) {
            BOOST_ERROR(name << " in " << name_of(real) << ": " << name_of(tensor) << " at step " << i / 64);
            break;
          }
    }
}

BOOST_AUTO_TEST_CASE(a_wrong_sign_is_noticed_in_every_tensor, *slow) {
  each_backward([](const Variant &variant, const Form &form) {
    const GradientCase c = case_of(variant, {1, 1, 12, 4, 3}, 13);
    const Referee referee(c);
    const Sequence right = pass(c, form, 5);
    BOOST_TEST(referee.right_in_float64(right), variant.name);
    const auto noticed = [&](const std::string &name, std::vector<double> Sequence::*tensor) {
      if ((right.*tensor).empty()) return;
      Sequence moved = c.s;
      for (double &x : moved.*tensor) x *= 1 + 1e-9;
      if (max_abs(right.*tensor) == 0 && c.run(moved).o == c.run(c.s).o) return; // this tensor only selects others
      Sequence wrong = right;
      double &largest = *std::max_element((wrong.*tensor).begin(), (wrong.*tensor).end(),
                                          [](double a, double b) { return std::fabs(a) < std::fabs(b); });
      BOOST_TEST(std::fabs(largest) > 0, variant.name << " " << name);
      largest = -largest;
      BOOST_TEST(!referee.right_in_float64(wrong), variant.name << " " << name);
    };
    noticed("dq", &Sequence::q), noticed("dk", &Sequence::k), noticed("dv", &Sequence::v);
    noticed("dbeta", &Sequence::beta), noticed("dalpha", &Sequence::alpha), noticed("dlambda", &Sequence::lambda);
    noticed("dw", &Sequence::w), noticed("dstate", &Sequence::state);
  });
}

BOOST_AUTO_TEST_CASE(gates_of_nothing_of_all_and_in_between, *boost::unit_test::precondition(tape_runs)) {
  each_backward([](const Variant &variant, const Form &form) {
    for (const Input &input : variant.inputs)
      if (facts_of(input.tensor()).decay && input.range == Input::positive) return;
    GradientCase c = case_of(variant, {1, 2, 21, 6, 4}, 14);
    const double gates[] = {0, 1, 1e-300, 0.5, 1, 0, 0, 1e-300, 1e-300, 0.9};
    for (std::vector<double> *gate : {&c.s.alpha, &c.s.lambda})
      for (size_t i = 0; i < gate->size(); ++i) (*gate)[i] = gates[i % 10];
    for (int chunk : {4, 21}) {
      const Sequence found = pass(c, form, chunk), wanted = gradient(variant, c.s, c.params, c.weights);
      // Where products vanish, their condition number says nothing about them; the bound is then that of sums over 21
      // steps of products that are rounded one by one.
      const auto same = [&](const std::string &name, const std::vector<double> &a, const std::vector<double> &b) {
        BOOST_TEST_INFO(variant.name << " " << name << " chunk " << chunk);
        BOOST_TEST(max_difference(a, b) <= 1e-12 * max_abs(b));
      };
      for (Tensor tensor : all_tensors) same(name_of(tensor), found[tensor], wanted[tensor]);
      same("state", found.state, wanted.state);
    }
  });
}

BOOST_AUTO_TEST_CASE(variational_rules_of_other_parameters) {
  const Variant &vla = find_variant("vla");
  for (const Assignments &settings : {Assignments{{"refresh", "4"}, {"u_norm", "0"}, {"lambda0", "1"}},
                                      Assignments{{"phi", "identity"}, {"refresh", "0"}}}) {
    GradientCase c = case_of(vla, {2, 2, 23, 5, 7}, 18);
    c.params = variant_params(vla, settings);
    const Referee referee(c);
    for (int chunk : {4, 23}) {
      BOOST_TEST_INFO(c.params.str() << " chunk " << chunk);
      BOOST_TEST(referee.right_in_float64(pass(c, *vla.find_form("chunked"), chunk)));
    }
  }
}

BOOST_AUTO_TEST_CASE(blocks_of_other_sizes_and_numbers) {
  for (const char *name : {"moba", "ffn_moe"})
    for (const Assignments &settings :
         {Assignments{{"block", "1"}, {"topk", "3"}}, Assignments{{"block", "7"}, {"topk", "1"}},
          Assignments{{"block", "5"}, {"topk", "9"}}, Assignments{{"block", "100"}, {"topk", "2"}}}) {
      GradientCase c = case_of(find_variant(name), {2, 2, 23, 5, 7}, 21);
      c.params = variant_params(c.variant, settings);
      BOOST_TEST_INFO(name << " " << c.params.str());
      BOOST_TEST(Referee(c).right_in_float64(pass(c, *c.variant.find_form("parallel"), 8)));
    }
}

BOOST_AUTO_TEST_CASE(similarities_and_groups_of_the_delta_former) {
  const Variant &layer = find_variant("delta_former");
  for (const Assignments &settings :
       {Assignments{{"kappa1", "softmax"}, {"kappa2", "relu"}}, Assignments{{"kappa1", "relu"}, {"kappa2", "softmax"}},
        Assignments{{"kappa1", "exp"}, {"kappa2", "exp"}, {"tau", "5"}},
        Assignments{{"groups", "2"}, {"kappa1", "exp"}, {"tau", "9"}},
        Assignments{{"lookups", "shared"}, {"kappa1", "exp"}, {"tau", "3"}, {"kappa2", "softmax"}},
        Assignments{{"lookups", "shared"}, {"kappa1", "softmax"}, {"tau", "0.7"}, {"kappa2", "softmax"}},
        Assignments{{"lookups", "shared"}, {"kappa1", "relu"}}, Assignments{{"lookups", "shared"}}}) {
    GradientCase c = case_of(layer, {2, 2, 23, 5, 7}, 19);
    Assignments gentle = settings;
    gentle["scale"] = "0.5";
    c.params = variant_params(layer, gentle);
    const Referee referee(c);
    for (int chunk : {4, 23}) {
      BOOST_TEST_INFO(c.params.str() << " chunk " << chunk);
      BOOST_TEST(referee.right_in_float64(pass(c, *layer.find_form("chunked"), chunk)));
    }
  }
}

BOOST_AUTO_TEST_CASE(roundings_are_passed_straight) {
  // Rounding does not change whole numbers, so their gradient is the linear one.
  const Variant &layer = find_variant("delta_former");
  GradientCase c = case_of(layer, {1, 2, 9, 3, 4}, 20);
  for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::w})
    for (double &x : c.s[tensor]) x = std::round(2 * x);
  const auto by = [&](const std::string &kappa) {
    c.params = variant_params(layer, {{"kappa1", kappa}, {"kappa2", kappa}});
    return pass(c, *layer.find_form("chunked"), 4);
  };
  const Sequence linear = by("linear"), round = by("round");
  for (Tensor tensor : all_tensors) BOOST_TEST((round[tensor] == linear[tensor]), name_of(tensor));
  BOOST_TEST(max_abs(round.w) > 0);
}

/// For numbers that rounding changes, the backward pass and the definition have the same gradient, the declared one.
BOOST_AUTO_TEST_CASE(roundings_are_passed_alike_by_both, *boost::unit_test::precondition(tape_runs)) {
  const Variant &layer = find_variant("delta_former");
  for (const Assignments &settings :
       {Assignments{{"kappa1", "round"}, {"kappa2", "softmax"}}, Assignments{{"kappa1", "round"}, {"kappa2", "round"}},
        Assignments{{"kappa1", "round"}, {"lookups", "shared"}}}) {
    GradientCase c = case_of(layer, {1, 2, 9, 5, 4}, 22);
    c.params = variant_params(layer, settings);
    c.params.set("scale", 3.0); // scores of several units
    BOOST_TEST_INFO(c.params.str());
    const Sequence found = pass(c, *layer.find_form("chunked"), 4), wanted = gradient(layer, c.s, c.params, c.weights);
    BOOST_TEST(Referee(c).right_in_float64(found));
    BOOST_TEST((max_abs(wanted.w) > 0 && max_abs(wanted.k) > 0));
  }
}

BOOST_AUTO_TEST_CASE(a_cut_anywhere_changes_nothing) {
  each_backward([](const Variant &variant, const Form &form) {
    const int T = 11, Dv = 5;
    if (variant.state_shape({1, 1, T, 6, Dv}, variant_params(variant)).size() == 0)
      return; // there is no state to pass on
    const GradientCase c = case_of(variant, {1, 1, T, 6, Dv}, 15);
    const Sequence whole = pass(c, form, 4);
    for (int cut = 1; cut < T; ++cut) {
      GradientCase first = c, rest = c;
      first.s = slice_steps(c.s, 0, cut), rest.s = slice_steps(c.s, cut, T);
      rest.s.state = c.run(first.s).state;
      const auto middle = c.weights.o.begin() + cut * Dv;
      rest.weights.o = {middle, c.weights.o.end()};
      const Sequence late = pass(rest, form, 4);
      first.weights = {{c.weights.o.begin(), middle}, late.state};
      const Sequence early = pass(first, form, 4);
      for (Tensor tensor : all_tensors) {
        std::vector<double> joined = early[tensor];
        joined.insert(joined.end(), late[tensor].begin(), late[tensor].end());
        BOOST_TEST_INFO(variant.name << " " << name_of(tensor) << " cut at " << cut);
        BOOST_TEST(max_difference(joined, whole[tensor]) <= 1e-12 * (1 + max_abs(whole[tensor])));
      }
      BOOST_TEST(max_difference(early.state, whole.state) <= 1e-12 * (1 + max_abs(whole.state)));
    }
  });
}

BOOST_AUTO_TEST_CASE(what_is_not_given_is_not_differentiated_by) {
  each_backward([](const Variant &variant, const Form &form) {
    // Without an initial state a mean is divided by the weights of few keys. At this width dpfp's features overlap.
    GradientCase c = case_of(variant, {1, 1, 9, 12, 4}, 16);
    for (const Input &input : variant.inputs)
      if (!input.required && variant.needs_one_of.empty()) c.s[input.tensor()].clear();
    c.s.state.clear(), c.weights.state.clear();
    const Sequence found = pass(c, form, 4);
    BOOST_TEST(Referee(c).right_in_float64(found), variant.name);
    for (Tensor tensor : all_tensors) BOOST_TEST(found[tensor].size() == c.s[tensor].size());
  });
}

BOOST_AUTO_TEST_CASE(the_definition_serves_where_a_pass_does_not, *boost::unit_test::precondition(tape_runs)) {
  const GradientCase c = case_of(find_variant("linear"), {1, 1, 6, 3, 2}, 18);
  const Run chunked{"chunked", Real::f64, 4, c.params};
  const Sequence defined = gradient(c.variant, c.s, c.params, c.weights);
  const auto k = [&](const Variant &variant, const Run &run) { return gradient_by(variant, c.s, run, c.weights).k; };
  BOOST_TEST((k(c.variant, chunked) == pass(c, *c.variant.find_form("chunked"), 4).k));
  BOOST_TEST((k(c.variant, {"recurrent", Real::f64, 1, c.params}) == defined.k));
  Variant silent = c.variant; // its backward pass writes nothing
  for (Form &form : silent.forms)
    if (form.vjp) form.vjp.f64 = [](const BackwardCall<double> &) {};
  BOOST_TEST((k(silent, chunked) == defined.k));
}

BOOST_AUTO_TEST_CASE(forms_without_one_say_so) {
  const GradientCase c = case_of(find_variant("softmax"), {1, 1, 4, 2, 2}, 17);
  BOOST_CHECK_THROW(backward(c.variant, c.s, {"recurrent", Real::f64, 1, c.params}, c.weights), Error);
  GradientCase shorter = case_of(find_variant("linear"), {1, 1, 4, 2, 2}, 17);
  shorter.weights.o.pop_back();
  BOOST_CHECK_THROW(backward(shorter.variant, shorter.s, {"chunked", Real::f64, 1, shorter.params}, shorter.weights),
                    Error);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
