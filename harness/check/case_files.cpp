// SPDX-License-Identifier: Apache-2.0
#include "harness/check/case_files.hpp"
#include "harness/core/error.hpp"
#include <cmath>

namespace recollect {
namespace {

std::vector<std::string> input_names(const Variant &variant) {
  std::vector<std::string> names{"q", "k", "v"};
  for (const Input &input : variant.inputs) names.push_back(input.name);
  for (const char *name : {"state", "do", "dstate"}) names.push_back(name);
  return names;
}

std::vector<std::string> result_names(const Sequence &given) {
  std::vector<std::string> names{"o", "state"};
  for (Tensor tensor : all_tensors)
    if (!given[tensor].empty()) names.push_back(std::string("d") + name_of(tensor));
  names.push_back("dstate");
  return names;
}

StateShape state_of(const CheckCase &problem) {
  return problem.variant.state_shape(problem.given.shape, problem.params);
}

} // namespace

CheckCase read_case(const std::string &path, const Variant &variant, const Params &params, Convention convention,
                    bool gradient) {
  refuse_unknown(path, input_names(variant), "an input of " + variant.name);
  CheckCase problem{variant, params, read_sequence(path, variant.inputs, convention), {}, convention.log_gates};
  try {
    check_inputs(variant, problem.given, params);
    if (!gradient) return problem;
    Output weights = read_output(path, problem.given.shape, state_of(problem), convention, "d");
    problem.weights = {std::move(weights.o), std::move(weights.state)};
    check_weights(variant, problem.given, params, problem.weights);
  } catch (const Error &failure) {
    const std::string said = failure.what();
    throw Error(failure.code, said.rfind(path, 0) == 0 ? said : path + ": " + said);
  }
  return problem;
}

void write_case(const std::string &path, const CheckCase &problem, Convention convention, Precision precision,
                const Facts &meta) {
  write_sequence(path, problem.given, convention, precision == Precision::f64 ? Real::f64 : Real::f32,
                 state_of(problem), meta, {problem.weights.o, problem.weights.state, {}});
}

void round_case(CheckCase &problem, Precision precision, Convention convention) {
  const auto round = [&](std::vector<double> &all, bool logarithms) {
    for (double &x : all) x = logarithms ? std::exp(rounded(std::log(x), precision)) : rounded(x, precision);
  };
  for (Tensor tensor : all_tensors)
    round(problem.given[tensor], convention.log_gates && facts_of(tensor).decay && precision != Precision::f64);
  round(problem.given.state, false), round(problem.weights.o, false), round(problem.weights.state, false);
}

Candidate read_candidate(const std::string &path, const CheckCase &problem, Convention convention) {
  refuse_unknown(path, result_names(problem.given), "what " + problem.variant.name + " computes");
  const Computed found = read_computed(path, problem.given, state_of(problem), convention);
  Candidate candidate{as_results(problem, found.output, &found.gradient), {}};
  if (!problem.wants_gradient())
    for (size_t i = candidate.results.size(); i-- > 0;)
      if (const std::string name = candidate.results[i].name; name != "o" && name != "state") {
        candidate.ignored.insert(candidate.ignored.begin(), name);
        candidate.results.erase(candidate.results.begin() + std::ptrdiff_t(i));
      }
  return candidate;
}

} // namespace recollect
