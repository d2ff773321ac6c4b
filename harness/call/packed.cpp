// SPDX-License-Identifier: Apache-2.0
#include "harness/call/packed.hpp"
#include "harness/call/divergence.hpp"
#include "harness/call/make_call.hpp"
#include "harness/call/shared_heads.hpp"
#include "harness/core/error.hpp"
#include "harness/core/registry.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/inputs.hpp"
#include <cmath>

namespace recollect {

using Numbers = std::vector<double>;

std::vector<int> starts_of_texts(const std::string &lengths, int T) {
  std::vector<int> starts;
  if (lengths.empty()) return starts;
  double end = 0;
  starts.push_back(0);
  for (const std::string &length : split(lengths, ',')) {
    const double steps = parse_number(length, "--texts");
    end += steps;
    if (!(steps >= 0 && end <= T) || steps != double(int(steps)))
      usage_error("--texts needs whole numbers that add up to at most T = " + std::to_string(T) + ", got " + lengths);
    starts.push_back(int(end));
  }
  return starts;
}

void refuse_shared_heads(int shared, int heads) {
  if (shared < 0 || (shared > 0 && heads % shared != 0))
    usage_error("shared heads must divide the " + std::to_string(heads) + " heads, and " + std::to_string(shared) +
                " does not");
}

std::vector<Text> texts_of(const UsersArrays &user, const Shape &n) {
  const UsersArray *cu = find(user, "cu_seqlens");
  if (!cu) return {{0, n.T}};
  if (n.B != 1) input_error("cu_seqlens is given, but packed texts need a batch of 1, not " + std::to_string(n.B));
  const auto refuse = [&](const std::string &why) {
    input_error(spoken(user, "cu_seqlens") + " " + why +
                ", needs whole numbers from 0 up to T = " + std::to_string(n.T) + ", none smaller than the one before");
  };
  if (cu->data.size() < 2 || cu->data[0] != 0) refuse("does not begin with 0, followed by the end of the first text");
  std::vector<Text> texts;
  for (size_t i = 0; i + 1 < cu->data.size(); ++i) {
    const double begin = cu->data[i], end = cu->data[i + 1];
    if (!(end >= begin && end <= n.T) || end != std::floor(end))
      refuse("holds " + number(end) + " after " + number(begin));
    texts.push_back({int(begin), int(end)});
  }
  return texts;
}

Numbers part(const Numbers &all, size_t index, size_t parts) {
  if (all.empty()) return {};
  const size_t size = all.size() / parts;
  return Numbers(all.begin() + std::ptrdiff_t(index * size), all.begin() + std::ptrdiff_t((index + 1) * size));
}

Sequence sequence_of(const LayerInputs &inputs, size_t text) {
  if (!inputs.packed && !inputs.grouped()) return inputs.all;
  const auto [begin, end] = inputs.texts[text];
  Sequence one;
  one.shape = inputs.all.shape, one.shape.T = end - begin;
  for (Tensor tensor : all_tensors) {
    const Shape own = inputs.shape_of(tensor);
    one[tensor] = for_every_head(steps_of(inputs.all[tensor], own, begin, end), size_t(own.B), size_t(own.H),
                                 size_t(one.shape.H), false);
  }
  one.state = inputs.packed ? part(inputs.all.state, text, inputs.texts.size()) : inputs.all.state;
  return one;
}

const Sequence &sequence_in(const LayerInputs &inputs, size_t text, Sequence &cut) {
  return inputs.packed || inputs.grouped() ? cut = sequence_of(inputs, text) : inputs.all;
}

OutputWeights weights_of(const LayerInputs &inputs, size_t text) {
  if (!inputs.packed) return inputs.weights;
  return {steps_of(inputs.weights.o, inputs.all.shape, inputs.texts[text].begin, inputs.texts[text].end),
          part(inputs.weights.state, text, inputs.texts.size())};
}

const OutputWeights &weights_in(const LayerInputs &inputs, size_t text, OutputWeights &cut) {
  return inputs.packed ? cut = weights_of(inputs, text) : inputs.weights;
}

TextResults results_of_empty(const LayerInputs &inputs, const Variant &variant, size_t text) {
  Sequence start;
  start.shape = inputs.all.shape;
  start.state = part(inputs.all.state, text, inputs.texts.size());
  TextResults found;
  found.output = {{}, initial_state(variant, start, inputs.params), variant.state_shape(start.shape, inputs.params)};
  if (inputs.weights.o.empty()) return found;
  found.gradient.state = part(inputs.weights.state, text, inputs.texts.size());
  if (found.gradient.state.empty()) found.gradient.state.assign(found.output.state.size(), 0.0);
  return found;
}

namespace {

template <class Native> bool takes(const Form &form, const Native &native, const LayerInputs &inputs, const Run &run) {
  return form.packs && run.real != Real::f64 && (!native.takes || native.takes(inputs.all.shape, inputs.params));
}

Packing packing_of(const LayerInputs &inputs) {
  Packing packing;
  if (inputs.grouped()) packing.key_heads = inputs.key_heads;
  if (!inputs.packed) return packing;
  std::vector<int> starts{0}, chunk_starts{0}, chunk_texts;
  for (const Text &text : inputs.texts) {
    starts.push_back(text.end);
    chunk_texts.insert(chunk_texts.end(), size_t((text.end - text.begin + packed_chunk - 1) / packed_chunk),
                       packing.texts++);
    chunk_starts.push_back(int(chunk_texts.size()));
  }
  packing.chunks = int(chunk_texts.size());
  std::vector<int> tables = starts;
  for (const auto *more : {&chunk_starts, &chunk_texts}) tables.insert(tables.end(), more->begin(), more->end());
  packing.tables = uploaded<int>("packed texts", tables.size(), [&](size_t i) { return tables[i]; });
  return packing;
}

/// Calls told(text) for every text that has steps.
template <class Told> void each_text(const LayerInputs &inputs, const Told &told) {
  for (size_t text = 0; text < inputs.texts.size(); ++text)
    if (!inputs.texts[text].empty()) told(text);
}

/// Sets steps that follow the last text to 0. A kernel does not write these steps.
void clear_rest(const LayerInputs &inputs, const Shape &shape, Numbers &data) {
  const int end = inputs.texts.back().end;
  if (data.empty() || end == shape.T) return;
  const Numbers steps = steps_of(data, shape, 0, end);
  data.assign(data.size(), 0.0);
  if (end > 0) put_steps(data, steps, shape, 0, end);
}

/// The results of all texts, joined from the results of each text.
Output joined(const Variant &variant, const LayerInputs &inputs, const std::function<Output(size_t)> &of_text) {
  if (!inputs.packed) return of_text(0);
  const Shape &n = inputs.all.shape;
  Output all{Numbers(n.heads() * size_t(n.T) * size_t(n.Dv)), {}, variant.state_shape(n, inputs.params)};
  for (size_t text = 0; text < inputs.texts.size(); ++text) {
    const auto [begin, end] = inputs.texts[text];
    const Output one = begin == end ? results_of_empty(inputs, variant, text).output : of_text(text);
    put_steps(all.o, one.o, n, begin, end);
    all.state.insert(all.state.end(), one.state.begin(), one.state.end());
  }
  return all;
}
Sequence joined_gradients(const Variant &variant, const LayerInputs &inputs,
                          const std::function<Sequence(size_t)> &of_text) {
  const Shape &n = inputs.all.shape;
  Sequence all;
  all.shape = n;
  for (size_t text = 0; text < inputs.texts.size(); ++text) {
    const auto [begin, end] = inputs.texts[text];
    Sequence one = begin == end ? results_of_empty(inputs, variant, text).gradient : of_text(text);
    for (Tensor tensor : all_tensors) {
      const Shape own = inputs.shape_of(tensor);
      put_steps(all[tensor],
                summed_over_sharing(std::move(one[tensor]), size_t(n.B), size_t(own.H), size_t(n.H), false), own, begin,
                end);
    }
    all.state.insert(all.state.end(), one.state.begin(), one.state.end());
  }
  return all;
}

/// One job that runs the jobs of all texts that have steps, one after another. Its result is join(f), where f(text)
/// returns the result of the job of this text.
template <class AnyJob, class Prepare, class Join>
AnyJob one_after_another(const LayerInputs &inputs, const Prepare &prepare, const Join &join) {
  const auto jobs = std::make_shared<std::map<size_t, AnyJob>>();
  each_text(inputs, [&](size_t text) { jobs->emplace(text, prepare(text)); });
  AnyJob all;
  all.reset = [jobs] {
    for (const auto &[text, job] : *jobs) job.reset();
  };
  all.launch = [jobs] {
    for (const auto &[text, job] : *jobs) job.launch();
  };
  all.fetch = [jobs, join] { return join([&](size_t text) { return jobs->at(text).fetch(); }); };
  return all;
}

} // namespace

bool takes_packed(const Variant &variant, const LayerInputs &inputs, const Run &run) {
  const Form &form = find_form(variant, run.form, inputs.all.shape, inputs.params);
  return takes(form, form.native, inputs, run);
}
bool takes_packed_backward(const Variant &variant, const LayerInputs &inputs, const Run &run) {
  const Form &form = find_form(variant, run.form);
  return form.vjp && takes(form, form.vjp.native, inputs, run);
}

Job prepare(const Variant &variant, const LayerInputs &inputs, const Run &run) {
  if (!takes_packed(variant, inputs, run))
    return one_after_another<Job>(
        inputs,
        [&](size_t text) {
          Sequence cut;
          return prepare(variant, sequence_in(inputs, text, cut), run);
        },
        [&](const auto &of_text) { return joined(variant, inputs, of_text); });
  require_math(run.real, run.math);
  Job job = prepare_unchecked(variant, inputs.all, run, packing_of(inputs));
  job.fetch = [fetch = job.fetch, &inputs] {
    Output found = fetch();
    clear_rest(inputs, inputs.all.shape, found.o);
    return found;
  };
  return job;
}

BackwardJob prepare_backward(const Variant &variant, const LayerInputs &inputs, const Run &run) {
  if (!takes_packed_backward(variant, inputs, run))
    return one_after_another<BackwardJob>(
        inputs,
        [&](size_t text) {
          Sequence cut;
          OutputWeights weights;
          return prepare_backward(variant, sequence_in(inputs, text, cut), run, weights_in(inputs, text, weights));
        },
        [&](const auto &of_text) { return joined_gradients(variant, inputs, of_text); });
  BackwardJob job = prepare_backward_unchecked(variant, inputs.all, run, inputs.weights, packing_of(inputs));
  job.fetch = [fetch = job.fetch, &inputs] {
    Sequence found = fetch();
    for (Tensor tensor : all_tensors) clear_rest(inputs, inputs.shape_of(tensor), found[tensor]);
    return found;
  };
  return job;
}

Output forward(const Variant &variant, const LayerInputs &inputs, const Run &run,
               const std::function<void(const std::string &)> &told) {
  Output all;
  if (takes_packed(variant, inputs, run)) {
    const Job job = prepare(variant, inputs, run);
    job.reset();
    job.launch();
    all = job.fetch();
  } else { // one text after another, to save memory
    all = joined(variant, inputs, [&](size_t text) {
      Sequence cut;
      return forward(variant, sequence_in(inputs, text, cut), run);
    });
  }
  if (divergence(all, inputs.all.shape).empty() && !variant.worst_condition) return all;
  std::vector<TextResults> found = by_text(inputs, std::move(all), {});
  each_text(inputs, [&](size_t text) {
    Sequence cut;
    const std::string note = settle(variant, sequence_in(inputs, text, cut), run, found[text].output);
    if (!note.empty()) told(note);
  });
  return joined(variant, inputs, [&](size_t text) { return std::move(found[text].output); });
}

Sequence gradient_by(const Variant &variant, const LayerInputs &inputs, const Run &run) {
  if (takes_packed_backward(variant, inputs, run)) {
    const BackwardJob job = prepare_backward(variant, inputs, run);
    job.reset();
    job.launch();
    Sequence found = job.fetch();
    if (all_finite(found) || !takes_gradients()) return found;
  }
  return joined_gradients(variant, inputs, [&](size_t text) {
    Sequence cut;
    OutputWeights weights;
    return gradient_by(variant, sequence_in(inputs, text, cut), run, weights_in(inputs, text, weights));
  });
}

std::vector<TextResults> by_text(const LayerInputs &inputs, Output output, Sequence gradient) {
  std::vector<TextResults> all;
  if (!inputs.packed) {
    all.push_back({std::move(output), std::move(gradient)});
    return all;
  }
  const size_t texts = inputs.texts.size();
  for (size_t text = 0; text < texts; ++text) {
    const auto [begin, end] = inputs.texts[text];
    TextResults one;
    one.output = {steps_of(output.o, inputs.all.shape, begin, end), part(output.state, text, texts),
                  output.state_shape};
    for (Tensor tensor : all_tensors)
      one.gradient[tensor] = steps_of(gradient[tensor], inputs.shape_of(tensor), begin, end);
    one.gradient.state = part(gradient.state, text, texts);
    all.push_back(std::move(one));
  }
  return all;
}

} // namespace recollect
