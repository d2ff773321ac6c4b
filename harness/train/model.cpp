// SPDX-License-Identifier: Apache-2.0
#include "harness/train/model.hpp"
#include "harness/core/registry.hpp"
#include "harness/pipeline/forward.hpp"
#include "harness/train/adjoint.hpp"
#include "harness/train/parallel.hpp"
#include <algorithm>
#include <cmath>

namespace recollect::train {

/// One tensor that the mixer reads: rows through its projection, and where it is one, through what keeps it a gate, a
/// unit key or a turned query.
struct Projected {
  Tensor tensor;
  std::string weights;
  bool convolved, gate;
  int width;          // of all heads together
  Numbers raw, given; // before and after
};

struct Model::Mixing {
  Numbers normed, convolved, read; // read: the mixer's output, [N,d]
  std::vector<Projected> projected;
  Sequence sequence;
};
struct Model::Block {
  Numbers x, middle, normed, hidden, active; // x before the mixer, and before the MLP
  Mixing mixing;
};

/// One batch, there and back.
class Model::Pass {
public:
  Pass(const Model &model, const Numbers &parameters, const Texts &texts, Numbers *gradient)
      : m_(model), s_(model.setup_.settings), w_(parameters), g_(gradient), texts_(texts), B_(texts.count),
        T_(texts.length), d_(s_.integer("width")), H_(s_.integer("heads")), ffn_(s_.integer("ffn")) {}

  Judged run() {
    Numbers x = embedded();
    std::vector<Block> blocks(static_cast<size_t>(s_.integer("layers")));
    for (size_t i = 0; i < blocks.size(); ++i) forth(int(i), blocks[i], x);
    Numbers dx;
    const Judged judged = answers(x, dx);
    if (!g_) return judged;
    for (size_t i = blocks.size(); i-- > 0;) back(int(i), blocks[i], dx);
    unembed(dx);
    return judged;
  }

private:
  const double *at(const std::string &name) const { return &w_[m_.weights_.part(name).offset]; }
  double *slot(const std::string &name) const { return &(*g_)[m_.weights_.part(name).offset]; }
  size_t steps() const { return size_t(B_) * size_t(T_); }

  /// The norm at `place`: "3.mixer ", "3.ffn " or "", before the answers.
  Numbers norm_forward(const Numbers &x, const std::string &place) const {
    const std::string &kind = s_.text("norm");
    if (kind == "none") return x;
    const double *gain = at(place + "gain");
    return kind == "layer" ? layer_forward(x, gain, at(place + "shift"), d_) : rms_forward(x, gain, d_);
  }
  Numbers norm_backward(const Numbers &x, const std::string &place, const Numbers &d) const {
    const std::string &kind = s_.text("norm");
    if (kind == "none") return d;
    const double *gain = at(place + "gain");
    double *dgain = slot(place + "gain");
    return kind == "layer" ? layer_backward(x, gain, d_, d, dgain, slot(place + "shift"))
                           : rms_backward(x, gain, d_, d, dgain);
  }

  Numbers embedded() const {
    const double *table = at("embedding"), *positions = m_.weights_.has("positions") ? at("positions") : nullptr;
    Numbers x(steps() * size_t(d_));
    for (size_t i = 0; i < steps(); ++i) {
      std::copy_n(table + texts_.tokens[i] * d_, d_, &x[i * size_t(d_)]);
      if (positions) add(1, positions + int(i % size_t(T_)) * d_, &x[i * size_t(d_)], d_);
    }
    return x;
  }
  void unembed(const Numbers &dx) {
    double *table = slot("embedding"), *positions = m_.weights_.has("positions") ? slot("positions") : nullptr;
    for (size_t i = 0; i < steps(); ++i) {
      add(1, &dx[i * size_t(d_)], table + texts_.tokens[i] * d_, d_);
      if (positions) add(1, &dx[i * size_t(d_)], positions + int(i % size_t(T_)) * d_, d_);
    }
  }

  void forth(int i, Block &b, Numbers &x) {
    const auto name = [&](const char *part) { return in_block(i, part); };
    b.x = x;
    if (m_.mixer_) {
      mix(i, b.x, b.mixing);
      add_to(x, linear_forward(b.mixing.read, at(name("o")), d_, d_));
    }
    b.middle = x;
    if (ffn_ == 0) return;
    b.normed = norm_forward(x, name("ffn "));
    b.hidden = linear_forward(b.normed, at(name("ffn in")), d_, ffn_);
    const double *bias = at(name("ffn bias"));
    for (size_t row = 0; row < steps(); ++row) add(1, bias, &b.hidden[row * size_t(ffn_)], ffn_);
    b.active = gelu_forward(b.hidden);
    add_to(x, linear_forward(b.active, at(name("ffn out")), ffn_, d_));
  }

  void back(int i, Block &b, Numbers &dx) {
    const auto name = [&](const char *part) { return in_block(i, part); };
    if (ffn_) {
      Numbers d = linear_backward(b.active, at(name("ffn out")), ffn_, d_, dx, slot(name("ffn out")));
      d = gelu_backward(b.hidden, d);
      add_rows(d, ffn_, slot(name("ffn bias")));
      d = linear_backward(b.normed, at(name("ffn in")), d_, ffn_, d, slot(name("ffn in")));
      add_to(dx, norm_backward(b.middle, name("ffn "), d));
    }
    if (m_.mixer_) {
      const Numbers d = linear_backward(b.mixing.read, at(name("o")), d_, d_, dx, slot(name("o")));
      add_to(dx, unmix(i, b.x, b.mixing, d));
    }
  }

  void add_rows(const Numbers &d, int width, double *into) const {
    for (size_t row = 0; row < d.size(); row += size_t(width)) add(1, &d[row], into, width);
  }

  std::vector<Projected> tensors() const {
    const bool taps = s_.integer("convolution") > 0, all = taps && s_.text("convolved") == "all";
    std::vector<Projected> found{{Tensor::q, "q", all, false, d_, {}, {}},
                                 {Tensor::k, "k", taps, false, d_, {}, {}},
                                 {Tensor::v, "v", all, false, d_, {}, {}}};
    for (const Input &input : m_.mixer_->inputs)
      found.push_back({input.tensor(), input.name, false, input.name != "w", input.per_step() ? H_ : d_, {}, {}});
    return found;
  }
  bool turned(Tensor tensor) const {
    return s_.text("positions") == "rope" && (tensor == Tensor::q || tensor == Tensor::k);
  }
  bool to_unit(Tensor tensor) const { return tensor == Tensor::k && s_.text("keys") == "unit"; }

  void mix(int i, const Numbers &x, Mixing &m) {
    const auto name = [&](const std::string &part) { return in_block(i, part); };
    m.normed = norm_forward(x, name("mixer "));
    const int taps = s_.integer("convolution"), D = d_ / H_;
    if (taps) m.convolved = convolution_forward(m.normed, at(name("convolution")), taps, d_, T_);
    m.sequence.shape = {B_, H_, T_, D, D};
    m.projected = tensors();
    for (Projected &p : m.projected) {
      p.raw = linear_forward(p.convolved ? m.convolved : m.normed, at(name(p.weights)), d_, p.width);
      if (p.gate)
        for (size_t row = 0; row < steps(); ++row)
          add(1, at(name(p.weights + " bias")), &p.raw[row * size_t(p.width)], p.width);
      p.given = p.gate ? sigmoid_forward(p.raw) : turned(p.tensor) ? rope(p.raw, d_, D, T_, 1) : p.raw;
      if (to_unit(p.tensor)) p.raw = p.given, p.given = unit_forward(p.raw, D);
      m.sequence[p.tensor] = exchanged(p.given, B_, T_, H_, p.width / H_);
    }
    const Output out = forward(*m_.mixer_, m.sequence, {"recurrent", Real::f64, 1, m_.setup_.mixer_params});
    m.read = exchanged(out.o, B_, H_, T_, D);
  }

  Numbers unmix(int i, const Numbers &x, Mixing &m, const Numbers &dread) {
    const auto name = [&](const std::string &part) { return in_block(i, part); };
    const int taps = s_.integer("convolution"), D = d_ / H_;
    const Sequence g = mixer_gradient(*m_.mixer_, m.sequence, m_.setup_.mixer_params, exchanged(dread, B_, T_, H_, D));
    Numbers dnormed(m.normed.size(), 0.0), dconvolved(m.convolved.size(), 0.0);
    for (const Projected &p : m.projected) {
      Numbers d = exchanged(g[p.tensor], B_, H_, T_, p.width / H_);
      if (to_unit(p.tensor)) d = unit_backward(p.raw, D, d);
      if (turned(p.tensor)) d = rope(std::move(d), d_, D, T_, -1);
      if (p.gate) {
        d = sigmoid_backward(p.given, d);
        add_rows(d, p.width, slot(name(p.weights + " bias")));
      }
      add_to(p.convolved ? dconvolved : dnormed,
             linear_backward(p.convolved ? m.convolved : m.normed, at(name(p.weights)), d_, p.width, d,
                             slot(name(p.weights))));
    }
    if (taps)
      add_to(dnormed, convolution_backward(m.normed, at(name("convolution")), taps, d_, T_, dconvolved,
                                           slot(name("convolution"))));
    return norm_backward(x, name("mixer "), dnormed);
  }

  /// Cross-entropy at the labels; dx is the derivative in x where there is a gradient to be had.
  Judged answers(const Numbers &x, Numbers &dx) {
    const int V = s_.integer("vocabulary");
    std::vector<size_t> asked;
    for (size_t i = 0; i < texts_.labels.size(); ++i)
      if (texts_.labels[i] >= 0) asked.push_back(i);
    Numbers picked(asked.size() * size_t(d_));
    for (size_t i = 0; i < asked.size(); ++i) std::copy_n(&x[asked[i] * size_t(d_)], d_, &picked[i * size_t(d_)]);
    const Numbers normed = norm_forward(picked, "");
    const std::string head = s_.text("head") == "own" ? "head" : "embedding";
    Numbers logits(asked.size() * size_t(V));
    const int N = int(asked.size());
    product(N, V, d_, rows(normed.data(), d_), transposed(at(head), d_), 0, logits.data());
    Judged judged;
    judged.asked = N;
    for (size_t i = 0; i < asked.size(); ++i) {
      double *row = &logits[i * size_t(V)];
      const int label = texts_.labels[asked[i]], best = int(std::max_element(row, row + V) - row);
      const double largest = row[best];
      double sum = 1; // of exp(row - largest): 1 for the largest
      for (int j = 0; j < V; ++j)
        if (j != best) sum += std::exp(row[j] - largest);
      judged.loss += (largest + std::log(sum) - row[label]) / N;
      judged.right += best == label;
      for (int j = 0; j < V; ++j)
        row[j] = (std::exp(row[j] - largest) / sum - (j == label)) / N; // now d loss / d logit
    }
    if (!g_) return judged;
    Numbers dnormed(normed.size());
    product(N, d_, V, rows(logits.data(), V), rows(at(head), d_), 0, dnormed.data());
    product(V, d_, N, transposed(logits.data(), V), rows(normed.data(), d_), 1, slot(head));
    const Numbers dpicked = norm_backward(picked, "", dnormed);
    dx.assign(x.size(), 0.0);
    for (size_t i = 0; i < asked.size(); ++i) std::copy_n(&dpicked[i * size_t(d_)], d_, &dx[asked[i] * size_t(d_)]);
    return judged;
  }

  const Model &m_;
  const Params &s_;
  const Numbers &w_;
  Numbers *g_;
  const Texts &texts_;
  int B_, T_, d_, H_, ffn_;
};

Model::Model(Setup setup)
    : setup_(std::move(setup)), weights_(setup_),
      mixer_(setup_.mixer() == "none" ? nullptr : &find_variant(setup_.mixer())) {}

Judged Model::run(const Numbers &parameters, const Texts &texts, Numbers *gradient) const {
  if (gradient) gradient->assign(weights_.size(), 0.0);
  return Pass(*this, parameters, texts, gradient).run();
}

} // namespace recollect::train
