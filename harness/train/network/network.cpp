// SPDX-License-Identifier: Apache-2.0
#include "harness/train/network/network.hpp"
#include "harness/call/make_call.hpp"
#include "harness/device/math.hpp"
#include "harness/device/product.hpp"
#include "harness/train/network/layers.hpp"
#include "harness/train/network/mixer.hpp"
#include <algorithm>

namespace recollect::train {
namespace {

/// One input tensor of the mixer. It is a projection of the block's input, to which functions (sigmoid, rotary
/// embedding, normalisation) are applied as the settings ask.
template <class Real> struct Projected {
  Tensor tensor;
  std::string weights;
  bool convolved, gate;
  int heads, width;       // number of heads, width of one head
  Array<Real> raw, given; // raw: input of the last of these functions; given: its output, which the mixer takes
};

/// What a block keeps for the backward pass.
template <class Real> struct Block {
  Array<Real> x, middle, normed, hidden, active; // x: input of the mixer's norm; middle: input of the MLP's norm
  Array<Real> mixed, convolved, raw_read,
      read; // mixed: normed x; raw_read: mixer's output; read: normed raw_read
  std::vector<Projected<Real>> projected;
  std::unique_ptr<Mixing<Real>> mixing;
};

/// For one row of logits, computes the cross-entropy, and whether the label has the largest logit. Of equal logits, the
/// first counts as the largest. Then replaces the logits by the derivative of the mean cross-entropy of all rows.
template <class Real> struct CrossEntropy {
  int rows, width;
  Array<int> labels;
  Array<Real> logits;
  Array<double> loss, right;
  KOKKOS_FUNCTION void operator()(int row, int first, int side) const {
    Real *x = logits.data() + size_t(row) * size_t(width);
    Real largest = -HUGE_VAL;
    const auto larger = [](Real a, Real b) { return a < b ? b : a; };
    for (int j = first; j < width; j += side) largest = larger(largest, x[j]);
    largest = across_row(largest, larger);
    int best = width;
    Real sum = 0;
    for (int j = first; j < width; j += side) {
      if (j < best && x[j] == largest) best = j;
      sum += math::exp(x[j] - largest);
    }
    best = across_row(best, [](int a, int b) { return b < a ? b : a; });
    sum = across_row(sum, [](Real a, Real b) { return a + b; });
    const int label = labels[size_t(row)];
    if (first == 0) {
      loss[size_t(row)] = double(largest + math::log(sum) - x[label]);
      right[size_t(row)] = best == label ? 1 : 0;
    }
    row_barrier();
    for (int j = first; j < width; j += side) x[j] = (math::exp(x[j] - largest) / sum - Real(j == label)) / Real(rows);
  }
};

/// The forward and backward pass of one batch.
template <class Real> class Pass {
public:
  using Rows = Array<Real>;
  Pass(const Setup &setup, const Weights &weights, const Rows &parameters, const Texts &texts, const Rows &gradient,
       const Rows &start, Arena &arena, std::shared_ptr<Arena> scratch)
      : s_(setup.settings), setup_(setup), weights_(weights), w_(parameters), g_(gradient), mixer_(setup.layer()),
        start_(start), arena_(arena), scratch_(std::move(scratch)), batch_(arena, texts, s_.integer("vocabulary")),
        left_(arena, batch_.asked.extent(0), Squares<Real>::blocks(gradient.extent(0))), B_(texts.count),
        T_(texts.length), d_(s_.integer("width")), H_(s_.integer("heads")), D_(head_width(s_)),
        ffn_(s_.integer("ffn")) {}

  /// The addresses and sizes on which the kernels of start() depend in addition to the setup.
  DeviceGraph::Key key() const {
    return {
        std::uintptr_t(w_.data()), std::uintptr_t(g_.data()), arena_.begin(), scratch_->begin(), size_t(B_), size_t(T_),
        size_t(left_.answers)};
  }
  void start() {
    if (wanted()) fill(g_, Real(0));
    Rows x = embedded();
    std::vector<Block<Real>> blocks(static_cast<size_t>(s_.integer("layers")));
    for (size_t i = 0; i < blocks.size(); ++i) forth(int(i), blocks[i], x);
    const Rows dx = answers(x);
    if (!wanted()) return;
    for (size_t i = blocks.size(); i-- > 0;) back(int(i), blocks[i], dx);
    unembed(dx);
    each_row("train::squares", int(left_.squares.extent(0)), Squares<Real>::block, Squares<Real>{g_, left_.squares});
  }
  const Left &left() const { return left_; }

private:
  bool wanted() const { return g_.extent(0) > 0; }
  Rows part(const Rows &all, const std::string &name) const {
    const Weights::Part &p = weights_.part(name);
    return Rows(all.data() + p.offset, p.size);
  }
  Rows at(const std::string &name) const { return part(w_, name); }
  Rows slot(const std::string &name) const { return part(g_, name); }
  size_t steps() const { return size_t(B_) * size_t(T_); }

  /// Applies the norm at `place`: "3.mixer " and "3.ffn " are norms of block 3, "" is the norm before the output head.
  Rows norm_forward(const Rows &x, const std::string &place) {
    const std::string &kind = s_.text("norm");
    if (kind == "none") return x;
    const Rows gain = at(place + "gain");
    return kind == "layer" ? layer_forward(arena_, x, gain, at(place + "shift")) : rms_forward(arena_, x, gain);
  }
  /// Backward pass of norm_forward() for the gradient d of its output. Adds the gradient of x to dx.
  void norm_backward(const Rows &x, const std::string &place, const Rows &d, const Rows &dx) {
    const std::string &kind = s_.text("norm");
    if (kind == "none") return add_to(dx, d);
    const Rows gain = at(place + "gain"), dgain = slot(place + "gain");
    if (kind == "layer")
      add_layer_backward(arena_, x, gain, d, dx, dgain, slot(place + "shift"));
    else
      add_rms_backward(arena_, x, gain, d, dx, dgain);
  }

public: // nvcc requires classes that contain a kernel to be public
  Rows embedded() {
    const Rows table = at("embedding"), positions = weights_.has("positions") ? at("positions") : Rows();
    const Rows x = arena_.take<Real>(steps() * size_t(d_));
    const Array<int> tokens = batch_.tokens;
    const size_t d = size_t(d_), text = size_t(T_) * d;
    const bool placed = positions.extent(0) > 0;
    each_index(
        "train::embedded", x.extent(0), KOKKOS_LAMBDA(size_t i) {
          x[i] = table[size_t(tokens[i / d]) * d + i % d] + (placed ? positions[i % text] : Real(0));
        });
    return x;
  }
  void unembed(const Rows &dx) {
    const Rows table = slot("embedding");
    const Array<int> begin = batch_.begin, places = batch_.places;
    const size_t d = size_t(d_), steps = this->steps(), text = size_t(T_) * d, vocabulary = begin.extent(0) - 1;
    each_index(
        "train::unembed", table.extent(0),
        KOKKOS_LAMBDA(size_t i) {
          Real sum = 0;
          for (int p = begin[i / d]; p < begin[i / d + 1]; ++p) sum += dx[size_t(places[size_t(p)]) * d + i % d];
          table[i] += sum;
        },
        steps / vocabulary + 1);
    if (!weights_.has("positions")) return;
    const Rows positions = slot("positions");
    const int B = B_;
    each_index(
        "train::positions", text,
        KOKKOS_LAMBDA(size_t i) {
          Real sum = 0;
          for (int b = 0; b < B; ++b) sum += dx[size_t(b) * text + i];
          positions[i] += sum;
        },
        size_t(B));
  }

  /// Computes the cross-entropy at the positions that have labels. Returns the derivative of its mean with respect to x
  /// if a gradient is wanted.
  Rows answers(const Rows &x) {
    const int V = s_.integer("vocabulary"), N = left_.answers;
    const Array<int> places = batch_.asked;
    const size_t d = size_t(d_);
    const Rows picked = arena_.take<Real>(size_t(N) * d);
    each_index(
        "train::picked", picked.extent(0),
        KOKKOS_LAMBDA(size_t i) { picked[i] = x[size_t(places[i / d]) * d + i % d]; });
    const Rows normed = norm_forward(picked, ""), logits = arena_.take<Real>(size_t(N) * size_t(V));
    const std::string head = s_.text("head") == "own" ? "head" : "embedding";
    product<Real>(N, V, d_, tile::rows<Real>(normed.data(), d_), tile::transposed<Real>(at(head).data(), d_), 0,
                  logits.data());
    each_row("train::cross_entropy", N, 16 * V,
             CrossEntropy<Real>{N, V, batch_.labels, logits, left_.losses, left_.right});
    if (!wanted()) return {};
    const Rows dnormed = arena_.take<Real>(normed.extent(0));
    product<Real>(N, d_, V, tile::rows<Real>(logits.data(), V), tile::rows<Real>(at(head).data(), d_), 0,
                  dnormed.data());
    product<Real>(V, d_, N, tile::transposed<Real>(logits.data(), V), tile::rows<Real>(normed.data(), d_), 1,
                  slot(head).data());
    const Rows dpicked = zeros<Real>(arena_, picked.extent(0)), all = zeros<Real>(arena_, x.extent(0));
    norm_backward(picked, "", dnormed, dpicked);
    each_index(
        "train::unpicked", dpicked.extent(0),
        KOKKOS_LAMBDA(size_t i) { all[size_t(places[i / d]) * d + i % d] = dpicked[i]; });
    return all;
  }

private:
  void forth(int i, Block<Real> &b, Rows &x) {
    const auto name = [&](const char *part) { return in_block(i, part); };
    b.x = x;
    if (mixer_) {
      mix(i, b);
      const Rows mixed = linear_forward(arena_, b.read, at(name("o")), H_ * D_, d_);
      if (weights_.has(name("o bias"))) bias_forward(mixed, at(name("o bias")));
      x = sum(arena_, x, mixed);
    }
    if (ffn_ == 0) return;
    b.middle = x;
    b.normed = norm_forward(b.middle, name("ffn "));
    b.hidden = linear_forward(arena_, b.normed, at(name("ffn in")), d_, ffn_);
    b.active = gelu_forward(arena_, b.hidden, at(name("ffn bias")));
    x = sum(arena_, x, linear_forward(arena_, b.active, at(name("ffn out")), ffn_, d_));
  }

  void back(int i, Block<Real> &b, const Rows &dx) {
    const auto name = [&](const char *part) { return in_block(i, part); };
    if (ffn_) {
      Rows d = linear_backward(arena_, b.active, at(name("ffn out")), ffn_, d_, dx, slot(name("ffn out")));
      d = gelu_backward(arena_, b.hidden, b.active, d);
      bias_backward(arena_, d, slot(name("ffn bias")));
      d = linear_backward(arena_, b.normed, at(name("ffn in")), d_, ffn_, d, slot(name("ffn in")));
      norm_backward(b.middle, name("ffn "), d, dx);
    }
    if (mixer_) {
      if (weights_.has(name("o bias"))) bias_backward(arena_, dx, slot(name("o bias")));
      const Rows d = linear_backward(arena_, b.read, at(name("o")), H_ * D_, d_, dx, slot(name("o")));
      unmix(i, b, d, dx);
    }
  }

  std::vector<Projected<Real>> tensors() const {
    const bool taps = s_.integer("convolution") > 0, all = taps && s_.text("convolved") == "all";
    std::vector<Projected<Real>> found;
    const auto add = [&](Tensor tensor, bool convolved, bool gate) {
      const int heads = heads_of(tensor, s_);
      found.push_back({tensor, name_of(tensor), convolved, gate, heads, columns_of(tensor, s_) / heads, {}, {}});
    };
    add(Tensor::q, all, false), add(Tensor::k, taps, false), add(Tensor::v, all, false);
    for (const Input &input : mixer_->inputs)
      if (input.name != "w" || !keys_looked_up()) add(input.tensor(), false, input.name != "w");
    return found;
  }
  bool turned(Tensor tensor) const {
    return s_.text("positions") == "rope" && (tensor == Tensor::q || tensor == Tensor::k);
  }
  bool keys_looked_up() const { // whether the layer has an input w and the settings make w equal to the key
    const std::vector<Input> &inputs = mixer_->inputs;
    return s_.text("lookups") == "keys" &&
           std::any_of(inputs.begin(), inputs.end(), [](const Input &input) { return input.name == "w"; });
  }
  bool squeezed(const Projected<Real> &p) const { return p.gate && s_.text("gates") == "tokens"; }
  Real most(const Projected<Real> &p) const { return p.tensor == Tensor::beta ? Real(s_.real("beta_below")) : Real(1); }
  bool scaled_reads() const { return s_.text("reads") == "rms"; }
  bool to_unit(Tensor tensor) const {
    return (tensor == Tensor::k && s_.text("keys") == "unit") || (tensor == Tensor::w && s_.text("lookups") == "unit");
  }

  void mix(int i, Block<Real> &b) {
    const auto name = [&](const std::string &part) { return in_block(i, part); };
    b.mixed = norm_forward(b.x, name("mixer "));
    if (s_.integer("convolution")) b.convolved = convolution_forward(arena_, b.mixed, at(name("convolution")), d_, T_);
    b.mixing = std::make_unique<Mixing<Real>>(*mixer_, setup_.mixer_params, Shape{B_, H_, T_, D_, D_}, start_);
    b.projected = tensors();
    for (Projected<Real> &p : b.projected) {
      const int columns = p.heads * p.width;
      p.raw = weights_.has(name(p.weights))
                  ? linear_forward(arena_, p.convolved ? b.convolved : b.mixed, at(name(p.weights)), d_, columns)
                  : zeros<Real>(arena_, steps() * size_t(columns));
      if (weights_.has(name(p.weights + " bias"))) bias_forward(p.raw, at(name(p.weights + " bias")));
      p.given = squeezed(p)        ? sigmoid_forward(arena_, p.raw, most(p))
                : turned(p.tensor) ? rope(arena_, p.raw, columns, D_, T_, 1)
                                   : p.raw;
      if (to_unit(p.tensor)) p.raw = p.given, p.given = unit_forward(arena_, p.raw, D_);
      const Rows by_heads = exchanged(arena_, p.given, T_, p.heads, p.width);
      (*b.mixing)[p.tensor] = repeated(arena_, by_heads, T_ * p.width, H_ / p.heads);
    }
    if (keys_looked_up()) (*b.mixing)[Tensor::w] = (*b.mixing)[Tensor::k];
    b.raw_read = exchanged(arena_, b.mixing->forward(arena_, scratch_), H_, T_, D_);
    b.read = scaled_reads() ? mean_square_forward(arena_, b.raw_read, D_) : b.raw_read;
  }

  /// Backward pass of mix(); adds the gradient to dx.
  void unmix(int i, Block<Real> &b, const Rows &dread, const Rows &dx) {
    const auto name = [&](const std::string &part) { return in_block(i, part); };
    const bool taps = s_.integer("convolution");
    Mixing<Real> g = *b.mixing;
    const Rows draw = scaled_reads() ? mean_square_backward(arena_, b.raw_read, D_, dread) : dread;
    b.mixing->backward(arena_, exchanged(arena_, draw, T_, H_, D_), g);
    if (keys_looked_up()) add_to(g[Tensor::k], g[Tensor::w]);
    const Rows dnormed = zeros<Real>(arena_, b.mixed.extent(0)),
               dconvolved = zeros<Real>(arena_, b.convolved.extent(0));
    for (const Projected<Real> &p : b.projected) {
      const int columns = p.heads * p.width;
      const Rows by_heads = repeated_backward(arena_, g[p.tensor], T_ * p.width, H_ / p.heads);
      Rows d = exchanged(arena_, by_heads, p.heads, T_, p.width);
      if (to_unit(p.tensor)) d = unit_backward(arena_, p.raw, D_, d);
      if (turned(p.tensor)) d = rope(arena_, d, columns, D_, T_, -1);
      if (squeezed(p)) d = sigmoid_backward(arena_, p.given, d, most(p));
      if (weights_.has(name(p.weights + " bias"))) bias_backward(arena_, d, slot(name(p.weights + " bias")));
      if (!weights_.has(name(p.weights))) continue;
      add_linear_backward(p.convolved ? b.convolved : b.mixed, at(name(p.weights)), d_, columns, d,
                          p.convolved ? dconvolved : dnormed, slot(name(p.weights)));
    }
    if (taps)
      add_to(dnormed, convolution_backward(arena_, b.mixed, at(name("convolution")), d_, T_, dconvolved,
                                           slot(name("convolution"))));
    norm_backward(b.x, name("mixer "), dnormed, dx);
  }

  const Params &s_;
  const Setup &setup_;
  const Weights &weights_;
  Rows w_, g_;
  const Variant *mixer_;
  Rows start_; // initial state of one head
  Arena &arena_;
  std::shared_ptr<Arena> scratch_;
  Batch batch_;
  Left left_;
  int B_, T_, d_, H_, D_, ffn_;
};

} // namespace

template <class Real>
Network<Real>::Network(const Setup &setup, const Weights &weights) : setup_(setup), weights_(weights) {
  const int D = head_width(setup.settings);
  if (const Variant *mixer = setup.layer()) start_ = start_of<Real>(*mixer, setup.mixer_params, {1, 1, 1, D, D});
}

template <class Real>
int Network<Real>::start(const Array<Real> &parameters, const Texts &texts, const Array<double> &sums,
                         const Array<Real> &gradient) {
  arena_.reset();
  Pass<Real> pass(setup_, weights_, parameters, texts, gradient, start_, arena_, scratch_);
  if (gradient.extent(0))
    graph_(pass.key(), [&pass] { pass.start(); });
  else
    pass.start();
  recollect::run<double>({"train::sum_up", 1, 256}, arena_, 0, SumUp{pass.left(), sums});
  right_ = pass.left().right;
  return pass.left().answers;
}

template <class Real>
Judged Network<Real>::run(const Array<Real> &parameters, const Texts &texts, const Array<Real> &gradient) {
  const Array<double> sums = allocated<double>("sums", 3);
  const int answers = start(parameters, texts, sums, gradient);
  Judged found = judged(download(sums).data(), answers);
  if (gradient.extent(0) == 0) found.answers = download(right_);
  return found;
}

template class Network<float>;
template class Network<double>;

} // namespace recollect::train
