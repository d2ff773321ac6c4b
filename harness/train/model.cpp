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
  virtual Judged judge(const Texts &texts) = 0;
  virtual Judged differentiate(const Texts &texts, const std::function<void()> &meanwhile) = 0;
  virtual Numbers gradient() const = 0;
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

} // namespace

template <class Real> struct Model::Typed : Body {
  Typed(const Setup &setup, const Weights &weights)
      : network(setup, weights), parameters("parameters", weights.size()), first("first", weights.size()),
        second("second", weights.size()), d("gradient", weights.size()), decays("decays", weights.size()) {
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
  Judged judge(const Texts &texts) override { return network.run(parameters, texts); }
  Judged differentiate(const Texts &texts, const std::function<void()> &meanwhile) override {
    return network.run(parameters, texts, d, meanwhile);
  }
  Numbers gradient() const override { return download(d); }
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
Judged Model::judge(const Texts &texts) { return body_->judge(texts); }
Judged Model::differentiate(const Texts &texts, const std::function<void()> &meanwhile) {
  return body_->differentiate(texts, meanwhile);
}
Numbers Model::gradient() const { return body_->gradient(); }
void Model::update(int count, double rate, double decay, double scale) { body_->update(count, rate, decay, scale); }

} // namespace recollect::train
