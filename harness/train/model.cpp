// SPDX-License-Identifier: Apache-2.0
#include "harness/train/model.hpp"
#include "harness/device/each_index.hpp"
#include "harness/device/math.hpp"
#include "harness/pipeline/make_call.hpp"
#include "harness/train/network.hpp"
#include <cmath>

namespace recollect::train {

struct Model::Body {
  virtual ~Body() = default;
  virtual void set(const Learned &learned) = 0;
  virtual Learned get() const = 0;
  virtual Judged run(const Texts &texts, bool differentiate) = 0;
  virtual Numbers gradient() const = 0;
  virtual double gradient_square() const = 0;
  virtual void update(int count, double rate, double decay, double scale) = 0;
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

/// Sums of squares of 256 numbers each.
template <class Real> struct Squares {
  static constexpr int block = 256;
  Array<Real> numbers;
  Array<double> sums;
  KOKKOS_FUNCTION void operator()(int b, int first, int side) const {
    double sum = 0;
    for (size_t i = size_t(b) * block + size_t(first), end = size_t(b + 1) * block; i < end; i += size_t(side))
      if (i < numbers.extent(0)) sum += double(numbers[i]) * double(numbers[i]);
    sum = across_row(sum, [](double x, double y) { return x + y; });
    if (first == 0) sums[size_t(b)] = sum;
  }
};

} // namespace

template <class Real> struct Model::Typed : Body {
  Typed(const Setup &setup, const Weights &weights)
      : network(setup, weights), parameters("parameters", weights.size()), first("first", weights.size()),
        second("second", weights.size()), d("gradient", weights.size()), decays("decays", weights.size()),
        squares("squares", (weights.size() - 1) / Squares<Real>::block + 1) {
    const auto host = Kokkos::create_mirror_view(decays);
    for (const auto &[name, part] : weights.parts())
      std::fill_n(host.data() + part.offset, part.size, char(part.decays));
    copy(decays, host);
  }
  void set(const Learned &learned) override {
    copy(parameters, upload<Real>("parameters", learned.parameters));
    copy(first, upload<Real>("first moments", learned.first));
    copy(second, upload<Real>("second moments", learned.second));
  }
  Learned get() const override { return {download(parameters), download(first), download(second)}; }
  Judged run(const Texts &texts, bool differentiate) override {
    return network.run(parameters, texts, differentiate ? d : Array<Real>());
  }
  Numbers gradient() const override { return download(d); }
  double gradient_square() const override {
    each_row("train::squares", int(squares.extent(0)), Squares<Real>::block, Squares<Real>{d, squares});
    double sum = 0;
    for (double square : download(squares)) sum += square;
    return sum;
  }
  void update(int count, double rate, double decay, double scale) override {
    using Step = AdamW<Real>;
    each_index("train::adamw", d.extent(0),
               Step{d, parameters, first, second, decays, scale, rate, decay, 1 - std::pow(Step::beta1, count),
                    1 - std::pow(Step::beta2, count)},
               4);
  }

  Network<Real> network;
  Array<Real> parameters, first, second, d;
  Array<char> decays; // whether a parameter does
  Array<double> squares;
};

Model::Model(Setup setup) : setup_(std::move(setup)), weights_(setup_) {
  if (setup_.settings.text("dtype") == "f32")
    body_ = std::make_unique<Typed<float>>(setup_, weights_);
  else
    body_ = std::make_unique<Typed<double>>(setup_, weights_);
}
Model::~Model() = default;

void Model::set(const Learned &learned) { body_->set(learned); }
Learned Model::get() const { return body_->get(); }
Judged Model::judge(const Texts &texts) { return body_->run(texts, false); }
Judged Model::differentiate(const Texts &texts) { return body_->run(texts, true); }
Numbers Model::gradient() const { return body_->gradient(); }
double Model::gradient_square() const { return body_->gradient_square(); }
void Model::update(int count, double rate, double decay, double scale) { body_->update(count, rate, decay, scale); }

} // namespace recollect::train
