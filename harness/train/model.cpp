// SPDX-License-Identifier: Apache-2.0
#include "harness/train/model.hpp"
#include "harness/device/each_index.hpp"
#include "harness/device/math.hpp"
#include "harness/pipeline/make_call.hpp"
#include "harness/train/network.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::train {

struct Model::Body {
  virtual ~Body() = default;
  virtual void set(const Learned &learned, int model) = 0;
  virtual Learned get(int model) const = 0;
  virtual Judged judge(const Texts &texts, int model) = 0;
  virtual std::vector<Judged> differentiate(const std::vector<int> &models, const std::vector<Texts> &texts) = 0;
  virtual Numbers gradient(int model) const = 0;
  virtual double gradient_square(int model) const = 0;
  virtual void update(const std::vector<Update> &updates) = 0;
};

namespace {

template <class Real> struct AdamW {
  static constexpr double beta1 = 0.9, beta2 = 0.999, small = 1e-8;
  Array<Real> gradient, parameters, first, second;
  Array<char> decays;
  double scale, rate, decay, whole1, whole2; // 1 - beta^count
  KOKKOS_FUNCTION void operator()(size_t i) const {
    const Real g = Real(scale) * gradient[i];
    const Real m = first[i] = Real(beta1) * first[i] + Real(1 - beta1) * g,
               v = second[i] = Real(beta2) * second[i] + Real(1 - beta2) * g * g;
    Real w = parameters[i];
    if (decays[i]) w -= Real(rate * decay) * w;
    parameters[i] = w - Real(rate) * (m / Real(whole1)) / (math::sqrt(v / Real(whole2)) + Real(small));
  }
};

/// Sums of squares of 256 numbers of a model each.
template <class Real> struct Squares {
  static constexpr int block = 256;
  Array<Real> numbers;
  size_t size; // of a model
  Array<double> sums;
  int blocks; // of its numbers
  KOKKOS_FUNCTION void operator()(int b, int first, int side) const {
    const Real *const own = numbers.data() + size_t(b / blocks) * size;
    double sum = 0;
    for (size_t i = size_t(b % blocks) * block + size_t(first), end = i - size_t(first) + block; i < end;
         i += size_t(side))
      if (i < size) sum += double(own[i]) * double(own[i]);
    sum = across_row(sum, [](double x, double y) { return x + y; });
    if (first == 0) sums[size_t(b)] = sum;
  }
};

} // namespace

template <class Real> struct Model::Typed : Body {
  Typed(const Setup &setup, const Weights &weights, int models_)
      : network(setup, weights), size(weights.size()), models(size_t(models_)), parameters("parameters", models * size),
        first("first", models * size), second("second", models * size), d("gradient", models * size),
        decays("decays", size) {
    const auto host = Kokkos::create_mirror_view(decays);
    for (const auto &[name, part] : weights.parts())
      std::fill_n(host.data() + part.offset, part.size, char(part.decays));
    copy(decays, host);
  }
  Array<Real> part(const Array<Real> &all, size_t model, size_t count = 1) const {
    return Array<Real>(all.data() + model * size, count * size);
  }
  Array<Real> of(const std::vector<int> &some) {
    if (some.back() - some.front() + 1 == int(some.size())) return part(parameters, size_t(some.front()), some.size());
    if (gathered.extent(0) == 0) gathered = Array<Real>("gathered parameters", models * size);
    for (size_t i = 0; i < some.size(); ++i) copy(part(gathered, i), part(parameters, size_t(some[i])));
    return part(gathered, 0, some.size());
  }
  Array<Real> slot(int model) const {
    return part(d, size_t(std::find(differentiated.begin(), differentiated.end(), model) - differentiated.begin()));
  }

  void set(const Learned &learned, int model) override {
    copy(part(parameters, size_t(model)), upload<Real>("parameters", learned.parameters));
    copy(part(first, size_t(model)), upload<Real>("first moments", learned.first));
    copy(part(second, size_t(model)), upload<Real>("second moments", learned.second));
  }
  Learned get(int model) const override {
    const auto own = [&](const Array<Real> &all) { return download(part(all, size_t(model))); };
    return {own(parameters), own(first), own(second)};
  }
  Judged judge(const Texts &texts, int model) override { return network.run(part(parameters, size_t(model)), texts); }
  std::vector<Judged> differentiate(const std::vector<int> &some, const std::vector<Texts> &texts) override {
    const Array<Real> gradient = part(d, 0, some.size());
    const std::vector<Judged> judged = network.run(of(some), texts, gradient);
    differentiated = some;
    const size_t blocks = (size - 1) / Squares<Real>::block + 1;
    const Array<double> sums = allocated<double>("squares", some.size() * blocks);
    each_row("train::squares", int(sums.extent(0)), Squares<Real>::block,
             Squares<Real>{gradient, size, sums, int(blocks)});
    squares.assign(models, 0);
    const std::vector<double> found = download(sums);
    for (size_t i = 0; i < found.size(); ++i) squares[size_t(some[i / blocks])] += found[i];
    return judged;
  }
  Numbers gradient(int model) const override { return download(slot(model)); }
  double gradient_square(int model) const override { return squares[size_t(model)]; }
  void update(const std::vector<Update> &updates) override {
    using Step = AdamW<Real>;
    for (const Update &u : updates) { // each is large enough to fill a GPU
      const auto own = [&](const Array<Real> &all) { return part(all, size_t(u.model)); };
      each_index("train::adamw", size,
                 Step{slot(u.model), own(parameters), own(first), own(second), decays, u.scale, u.rate, u.decay,
                      1 - std::pow(Step::beta1, u.count), 1 - std::pow(Step::beta2, u.count)},
                 4);
    }
  }

  Network<Real> network;
  size_t size, models;                      // numbers of a model
  Array<Real> parameters, first, second, d; // [models,size]; d of those that were differentiated, in their order
  Array<Real> gathered;                     // parameters that do not lie side by side
  Array<char> decays;                       // whether a parameter does
  std::vector<int> differentiated;
  Numbers squares;
};

Model::Model(Setup setup, int models) : setup_(std::move(setup)), weights_(setup_) {
  if (setup_.settings.text("dtype") == "f32")
    body_ = std::make_unique<Typed<float>>(setup_, weights_, models);
  else
    body_ = std::make_unique<Typed<double>>(setup_, weights_, models);
}
Model::~Model() = default;

void Model::set(const Learned &learned, int model) { body_->set(learned, model); }
Learned Model::get(int model) const { return body_->get(model); }
Judged Model::judge(const Texts &texts, int model) { return body_->judge(texts, model); }
std::vector<Judged> Model::differentiate(const std::vector<int> &models, const std::vector<Texts> &texts) {
  return body_->differentiate(models, texts);
}
Numbers Model::gradient(int model) const { return body_->gradient(model); }
double Model::gradient_square(int model) const { return body_->gradient_square(model); }
void Model::update(const std::vector<Update> &updates) { body_->update(updates); }

} // namespace recollect::train
