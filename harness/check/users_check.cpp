// SPDX-License-Identifier: Apache-2.0
#include "harness/check/users_check.hpp"
#include "harness/call/packed.hpp"
#include "harness/check/diagnosis.hpp"
#include "harness/core/error.hpp"
#include "harness/core/text.hpp"
#include "harness/files/neighbours.hpp"
#include "harness/numerics/random.hpp"
#include <algorithm>
#include <cctype>
#include <cmath>

namespace recollect {
namespace {

using Numbers = std::vector<double>;

TextResults as_text_results(const PartList &parts, const CheckCase &problem) {
  const auto values = [&](const std::string &name) {
    const Part *part = find_part(parts, name);
    return part ? part->values : Numbers{};
  };
  TextResults found;
  found.output = {values("o"), values("state"), problem.variant.state_shape(problem.given.shape, problem.params)};
  for (Tensor tensor : all_tensors) found.gradient[tensor] = values(std::string("d") + name_of(tensor));
  found.gradient.state = values("dstate");
  return found;
}

/// Errors of a correct run, one list of parts per draw: the effects of disturbed inputs, scaled row by row to the
/// layer's noise. Like real errors, they are correlated over steps. This matters for gradients that are sums over
/// steps.
std::vector<PartList> errors_in_draws(const Reference &layer, Precision precision, int chunk) {
  std::vector<PartList> errors;
  for (int draw = 0; draw < noise_draws; ++draw) {
    PartList moved = results_in(disturbed(layer.problem(), precision, draw, chunk), Real::f64);
    for (Part &part : moved) {
      const Part &right = *find_part(layer.results(), part.name);
      for (size_t i = 0; i < part.values.size(); ++i) {
        const double change = part.values[i] - right.values[i];
        part.values[i] = std::isfinite(change) ? change : 0;
      }
    }
    errors.push_back(std::move(moved));
  }
  for (size_t p = 0; p < errors[0].size(); ++p) {
    const PartNoise &noise = *std::find_if(layer.noise(precision).begin(), layer.noise(precision).end(),
                                           [&](const PartNoise &one) { return one.name == errors[0][p].name; });
    const size_t columns = errors[0][p].columns;
    for (size_t row = 0; row < noise.rows.size(); ++row) {
      double squares = 0;
      for (const PartList &draw : errors)
        for (size_t i = row * columns; i < (row + 1) * columns; ++i) squares += draw[p].values[i] * draw[p].values[i];
      const double rms = std::sqrt(squares / double(columns * errors.size()));
      for (size_t draw = 0; draw < errors.size(); ++draw) {
        const Stream signs(29 + draw, "check/users/" + noise.name);
        for (size_t i = row * columns; i < (row + 1) * columns; ++i) {
          double &x = errors[draw][p].values[i];
          x = rms > 0 ? x * noise.rows[row] / rms : signs.bits(i) & 1 ? noise.rows[row] : -noise.rows[row];
        }
      }
    }
  }
  return errors;
}

/// Moves every number up or down by its rounding error.
void move(Numbers &values, const std::string &name, Precision precision, int draw) {
  const Stream signs(31 + std::uint64_t(draw), "check/users/" + name);
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != 0) values[i] += (signs.bits(i) & 1 ? 1 : -1) * rounding(values[i], precision);
}

/// Sum over parts of squared errors over squared values.
double distance_between(const PartList &results, const PartList &candidate) {
  double sum = 0;
  for (const Part &given : candidate) {
    const Part *right = find_part(results, given.name);
    if (!right) continue;
    double errors = 0, squares = 0;
    for (size_t i = 0; i < given.values.size(); ++i) {
      errors += (given.values[i] - right->values[i]) * (given.values[i] - right->values[i]);
      squares += right->values[i] * right->values[i];
    }
    sum += errors == 0 ? 0 : errors / squares;
  }
  return std::isnan(sum) ? HUGE_VAL : sum;
}

bool same_inputs(const LayerInputs &a, const LayerInputs &b) {
  for (Tensor tensor : all_tensors)
    if (a.all[tensor] != b.all[tensor]) return false;
  const Shape &n = a.all.shape, &m = b.all.shape;
  return a.all.state == b.all.state && a.skip == b.skip && a.gate == b.gate && a.weights.o == b.weights.o &&
         a.weights.state == b.weights.state && a.params.str() == b.params.str() && n.H == m.H && n.T == m.T;
}

/// Such as "text 2 (its step 0 is step 37)", because reports count steps from the beginning of a text.
std::string title_of(const Text &text, size_t number) {
  const std::string title = "text " + std::to_string(number);
  return text.empty() || text.begin == 0 ? title : title + " (its step 0 is step " + std::to_string(text.begin) + ")";
}

bool is_forward(const std::string &part) { return part == "o" || part == "state"; }

UsersArrays forward_part(const UsersArrays &results) {
  UsersArrays some;
  for (const char *name : {"o", "final_state"})
    if (const auto found = results.find(name); found != results.end()) some.insert(*found);
  return some;
}

std::vector<std::string> wrong_names(const Checked &found) {
  std::vector<std::string> said;
  for (const Judged &part : found.parts)
    if (part.judgement == Judgement::wrong) said.push_back(called(part.name, found.names));
  return said;
}

/// The names that parts have in the candidate's file. Parts that the file lacks get the names of the convention.
PartNames users_names(const PartList &parts, const UsersArrays &in_file, const Convention &convention) {
  PartNames names;
  for (const Part &part : parts) {
    const std::string array = part.name == "state" ? "final_state" : part.name;
    const auto given = in_file.find(array);
    const bool named = given != in_file.end() && !given->second.name.empty();
    const std::string name = named ? given->second.name : names_in_files(array, convention)[0];
    if (name != part.name) names[part.name] = name;
  }
  return names;
}

bool in_a_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Replaces the layer's names of gradients in a sentence by the user's names. dstate is not replaced, because it names
/// both a result and an input of the backward pass.
std::string in_users_words(const std::string &sentence, const PartNames &names) {
  std::string said, word;
  for (size_t i = 0; i <= sentence.size(); ++i) {
    if (i < sentence.size() && in_a_name(sentence[i])) {
      word += sentence[i];
      continue;
    }
    said += is_forward(word) || word == "dstate" ? word : called(word, names);
    word.clear();
    if (i < sentence.size()) said += sentence[i];
  }
  return said;
}

/// Converts parts of a candidate back to the layer's arrays, element by element: divides by scale factors and subtracts
/// the skip term. Two kinds of parts cannot be converted and are left out: gradients of converted inputs, and o if
/// there is an output gate z, because the factor silu(z) may be 0.
PartList in_layers_arrays(const PartList &candidate, const CheckCase &layer, const Convention &c,
                          const LayerInputs &inputs) {
  const std::vector<std::string> lost = converted(c);
  const Shape &n = layer.given.shape;
  PartList parts;
  for (Part part : candidate) {
    const std::string input = is_forward(part.name) ? "" : part.name.substr(1);
    if (std::find(lost.begin(), lost.end(), input) != lost.end() || part.heads != n.heads()) continue;
    if (part.name == "o" && !inputs.gate.empty()) continue;
    const Numbers &skipped = part.name == "o" ? layer.given.v : layer.weights.o;
    for (size_t i = 0; (part.name == "o" || input == "v") && !inputs.skip.empty() && i < part.values.size(); ++i)
      part.values[i] -=
          inputs.skip[i / (size_t(n.T) * size_t(n.Dv)) % size_t(n.H) * size_t(n.Dv) + i % size_t(n.Dv)] * skipped[i];
    double factor = 1;
    if (input == "q" && !layer.params.has("scale")) factor = 1 / c.scale.of(layer.given.shape.Dk);
    if (input == "beta" && c.strength == Strength::doubled) factor = 0.5;
    if ((input == "alpha" || input == "lambda") && c.gate == Gate::log2) factor = 1 / std::log(2);
    for (double &x : part.values) x *= factor;
    parts.push_back(std::move(part));
  }
  return parts;
}

} // namespace

UsersReference::UsersReference(UsersCase problem, LayerInputs inputs, int chunk)
    : problem_(std::move(problem)), chunk_(chunk), inputs_(std::move(inputs)),
      user_(seen_in_layer_order(problem_.in_file, problem_.convention, converted_)),
      plain_(same_arrays(user_, inputs_, problem_.convention)) {
  std::vector<PartList> layer_parts;
  CheckCase shape_alone{problem_.variant, inputs_.params, {}, {}, problem_.convention.log_gates(), problem_.types};
  shape_alone.given.shape = inputs_.all.shape;
  for (size_t text = 0; text < inputs_.texts.size(); ++text) {
    const bool empty = inputs_.texts[text].empty();
    CheckCase one = shape_alone;
    if (plain_)
      one.given = std::move(inputs_.all), one.weights = std::move(inputs_.weights);
    else if (!empty)
      one.given = sequence_of(inputs_, text), one.weights = weights_of(inputs_, text);
    const Part *before =
        problem_.convention.texts_joined && text > 0 ? find_part(layer_parts.back(), "state") : nullptr;
    Group group{inputs_.packed ? "[" + std::to_string(text) + "]" : "", nullptr, nullptr, nullptr};
    PartList parts;
    if (!empty) {
      if (before) one.given.state = before->values;
      group.layer = std::make_shared<Reference>(std::move(one), chunk_);
      group.problem = group.layer->shared_problem();
      if (!plain_) parts = group.layer->results();
    } else {
      if (const Output start = results_of_empty(inputs_, problem_.variant, text).output; !start.state.empty()) {
        const StateShape &shape = start.state_shape;
        one.given.state = sequence_of(inputs_, text).state;
        parts = {{"state", size_t(inputs_.all.shape.H), size_t(shape.rows), size_t(shape.columns),
                  before ? before->values : start.state, false}};
      }
      group.problem = std::make_shared<const CheckCase>(std::move(one));
    }
    layer_parts.push_back(std::move(parts));
    groups_.push_back(std::move(group));
  }
  std::vector<PartList> results;
  if (!plain_)
    results = parts_by_text(to_user(user_, inputs_, problem_.convention, text_results(layer_parts)), inputs_,
                            problem_.variant);
  if (inputs_.packed) groups_.push_back({"", std::make_shared<const CheckCase>(shape_alone), nullptr, nullptr});
  for (size_t g = 0; g < groups_.size(); ++g) {
    groups_[g].own = plain_
                         ? groups_[g].layer
                         : std::make_shared<Reference>(groups_[g].problem, std::move(results[g]),
                                                       [this, g](Precision precision) { return noise(precision)[g]; });
    for (const Part &part : groups_[g].results())
      results_.push_back({part.name + groups_[g].label, part.heads, part.rows, part.columns, {}, part.over_steps});
  }
}

std::vector<TextResults> UsersReference::text_results(const std::vector<PartList> &by_text) const {
  std::vector<TextResults> all;
  for (size_t text = 0; text < by_text.size(); ++text) {
    TextResults one = as_text_results(by_text[text], *groups_[text].problem);
    if (inputs_.texts[text].empty()) one.gradient = results_of_empty(inputs_, problem_.variant, text).gradient;
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<Noise> UsersReference::noise(Precision precision) const {
  if (const auto known = noise_.find(precision); known != noise_.end()) return known->second;
  const Convention &c = problem_.convention;
  std::vector<Noise> noise;
  for (const Group &group : groups_) {
    noise.emplace_back();
    for (const Part &part : group.results())
      noise.back().push_back({part.name, Numbers(part.heads * part.rows, 0.0), precision});
  }
  const auto add = [&](const std::vector<PartList> &errors, bool are_results) {
    for (size_t g = 0; g < noise.size(); ++g)
      for (PartNoise &own : noise[g]) {
        const Part &part = *find_part(errors[g], own.name);
        const Part *from = are_results ? find_part(groups_[g].results(), own.name) : nullptr;
        for (size_t i = 0; i < part.values.size(); ++i) {
          const double error = part.values[i] - (from ? from->values[i] : 0);
          own.rows[i / part.columns] += error * error / double(noise_draws * part.columns);
        }
      }
  };
  std::vector<std::vector<PartList>> layer_errors; // by text
  for (const Group &group : groups_)
    layer_errors.push_back(group.layer ? errors_in_draws(*group.layer, precision, chunk_)
                                       : std::vector<PartList>(noise_draws));
  for (int draw = 0; draw < noise_draws; ++draw) {
    std::vector<PartList> errors;
    for (size_t text = 0; text < inputs_.texts.size(); ++text) {
      errors.push_back(layer_errors[text][size_t(draw)]);
      // The results of an empty text have no errors. Its parts are copied for their sizes and filled with 0.
      if (!groups_[text].layer) errors.back() = groups_[text].results();
      if (!groups_[text].layer)
        for (Part &part : errors.back()) std::fill(part.values.begin(), part.values.end(), 0.0);
    }
    std::vector<TextResults> results = text_results(errors);
    for (size_t text = 0; text < results.size(); ++text)
      if (!groups_[text].layer)
        for (double &x : results[text].gradient.state) x = 0;
    add(parts_by_text(to_user(user_, inputs_, c, results, true), inputs_, problem_.variant), false);

    const std::vector<std::string> names = converted(c);
    UsersArrays moved = user_;
    bool any = false;
    for (const std::string &name : names)
      if (const auto found = moved.find(name); found != moved.end()) {
        const bool parameter = is_parameter(name) && precision != Precision::f64;
        move(found->second.data, name, parameter ? Precision::f32 : problem_.types.used(name, precision), draw);
        any = true;
      }
    if (!any) continue;
    const LayerInputs inputs = to_layer(moved, problem_.variant, problem_.params, c, problem_.gradient);
    std::vector<PartList> parts;
    for (size_t text = 0; text < groups_.size() && text < inputs.texts.size(); ++text) {
      if (!groups_[text].layer) {
        parts.push_back(groups_[text].results());
        continue;
      }
      CheckCase one = case_of(problem_, inputs, text);
      one.given.state = groups_[text].problem->given.state;
      parts.push_back(results_in(one, Real::f64));
    }
    add(parts_by_text(to_user(moved, inputs, c, text_results(parts)), inputs, problem_.variant), true);
  }
  for (size_t g = 0; g < noise.size(); ++g)
    for (PartNoise &own : noise[g]) {
      const Part &part = *find_part(groups_[g].results(), own.name);
      // The layer's noise includes the rounding of its outputs and states.
      const bool gated = part.name == "o" && !(inputs_.skip.empty() && inputs_.gate.empty()),
                 rounds = part.name[0] == 'd' || gated || !groups_[g].layer;
      const Precision written = problem_.types.written(part.name, precision);
      for (size_t i = 0; rounds && i < part.values.size(); ++i) {
        const double spacing = half_spacing(part.values[i], written);
        own.rows[i / part.columns] += spacing * spacing / double(part.columns);
      }
      for (double &square : own.rows) square = std::isnan(square) ? HUGE_VAL : std::sqrt(square);
    }
  return noise_.emplace(precision, std::move(noise)).first->second;
}

Checked UsersReference::check(const Candidate &candidate, Precision precision) const {
  UsersArrays converted;
  const std::vector<PartList> parts =
      parts_by_text(seen_in_layer_order(candidate.in_file, problem_.convention, converted), inputs_, problem_.variant);
  Checked all;
  std::vector<std::string> where, reasons;
  bool wrong = false, undecided = false;
  for (size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].results().empty()) continue;
    const std::string &label = groups_[g].label, text = label.empty() ? "" : title_of(inputs_.texts[g], g) + ": ";
    Checked one = verdict(*groups_[g].own, parts[g], precision,
                          users_names(groups_[g].results(), candidate.in_file, problem_.convention));
    for (const auto &[part, name] : one.names) all.names[part + label] = name + label;
    if (one.judgement == Judgement::wrong) {
      wrong = true;
      const std::string place = one.where.empty() && !text.empty() ? join(wrong_names(one), ", ") : one.where;
      if (!place.empty()) where.push_back(text + place);
    }
    for (Judged &part : one.parts) {
      part.name += label;
      all.parts.push_back(std::move(part));
    }
    for (const std::string &name : one.not_checked) all.not_checked.push_back(name + label);
    if (!inputs_.packed) all.by_step = std::move(one.by_step);
    if (parts[g].empty() || one.judgement != Judgement::undecided) continue;
    undecided = true;
    reasons.push_back(text + one.reason);
  }
  all.where = join(where, "; ");
  for (const TypedArray &one : inexact_inputs(problem_, precision)) all.inexact.push_back(one.name);
  all.not_checked.insert(all.not_checked.end(), candidate.ignored.begin(), candidate.ignored.end());
  if (wrong) {
    all.judgement = Judgement::wrong;
    all.diagnosis = explained(parts, candidate.in_file, precision);
  } else if (all.parts.empty()) {
    all.reason = "the candidate holds nothing that could be judged";
  } else if (undecided) {
    all.reason = join(reasons, "; ");
  } else {
    all.judgement = Judgement::right;
  }
  return all;
}

std::vector<std::string> UsersReference::explained(const std::vector<PartList> &candidate, const UsersArrays &in_file,
                                                   Precision precision) const {
  std::vector<std::string> said = right_elsewhere(candidate, in_file, precision);
  if (!said.empty()) return said;
  constexpr int most_texts = 3; // the catalogue of mistakes is slow
  int wrong_texts = 0;
  for (size_t g = 0; g < groups_.size() && wrong_texts < most_texts; ++g) {
    if (!groups_[g].layer) continue;
    const Reference &layer = *groups_[g].layer;
    const PartList parts =
        plain_ ? candidate[g] : in_layers_arrays(candidate[g], layer.problem(), problem_.convention, inputs_);
    const std::vector<Judged> judged = judge_all(layer, parts, precision);
    if (all_right(judged)) continue;
    ++wrong_texts;
    const PartNames names = users_names(groups_[g].results(), in_file, problem_.convention);
    for (const std::string &one : diagnose(layer, parts, judged, precision))
      said.push_back((groups_[g].label.empty() ? "" : "text " + std::to_string(g) + ": ") + in_users_words(one, names));
  }
  return said;
}

double UsersReference::distance(const std::vector<PartList> &candidate) const {
  double sum = 0;
  for (size_t g = 0; g < groups_.size() && g < candidate.size(); ++g)
    sum += distance_between(groups_[g].results(), candidate[g]);
  return sum;
}

bool UsersReference::agrees(const std::vector<PartList> &candidate, Precision precision) const {
  for (size_t g = 0; g < groups_.size(); ++g)
    if (!candidate[g].empty() && !all_right(judge_all(*groups_[g].own, candidate[g], precision))) return false;
  return true;
}

std::vector<std::string> UsersReference::right_elsewhere(const std::vector<PartList> &candidate,
                                                         const UsersArrays &in_file, Precision precision) const {
  const double own = distance(candidate);
  const LayerInputs own_inputs = layer_inputs(problem_);
  std::vector<std::string> said;
  for (const Neighbour &neighbour : neighbours(problem_.convention)) {
    if (neighbour.convention.texts_joined && !inputs_.packed) continue;
    try {
      UsersCase other{problem_.variant, problem_.params, neighbour.convention, problem_.in_file, false, problem_.types};
      const LayerInputs inputs = layer_inputs(other);
      const auto parts_of = [&](const UsersArrays &results) {
        const UsersArrays in_layer = in_layer_order(results, other.convention);
        check_results(in_layer, in_layer_order(shapes_of(other.in_file), other.convention), inputs, other.variant,
                      other.convention);
        return parts_by_text(in_layer, inputs, other.variant);
      };
      const std::vector<PartList> as_given = parts_of(in_file);
      const bool same_parts =
          std::equal(candidate.begin(), candidate.end(), as_given.begin(), as_given.end(),
                     [](const PartList &a, const PartList &b) { return distance_between(a, b) == 0; });
      if (same_inputs(inputs, own_inputs) && same_parts && !neighbour.convention.texts_joined)
        continue; // the conventions differ only in an array that the file does not have
      const UsersArrays forward = forward_part(in_file);
      // If texts are joined, the reference passes the state but no gradient between texts, so only outputs can decide.
      const bool forward_alone = neighbour.convention.texts_joined;
      if (!forward.empty()) {
        const UsersReference outputs(other, inputs, chunk_);
        const std::vector<PartList> parts = parts_of(forward);
        if (!(outputs.distance(parts) < 0.25 * own)) continue;
        if (forward_alone || !problem_.gradient) {
          if (outputs.agrees(parts, precision))
            said.push_back("right with " + neighbour.said + " (" + neighbour.mistake->name + ")");
          continue;
        }
      }
      other.gradient = problem_.gradient;
      const UsersReference reference(other, layer_inputs(other), chunk_);
      if (reference.distance(as_given) < 0.25 * own && reference.agrees(as_given, precision))
        said.push_back("right with " + neighbour.said + " (" + neighbour.mistake->name + ")");
    } catch (const Error &) { // the arrays do not fit this convention
    }
  }
  return said;
}

} // namespace recollect
