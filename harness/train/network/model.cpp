// SPDX-License-Identifier: Apache-2.0
#include "harness/train/network/model.hpp"
#include "harness/call/make_call.hpp"
#include "harness/device/each_index.hpp"
#include "harness/device/math.hpp"
#include "harness/device/stream.hpp"
#include "harness/train/network/network.hpp"
#include <cmath>
#include <stdexcept>

namespace recollect::train {

struct Model::Body {
  virtual ~Body() = default;
  virtual void set(const Learned &learned) = 0;
  virtual Learned get() const = 0;
  virtual Judged judge(const Texts &texts) = 0;
  virtual Judged differentiate(const Texts &texts) = 0;
  virtual Numbers gradient() const = 0;
  virtual void step(const Texts &texts, const Update &update) = 0;
  virtual std::vector<Judged> judged() = 0;
  std::unique_ptr<DeviceStream> stream; // the model's stream; destroying it waits for the model's work
};
struct Model::Here {
  Body &body;
  DeviceStream::Within stream;
  Body *operator->() { return &body; }
};

namespace {

/// Computes on the device the factor by which a step's gradient is multiplied: 1, or less if the gradient is clipped.
/// If the loss or the gradient is not finite, the factor is NaN in this step and in all later steps, and AdamW then
/// updates nothing.
struct Factor {
  Array<double> sums, factor; // sums [3] of this step (SumUp); factor [1] of the previous step, which is replaced
  double clip;
  KOKKOS_FUNCTION void operator()(size_t) const {
    const double length = math::sqrt(sums[2]),
                 nothing = (sums[0] - sums[0]) + (length - length); // 0 if loss and gradient are finite, else NaN
    factor[0] = (factor[0] - factor[0]) + nothing + (clip > 0 && length > clip ? clip / length : 1);
  }
};

template <class Real> struct AdamW {
  static constexpr double beta1 = 0.9, beta2 = 0.999, small = 1e-8;
  Array<Real> gradient, parameters, first, second;
  Array<char> decays;
  Array<double> factor;
  double rate, decay, whole1, whole2; // whole1 = 1 - beta1^count and whole2 = 1 - beta2^count correct AdamW's bias
  KOKKOS_FUNCTION void operator()(size_t i) const {
    if (!(factor[0] > 0)) return;
    const Real g = Real(factor[0]) * gradient[i];
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
        second("second", weights.size()), d("gradient", weights.size()), decays("decays", weights.size()),
        sums("sums", 3 * most_begun), factor("factor", 1) {
    const auto host = Kokkos::create_mirror_view(decays);
    for (const auto &[name, part] : weights.parts())
      std::fill_n(host.data() + part.offset, part.size, char(part.decays));
    copy(decays, host);
  }
  void set(const Learned &learned) override {
    copy(parameters, upload<Real>("parameters", learned.parameters));
    copy(first, upload<Real>("first moments", learned.first));
    copy(second, upload<Real>("second moments", learned.second));
    fill(factor, 1.0);
  }
  Learned get() const override { return {download(parameters), download(first), download(second)}; }
  Judged judge(const Texts &texts) override { return network.run(parameters, texts); }
  Judged differentiate(const Texts &texts) override { return network.run(parameters, texts, d); }
  Numbers gradient() const override { return download(d); }
  void step(const Texts &texts, const Update &update) override {
    if (begun.size() == most_begun) throw std::logic_error("more steps were begun than are kept");
    const Array<double> own(sums.data() + 3 * begun.size(), 3);
    begun.push_back(network.start(parameters, texts, own, d));
    each_index("train::factor", 1, Factor{own, factor, update.clip});
    using Step = AdamW<Real>;
    each_index("train::adamw", d.extent(0),
               Step{d, parameters, first, second, decays, factor, update.rate, update.decay,
                    1 - std::pow(Step::beta1, update.count), 1 - std::pow(Step::beta2, update.count)},
               4);
  }
  std::vector<Judged> judged() override {
    if (begun.empty()) return {};
    const std::vector<double> found = download(sums);
    std::vector<Judged> all;
    for (size_t i = 0; i < begun.size(); ++i) all.push_back(train::judged(found.data() + 3 * i, begun[i]));
    begun.clear();
    return all;
  }

  Network<Real> network;
  Array<Real> parameters, first, second, d;
  Array<char> decays; // for each parameter, whether weight decay applies
  Array<double> sums, factor;
  std::vector<int> begun; // for each step started since the last judged(), its number of answers
};

Model::Model(Setup setup) : setup_(std::move(setup)), weights_(setup_) {
  auto stream = std::make_unique<DeviceStream>();
  const DeviceStream::Within here(*stream);
  if (setup_.settings.text("dtype") == "f32")
    body_ = std::make_unique<Typed<float>>(setup_, weights_);
  else
    body_ = std::make_unique<Typed<double>>(setup_, weights_);
  body_->stream = std::move(stream);
}
Model::~Model() = default;
Model::Here Model::here() const { return {*body_, DeviceStream::Within(*body_->stream)}; }

void Model::set(const Learned &learned) { here()->set(learned); }
Learned Model::get() const { return here()->get(); }
Judged Model::judge(const Texts &texts) { return here()->judge(texts); }
Judged Model::differentiate(const Texts &texts) { return here()->differentiate(texts); }
Numbers Model::gradient() const { return here()->gradient(); }

int Model::side_by_side() { return on_host ? 1 : 8; }
int Model::together() { return on_host ? 1 : int(most_begun); }
void Model::step(const Texts &texts, const Update &update) { here()->step(texts, update); }
std::vector<Judged> Model::judged() { return here()->judged(); }

} // namespace recollect::train
