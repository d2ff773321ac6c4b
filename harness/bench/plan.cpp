// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/plan.hpp"
#include "harness/call/segment.hpp"
#include "harness/core/error.hpp"
#include "harness/core/in_pieces.hpp"
#include "harness/core/sweep.hpp"
#include "harness/core/text.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/random.hpp"
#include "harness/run/plan.hpp"
#include "harness/system/ranks.hpp"
#include <algorithm>
#include <cmath>
#include <sstream>

namespace recollect {
namespace {

constexpr const char *dimensions[] = {"B", "H", "T", "Dk", "Dv"};
int &dimension(Shape &s, size_t i) {
  int *const members[] = {&s.B, &s.H, &s.T, &s.Dk, &s.Dv};
  return *members[i];
}

int parse_size(const std::string &text, const std::string &what) {
  const double value = parse_number(text, what);
  if (!(value >= 1 && value <= 1 << 30) || value != std::floor(value))
    usage_error(what + " needs whole numbers from 1 to 2^30, got '" + text + "'");
  return int(value);
}

/// Usage error if a case of this shape cannot have these packed texts and this number of heads of q and k.
void refuse_sharing(const BenchShape &timed) {
  const Shape &n = timed.shape;
  refuse_shared_heads(timed.qk_heads, n.H);
  if (timed.texts.empty()) return;
  const int end = starts_of_texts(timed.texts, n.T).back();
  if (n.B != 1 || end != n.T)
    usage_error("--texts of " + std::to_string(end) + " steps need a shape with B = 1 and as many steps, not B = " +
                std::to_string(n.B) + ", T = " + std::to_string(n.T));
}

template <class Stored> void round_each(std::vector<double> &numbers) {
  in_pieces(numbers.size(), [&](size_t i, size_t end) {
    for (; i < end; ++i) numbers[i] = double(Stored(numbers[i]));
  });
}

} // namespace

void round_to(Real real, std::vector<double> &numbers) {
  if (real == Real::bf16) round_each<BFloat16>(numbers);
  if (real == Real::f16) round_each<Float16>(numbers);
}

Sequence inputs_of(const BenchCase &c) {
  const auto wanted = [&](Tensor tensor) {
    return c.variant->takes(tensor) &&
           std::find(c.without.begin(), c.without.end(), name_of(tensor)) == c.without.end();
  };
  Sequence s = random_sequence(c.shape, c.seed, Keys::unit, wanted);
  for (Tensor tensor : {Tensor::q, Tensor::k, Tensor::v, Tensor::w}) round_to(c.real, s[tensor]);
  return s;
}

LayerInputs layer_inputs_of(const BenchCase &c) {
  const Shape &n = c.shape;
  LayerInputs inputs;
  inputs.all = inputs_of(c), inputs.params = c.params;
  inputs.key_heads = c.qk_heads ? c.qk_heads : n.H;
  for (Tensor tensor : {Tensor::q, Tensor::k})
    inputs.all[tensor].resize(inputs.shape_of(tensor).heads() * size_t(n.T) * size_t(n.Dk));
  const std::vector<int> starts = starts_of_texts(c.texts, n.T);
  inputs.packed = !starts.empty();
  for (size_t text = 0; text + 1 < starts.size(); ++text) inputs.texts.push_back({starts[text], starts[text + 1]});
  if (!inputs.packed) inputs.texts = {{0, n.T}};
  if (!c.backward) return inputs;
  const size_t states = (inputs.packed ? inputs.texts.size() : size_t(n.B)) * size_t(n.H);
  inputs.weights = {Stream(c.seed, "bench/do").normals(n.heads() * size_t(n.T) * size_t(n.Dv)),
                    Stream(c.seed, "bench/dstate").normals(states * c.variant->state_shape(n, c.params).size())};
  round_to(c.real, inputs.weights.o);
  return inputs;
}

std::string name_of(const BenchCase &c) {
  Shape s = c.shape;
  std::string name = c.variant->name + "/" + c.form->name;
  for (size_t i = 0; i < 5; ++i) name += std::string("/") + dimensions[i] + ":" + std::to_string(dimension(s, i));
  name += std::string("/") + name_of(c.real);
  if (c.backward) name += "/backward";
  if (c.math != Math::exact) name += std::string("/math:") + name_of(c.math);
  if (c.schedule != Schedule::automatic) name += c.schedule == Schedule::streaming ? "/streaming" : "/three_phase";
  for (const std::string &input : c.without) name += "/without:" + input;
  if (!c.texts.empty()) name += "/texts:" + c.texts;
  if (c.qk_heads) name += "/qk_heads:" + std::to_string(c.qk_heads);
  if (!c.along.empty()) name += "/ranks_along_T:" + std::to_string(ranks::size());
  return name;
}

Shape parse_shape(const std::string &text) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != 5) usage_error("--shape is B,H,T,Dk,Dv, got '" + text + "'");
  Shape s;
  for (size_t i = 0; i < 5; ++i) dimension(s, i) = parse_size(parts[i], "--shape");
  return s;
}

std::vector<BenchShape> shapes_of(const std::string &text, const std::string &file) {
  std::vector<BenchShape> shapes;
  for (const std::string &line : split(text, '\n')) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string shape;
    BenchShape timed;
    for (std::string word; words >> word;)
      if (word.rfind("texts=", 0) == 0)
        timed.texts = word.substr(6);
      else if (word.rfind("qk-heads=", 0) == 0)
        timed.qk_heads = parse_size(word.substr(9), "qk-heads in " + file);
      else
        shape += word;
    if (shape.empty()) continue;
    timed.shape = parse_shape(shape);
    shapes.push_back(timed);
  }
  if (shapes.empty()) usage_error(file + " holds no shape: write B,H,T,Dk,Dv on a line");
  return shapes;
}

std::vector<BenchShape> swept(const std::vector<BenchShape> &shapes, const std::string &sweep) {
  const size_t equals = sweep.find('=');
  const std::string name = sweep.substr(0, equals);
  const size_t which = size_t(std::find(std::begin(dimensions), std::end(dimensions), name) - std::begin(dimensions));
  if (equals == std::string::npos || (which == 5 && name != "D"))
    usage_error("--sweep is DIMENSION=values with one of B, H, T, Dk, Dv or D (both widths), got '" + sweep + "'");
  std::vector<BenchShape> all;
  for (const BenchShape &timed : shapes)
    for (const std::string &value : expand_values(sweep.substr(equals + 1), "--sweep " + name)) {
      all.push_back(timed);
      Shape &shape = all.back().shape;
      const int size = parse_size(value, "--sweep " + name);
      if (which < 5)
        dimension(shape, which) = size;
      else
        shape.Dk = shape.Dv = size;
    }
  return all;
}

std::vector<BenchCase> bench_plan(const BenchRequest &request) {
  refuse_math(request.real, request.math);
  if (!request.along.empty()) refuse_cut(request.real);
  for (const BenchShape &timed : request.shapes) refuse_sharing(timed);
  std::vector<BenchCase> plan;
  const std::vector<const Variant *> variants = select_variants(request.variants);
  refuse_unused(request.settings, variants, {});
  refuse_left_out(request.without, variants);
  for (const Variant *variant : variants)
    for (const std::string &wanted : request.forms)
      for (const Form &form : variant->forms) {
        const Params params = resolve(variant->params, settings_for(*variant, request.settings), variant->name);
        for (const auto &[shape, texts, qk_heads] : request.shapes) {
          const std::string name = wanted == "all" ? form.name : wanted;
          const Form &chosen = request.backward ? find_form(*variant, name) : find_form(*variant, name, shape, params);
          if (&chosen == &form)
            plan.push_back({{request.real, std::min(request.chunk, shape.T), request.schedule, request.math},
                            int(plan.size()),
                            variant,
                            &form,
                            params,
                            shape,
                            request.seed,
                            left_out(*variant, request.without),
                            request.along,
                            request.backward,
                            texts,
                            qk_heads});
        }
      }
  return plan;
}

} // namespace recollect
