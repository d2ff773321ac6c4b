// SPDX-License-Identifier: Apache-2.0
#include "harness/check/diagnosis.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/pipeline/forward.hpp"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace recollect {
namespace {

/// Keeps the high 16 bits of a float, rounded to nearest even: bfloat16.
double to_bfloat16(double x) {
  const float value = float(x);
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
  float rounded;
  std::memcpy(&rounded, &bits, sizeof rounded);
  return std::isfinite(x) ? double(rounded) : x;
}

template <class F> Sequence with(Sequence s, std::vector<double> Sequence::*array, const F &f) {
  for (double &x : s.*array) x = f(x);
  return s;
}

/// Rows of `width` moved by `steps` in every head; what comes in at the edge is zero.
std::vector<double> moved(const std::vector<double> &data, const Shape &n, int width, int steps) {
  std::vector<double> out(data.size(), 0.0);
  for (size_t head = 0; head < n.heads(); ++head)
    for (int t = 0; t < n.T; ++t)
      if (const int from = t - steps; from >= 0 && from < n.T)
        std::copy_n(&data[(head * n.T + from) * width], width, &out[(head * n.T + t) * width]);
  return out;
}

/// [B,H,T,D] read as though it were [B,T,H,D].
std::vector<double> relaid(const std::vector<double> &data, const Shape &n, int width) {
  std::vector<double> out(data.size());
  for (int b = 0; b < n.B; ++b)
    for (int h = 0; h < n.H; ++h)
      for (int t = 0; t < n.T; ++t)
        std::copy_n(&data[((size_t(b) * n.H + h) * n.T + t) * width], width,
                    &out[((size_t(b) * n.T + t) * n.H + h) * width]);
  return out;
}

/// The definition, run on whatever a mistake makes of the inputs.
struct Layer {
  const Variant &variant;
  Run run;
  Output operator()(const Sequence &s) const { return forward(variant, s, run); }
};

class Maker {
public:
  Maker(const Variant &variant, const Sequence &sequence, const Params &params)
      : variant_(variant), s_(sequence), of{variant, {"recurrent", Real::f64, 1, params}} {
    of.run.any_gate = true; // a mistake may well leave [0,1]
  }

  void add(const std::string &name, const Sequence &s) {
    list.push_back({name, [s, of = of] { return of(s); }});
  }
  bool takes(const std::string &name) const {
    return std::any_of(variant_.inputs.begin(), variant_.inputs.end(), [&](const Input &i) { return i.name == name; });
  }
  bool given(const std::string &name) const { return takes(name) && !s_.input(name).empty(); }

  void scales() {
    const double root = std::sqrt(double(s_.shape.Dk));
    add("the scale is missing: scores are sqrt(Dk) too large",
        with(s_, &Sequence::q, [=](double x) { return x * root; }));
    add("the scale 1/sqrt(Dk) is applied, or applied twice",
        with(s_, &Sequence::q, [=](double x) { return x / root; }));
  }
  void gates() {
    const std::pair<const char *, std::vector<double> Sequence::*> inputs[] = {
        {"beta", &Sequence::beta}, {"alpha", &Sequence::alpha}, {"lambda", &Sequence::lambda}};
    for (const auto &[name, array] : inputs) {
      if (!given(name)) continue;
      const std::string n = name;
      add(n + " is not applied", with(s_, array, [](double) { return 1.0; }));
      add(n + " is applied twice", with(s_, array, [](double x) { return x * x; }));
      if (n == "beta") {
        add("beta is passed through a sigmoid once more",
            with(s_, array, [](double x) { return 1 / (1 + std::exp(-x)); }));
        continue;
      }
      add(n + " is taken for its logarithm: exp(" + n + ") is applied",
          with(s_, array, [](double x) { return std::exp(x); }));
      add(n + "'s logarithm is applied in its place", with(s_, array, [](double x) { return std::log(x); }));
      Sequence late = s_;
      late.*array = moved(s_.*array, s_.shape, n == "alpha" ? 1 : s_.shape.Dk, 1);
      const size_t first = n == "alpha" ? 1 : size_t(s_.shape.Dk); // of the first step: nothing to decay
      for (size_t head = 0; head < s_.shape.heads(); ++head)
        for (size_t i = 0; i < first; ++i) (late.*array)[head * s_.shape.T * first + i] = 1;
      add(n + " is one step late", late);
      if (n == "alpha") {
        Sequence both = s_;
        for (size_t i = 0; i < both.v.size(); ++i) both.v[i] *= s_.alpha[i / size_t(s_.shape.Dv)];
        add("alpha also decays the pair that is being written", both);
      }
    }
  }
  void order() {
    list.push_back({"it reads before it writes: o_t sees steps before t only", [=, s_ = s_, of = of] {
                      Sequence ahead = s_;
                      ahead.q = moved(s_.q, s_.shape, s_.shape.Dk, -1);
                      Output o = of(ahead);
                      o.o = moved(o.o, s_.shape, s_.shape.Dv, 1);
                      return o;
                    }});
    list.push_back({"the mask is off by one: o_t sees step t + 1", [=, s_ = s_, of = of] {
                      Sequence behind = s_;
                      behind.q = moved(s_.q, s_.shape, s_.shape.Dk, 1);
                      Output o = of(behind), last = of(s_);
                      o.o = moved(o.o, s_.shape, s_.shape.Dv, -1);
                      for (size_t head = 0; head < s_.shape.heads(); ++head) // nothing follows the last step
                        std::copy_n(&last.o[((head + 1) * s_.shape.T - 1) * s_.shape.Dv], s_.shape.Dv,
                                    &o.o[((head + 1) * s_.shape.T - 1) * s_.shape.Dv]);
                      return o;
                    }});
  }
  void states() {
    if (!s_.state.empty()) {
      Sequence fresh = s_;
      fresh.state.clear();
      add("the initial state is ignored", fresh);
    }
    for (int C : {16, 32, 64, 128, 256}) {
      if (C >= s_.shape.T) continue;
      list.push_back({"the state is not handed over between chunks of " + std::to_string(C), [=, s_ = s_, of = of] {
                        Output whole;
                        whole.o.resize(s_.v.size());
                        for (int begin = 0; begin < s_.shape.T; begin += C) {
                          const int end = std::min(begin + C, s_.shape.T), width = (end - begin) * s_.shape.Dv;
                          const Output part = of(slice_steps(s_, begin, end));
                          for (size_t head = 0; head < s_.shape.heads(); ++head)
                            std::copy_n(&part.o[head * width], width,
                                        &whole.o[(head * s_.shape.T + begin) * s_.shape.Dv]);
                          whole.state = part.state, whole.state_shape = part.state_shape;
                        }
                        return whole;
                      }});
    }
    if (s_.shape.Dk == s_.shape.Dv) {
      Sequence turned = s_;
      std::swap(turned.k, turned.v);
      add("the state is transposed: keys and values are exchanged", turned);
    }
  }
  void layouts() {
    Sequence exchanged = s_;
    std::swap(exchanged.q, exchanged.k);
    add("queries and keys are exchanged", exchanged);
    if (s_.shape.H == 1 || s_.shape.T == 1) return;
    list.push_back({"the output is laid out [B,T,H,D]", [=, s_ = s_, of = of] {
                      Output o = of(s_);
                      o.o = relaid(o.o, s_.shape, s_.shape.Dv);
                      return o;
                    }});
    list.push_back({"tensors are taken for [B,T,H,D]", [=, s_ = s_, of = of] {
                      Sequence other =
                          s_; // the bytes of [B,H,T,D] read as [B,T,H,D], then computed, then written back so
                      Shape n = s_.shape;
                      std::swap(n.H, n.T);
                      const auto read = [&](std::vector<double> &x, int width) {
                        if (!x.empty()) x = relaid(x, n, width);
                      };
                      read(other.q, n.Dk), read(other.k, n.Dk), read(other.v, n.Dv), read(other.w, n.Dk);
                      read(other.lambda, n.Dk), read(other.beta, 1), read(other.alpha, 1);
                      Output o = of(other);
                      o.o = relaid(o.o, s_.shape, n.Dv);
                      return o;
                    }});
  }
  void rounding() {
    Sequence low = s_;
    for (auto *array : {&low.q, &low.k, &low.v, &low.w, &low.beta, &low.alpha, &low.lambda, &low.state})
      for (double &x : *array) x = to_bfloat16(x);
    add("the inputs are rounded to bfloat16", low);
  }

  std::vector<Mistake> list;

private:
  const Variant &variant_;
  const Sequence &s_;
  Layer of;
};

} // namespace

std::vector<Mistake> likely_mistakes(const Variant &variant, const Sequence &sequence, const Params &params) {
  Maker maker(variant, sequence, params);
  maker.rounding(), maker.scales(), maker.gates(), maker.order(), maker.states(), maker.layouts();
  return maker.list;
}

} // namespace recollect
