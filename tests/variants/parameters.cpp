// SPDX-License-Identifier: Apache-2.0
// Every listed parameter and optional input of a layer has a default and affects the results.
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "tests/testing.hpp"
#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace recollect {
namespace {

/// Values of a parameter other than its default, within its range.
std::vector<std::string> others(const ParamSpec &p) {
  if (p.kind == ParamSpec::choice) return {p.choices.begin() + 1, p.choices.end()};
  std::set<std::string> values;
  for (double x : {0.01, 0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 7.0, 9.0, 64.0})
    if (x != p.fallback && x >= p.low && x <= p.high && (p.kind == ParamSpec::real || x == std::floor(x)))
      values.insert(number(x));
  return {values.begin(), values.end()};
}

/// `given` and every way to set one more parameter, except `apart`.
std::vector<Assignments> one_more(const Variant &variant, const std::vector<Assignments> &given,
                                  const std::string &apart) {
  std::vector<Assignments> all = given;
  for (const Assignments &settings : given)
    for (const ParamSpec &p : variant.params)
      if (p.name != apart && !settings.count(p.name))
        for (const std::string &value : others(p)) {
          all.push_back(settings);
          all.back()[p.name] = value;
        }
  return all;
}

/// Whether some value of the parameter changes the outputs of some form in one of the settings `beside`.
bool takes_effect(const Variant &variant, const ParamSpec &spec, const std::vector<Assignments> &beside,
                  const Sequence &s) {
  const auto reads = [&](const Form &form, const Assignments &given) {
    try {
      return forward(variant, s, {form.name, Real::f64, 8, variant_params(variant, given)}).o;
    } catch (const Error &) { // settings that exclude each other
      return std::vector<double>();
    }
  };
  for (const Assignments &settings : beside)
    for (const Form &form : variant.forms) {
      const std::vector<double> before = reads(form, settings);
      for (const std::string &value : before.empty() ? std::vector<std::string>{} : others(spec)) {
        Assignments given = settings;
        given[spec.name] = value;
        const std::vector<double> after = reads(form, given);
        if (!after.empty() && max_difference(after, before) > 1e-6 * max_abs(before)) return true;
      }
    }
  return false;
}

/// The input's values within a sequence.
std::vector<double> &values_of(Sequence &s, const Input &input) {
  return input.name == "beta" ? s.beta : input.name == "alpha" ? s.alpha : input.name == "lambda" ? s.lambda : s.w;
}

/// The arrays that a layout names, "S [Dv,F], z [1,F]": one below the other, or next to each other if it says so.
struct Layout {
  int rows = 0, columns = 0; // columns of the widest array of a known width
};
Layout read_layout(const std::string &text, const std::map<std::string, int> &sizes, int features) {
  const auto value_of = [&](std::string sum) { // "Dk+window-1"
    std::replace(sum.begin(), sum.end(), '+', ' ');
    sum = std::regex_replace(sum, std::regex("-"), " -");
    int value = 0;
    std::istringstream terms(sum);
    for (std::string term; terms >> term;)
      value += term == "F" ? features : sizes.count(term) ? sizes.at(term) : std::stoi(term);
    return value;
  };
  Layout layout;
  const std::regex array(R"(\[([^,\]]+),([^\]]+)\])");
  size_t end = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), array), last; at != last; ++at) {
    const int rows = value_of((*at)[1]), columns = value_of((*at)[2]);
    if (text.substr(end, size_t(at->position()) - end).find("next to its") != std::string::npos) {
      layout.columns += columns;
    } else {
      layout.rows += rows;
      layout.columns = std::max(layout.columns, columns);
    }
    end = size_t(at->position() + at->length());
  }
  return layout;
}

} // namespace

BOOST_AUTO_TEST_SUITE(variants)
BOOST_AUTO_TEST_SUITE(parameters)

BOOST_AUTO_TEST_CASE(take_effect) {
  const Sequence s = random_sequence({1, 2, 29, 5, 3}, 61);
  Sequence without_w = s; // some parameters replace this input
  without_w.w.clear();
  for (const Variant &variant : all_variants())
    for (const ParamSpec &spec : variant.params) {
      std::vector<Assignments> beside{{}};
      bool effect = takes_effect(variant, spec, beside, s) || takes_effect(variant, spec, beside, without_w);
      for (int more = 1; !effect && more <= 2;
           ++more) { // some only have an effect together with one or two other settings
        beside = one_more(variant, beside, spec.name);
        effect = takes_effect(variant, spec, beside, s);
      }
      BOOST_TEST(effect, variant.name << "." << spec.name << " changes nothing");
    }
}

BOOST_AUTO_TEST_CASE(every_optional_input_takes_effect_and_has_its_neutral_value) {
  for (const Variant &variant : all_variants())
    for (const Input &input : variant.inputs) {
      const Sequence given = random_sequence({1, 2, 29, 5, 3}, 62);
      Sequence absent = given, neutral = given;
      std::vector<double> &filled = values_of(neutral, input);
      filled = input.name == "w" ? given.k : std::vector<double>(filled.size(), 1.0);
      const Output with = forward(variant, given), without = forward(variant, neutral);
      BOOST_TEST_INFO(variant.name << "." << input.name);
      BOOST_TEST(max_difference(with.o, without.o) > 1e-6 * max_abs(with.o));
      values_of(absent, input).clear();
      if (input.required) {
        BOOST_CHECK_THROW(forward(variant, absent), Error);
        continue;
      }
      BOOST_TEST_INFO(variant.name << " without " << input.name);
      if (input.absent.empty())
        check_close(forward(variant, absent).o, without.o, 0);
      else // another input or parameter replaces it
        BOOST_TEST(max_difference(forward(variant, absent).o, without.o) > 1e-6 * max_abs(with.o));
    }
}

BOOST_AUTO_TEST_CASE(layouts_name_the_rows_and_columns_that_the_state_has) {
  const Shape shape{1, 1, 4, 3, 5};
  for (const Variant &variant : all_variants()) {
    const Params params = variant_params(variant);
    const StateShape state = variant.state_shape(shape, params);
    std::map<std::string, int> sizes{{"Dk", shape.Dk}, {"Dv", shape.Dv}};
    for (const ParamSpec &p : variant.params)
      if (p.name == "width")
        sizes["width"] = int(params.real_or("width", 4.0 * shape.Dk)); // of memories that are networks
      else if (p.kind == ParamSpec::integer)
        sizes[p.name] = params.integer(p.name);
    const Layout layout = read_layout(variant.layout, sizes, state.columns);
    BOOST_TEST_INFO(variant.name << ": " << variant.layout);
    BOOST_TEST((layout.rows == state.rows && layout.columns == state.columns));
  }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
} // namespace recollect
