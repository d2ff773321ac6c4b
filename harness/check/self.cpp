// SPDX-License-Identifier: Apache-2.0
#include "harness/check/self.hpp"
#include "harness/call/backward.hpp"
#include "harness/core/error.hpp"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

namespace recollect {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

PartList computed(const CheckCase &problem, const Form &form, Real real, Math math) {
  Run run{form.name, real, 64, problem.params};
  run.math = math;
  Output output = forward(problem.variant, problem.given, run);
  if (!problem.wants_gradient() || !form.vjp) return as_results(problem, std::move(output));
  return as_results(problem, std::move(output), backward(problem.variant, problem.given, run, problem.weights));
}

/// Names the first part of `found` whose correct result no kernel could store, because it exceeds the largest number of
/// the type; "" if there is none. States and gradients of gates are not tested, because they are float32.
std::string beyond_range(const PartList &reference, const PartList &found, Real real) {
  if (real != Real::f16) return ""; // other types have at least the range of float32
  for (const char *name : {"o", "dq", "dk", "dv", "dw"}) {
    const Part *const right = find_part(reference, name);
    if (!right || !find_part(found, name)) continue;
    const auto beyond = [](double x) { return std::isinf(rounded(x, Precision::f16)); };
    if (std::any_of(right->values.begin(), right->values.end(), beyond))
      return std::string(name) + " is beyond the largest number of f16";
  }
  return "";
}

/// The cases of the battery. With --quick, only two: T = 2, and T = 65, one step longer than a chunk.
std::vector<BatteryCase> chosen(const Variant &variant, const Params &params, bool gradient,
                                const SelfOptions &options) {
  const Real first = options.reals.at(0);
  const Precision inputs = bytes_of(first) == 2 ? precision_of(first, Math::exact) : Precision::f32;
  std::vector<BatteryCase> all = battery(variant, params, inputs, gradient, options.seed);
  if (!options.quick) return all;
  std::vector<BatteryCase> some;
  std::vector<bool> taken(all.size());
  for (int T : {2, 65}) { // or the nearest T: layers that are unstable on some keys have shorter cases
    const auto distance = [&](size_t i) { return std::abs(all[i].problem.given.shape.T - T); };
    size_t nearest = all.size();
    for (size_t i = 0; i < all.size(); ++i)
      if (!taken[i] && (nearest == all.size() || distance(i) < distance(nearest))) nearest = i;
    if (nearest == all.size()) break;
    taken[nearest] = true;
    some.push_back(std::move(all[nearest]));
  }
  return some;
}

} // namespace

std::string SelfCase::title() const {
  std::string all = layer + "/" + form + "/" + name + "/" + name_of(real);
  return math == Math::exact ? all : all + "/" + name_of(math);
}

void check_forms(const Variant &variant, const SelfOptions &options,
                 const std::function<void(const SelfCase &)> &told) {
  const Params params = variant_params(variant);
  const bool gradient =
      std::any_of(variant.forms.begin(), variant.forms.end(), [](const Form &form) { return bool(form.vjp); });
  for (BatteryCase &one : chosen(variant, params, gradient, options)) {
    SelfCase result;
    result.layer = variant.name, result.name = one.name, result.shape = one.problem.given.shape;
    std::optional<Reference> reference;
    try {
      reference.emplace(std::move(one.problem));
    } catch (const Error &failure) { // without a reference no form can be judged
      result.form = variant.forms[0].name, result.checked.reason = failure.what();
      told(result);
      continue;
    }
    const auto run = [&](const Form &form, Real real, Math math) {
      result.form = form.name, result.real = real, result.math = math;
      result.skipped = form.stable || one.well_conditioned ? "" : "declared unstable on ill-conditioned inputs";
      if (result.skipped.empty()) {
        const double start = now();
        const PartList found = computed(reference->problem(), form, real, math);
        result.skipped = beyond_range(reference->results(), found, real);
        if (result.skipped.empty()) result.checked = check(*reference, found, precision_of(real, math));
        result.seconds = now() - start;
      }
      told(result);
    };
    for (const Form &form : variant.forms) {
      if (!form.exact) continue;
      for (Real real : options.reals) {
        if (real == Real::f64 && &form == &variant.forms[0] && !form.vjp) continue;
        for (Math math : real == Real::f32 ? options.maths : std::vector<Math>{Math::exact}) run(form, real, math);
      }
    }
  }
}

} // namespace recollect
