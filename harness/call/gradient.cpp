// SPDX-License-Identifier: Apache-2.0
#include "harness/call/gradient.hpp"
#include "harness/call/make_call.hpp"
#include "harness/numerics/inputs.hpp"
#include "harness/system/memory.hpp"

namespace recollect {
namespace {

using Numbers = std::vector<double>;

/// While this object lives, Taped numbers record their operations on the given tape.
class Recording {
public:
  explicit Recording(Tape &tape) { Tape::current() = &tape; }
  ~Recording() { Tape::current() = nullptr; }
};

/// The inputs that are present. Gradients are computed for these.
std::vector<Tensor> given_tensors(const Variant &variant, const Sequence &s) {
  std::vector<Tensor> given{Tensor::q, Tensor::k, Tensor::v};
  for (const Input &input : variant.inputs)
    if (!s[input.tensor()].empty()) given.push_back(input.tensor());
  return given;
}

/// The numbers of one array on the tape, which are consecutive.
struct Recorded {
  size_t begin = 0, count = 0;
  void fill(const Array<Taped> &array, const Numbers &values, const Tape &tape) {
    begin = tape.size(), count = values.size();
    for (size_t i = 0; i < count; ++i) array(i) = Taped::variable(values[i]);
  }
  Numbers of(const Numbers &adjoint) const {
    return Numbers(adjoint.begin() + std::ptrdiff_t(begin), adjoint.begin() + std::ptrdiff_t(begin + count));
  }
};

void weigh(const Array<Taped> &array, const Numbers &weights, Numbers &adjoint) {
  for (size_t i = 0; i < weights.size(); ++i)
    if (const auto index = array(i).index; index != Tape::constant) adjoint[size_t(index)] += weights[i];
}

/// Differentiates one segment of steps. s.state is the state at the start of the segment. Returns false if the tape is
/// too short.
bool go_back(const Variant &variant, const Sequence &s, const Params &params, const OutputWeights &weights,
             size_t capacity, Sequence &result) {
  Tape tape(capacity);
  const Recording recording(tape);
  Call<Taped> call = make_call<Taped>(variant, s, {}, params);
  call.state = upload<Taped>("initial state", initial_state(variant, s, params));
  Recorded recorded[tensor_count], state;
  const std::vector<Tensor> given = given_tensors(variant, s);
  for (Tensor tensor : given) recorded[int(tensor)].fill(call[tensor], s[tensor], tape);
  for (const Input &input : variant.inputs)
    if (s[input.tensor()].empty() && facts_of(input.tensor()).neutral == TensorFacts::the_key)
      copy(call[input.tensor()], call.k);
  if (!s.state.empty()) state.fill(call.state, s.state, tape);

  variant.forms.at(0).taped(call);
  Kokkos::fence();
  if (tape.full()) return false;

  Numbers adjoint(tape.size(), 0.0);
  weigh(call.o, weights.o, adjoint), weigh(call.state, weights.state, adjoint);
  tape.go_back(adjoint);
  result.shape = s.shape;
  for (Tensor tensor : given) result[tensor] = recorded[int(tensor)].of(adjoint);
  result.state = symmetrised(variant, s.shape, state.of(adjoint));
  return true;
}

Numbers part(const Numbers &all, size_t begin, size_t count) {
  if (all.empty()) return {};
  return Numbers(all.begin() + std::ptrdiff_t(begin), all.begin() + std::ptrdiff_t(begin + count));
}

/// A sequence of `heads` heads, from head `first` on.
Sequence some_of_the_heads(const Sequence &s, size_t first, int heads, size_t state_size) {
  Sequence some;
  some.shape = s.shape, some.shape.B = 1, some.shape.H = heads;
  for (Tensor tensor : all_tensors) {
    const size_t size = size_t(s.shape.T) * size_t(width_of(tensor, s.shape));
    some[tensor] = part(s[tensor], first * size, size_t(heads) * size);
  }
  some.state = part(s.state, first * state_size, size_t(heads) * state_size);
  return some;
}

constexpr size_t bytes_a_step = 40; // bytes that tape and adjoint take per recorded operation

/// Computes the gradient of one head, or of all heads of a batch element if the layer joins heads. Works in segments of
/// about 4e6 operations; a layer without a state has one segment.
class HeadGradient {
public:
  HeadGradient(const Variant &variant, const Params &params, Sequence s, OutputWeights weights)
      : variant_(variant), params_(params), s_(std::move(s)), weights_(std::move(weights)) {
    s_.state = initial_state(variant, s_, params);
    for (Tensor tensor : given_tensors(variant, s_)) result_[tensor].resize(s_[tensor].size());
    result_.shape = s_.shape;
  }

  Sequence run() {
    const int length = s_.state.empty() ? s_.shape.T : std::clamp(int(4e6 / (operations() + 1)), 1, s_.shape.T);
    std::vector<Numbers> states{s_.state}; // at the start of every segment
    for (int begin = length; begin < s_.shape.T; begin += length)
      states.push_back(
          forward(variant_, segment(begin - length, begin, states.back()), {"recurrent", Real::f64, 1, params_}).state);
    for (int i = int(states.size()) - 1; i >= 0; --i)
      back(i * length, std::min(s_.shape.T, (i + 1) * length), states[size_t(i)]);
    result_.state = std::move(weights_.state);
    return std::move(result_);
  }

private:
  /// Operations per token of one head.
  double operations() const {
    return variant_.cost.flops.at(s_.shape, params_) + variant_.cost.functions.at(s_.shape, params_);
  }
  Sequence segment(int begin, int end, const Numbers &state) const {
    Sequence some = slice_steps(s_, begin, end);
    some.state = state;
    return some;
  }

  /// Differentiates the steps [begin, end). `state` is the state at `begin`. Before the call weights_.state is the
  /// derivative of the loss with respect to the state at `end`; after the call, with respect to the state at `begin`.
  void back(int begin, int end, const Numbers &state) {
    const size_t most = size_t(memory_limit() / 2 / bytes_a_step);
    const Sequence some = segment(begin, end, state);
    const OutputWeights weights{part(weights_.o, size_t(begin) * size_t(s_.shape.Dv),
                                     s_.shape.heads() * size_t(end - begin) * size_t(s_.shape.Dv)),
                                weights_.state};
    Sequence found;
    // Reserves only twice the estimate, because AddressSanitizer takes seconds to free memory, even if it is untouched.
    const double counted = 2 * operations() * double(s_.shape.heads()) * (end - begin);
    const size_t enough = size_t(std::clamp(counted, double(1 << 20), double(1 << 24)));
    for (size_t capacity = std::min(most, enough);; capacity = std::min(most, 4 * capacity)) {
      if (go_back(variant_, some, params_, weights, capacity, found)) break;
      if (capacity == most)
        input_error("the gradient of " + variant_.name + " over " + std::to_string(end - begin) +
                    " steps remembers more operations than --memory allows");
    }
    for (Tensor tensor : given_tensors(variant_, s_))
      std::copy(found[tensor].begin(), found[tensor].end(),
                result_[tensor].begin() + std::ptrdiff_t(begin) * width_of(tensor, s_.shape));
    weights_.state = std::move(found.state);
  }

  const Variant &variant_;
  const Params &params_;
  Sequence s_, result_;
  OutputWeights weights_;
};

void append(Numbers &all, const Numbers &more) { all.insert(all.end(), more.begin(), more.end()); }

} // namespace

bool takes_gradients() { return on_host; }

void check_weights(const Variant &variant, const Sequence &s, const Params &params, const OutputWeights &weights) {
  const StateShape state = variant.state_shape(s.shape, params);
  check_array("do", weights.o, {"B", "H", "T", "Dv"}, {s.shape.B, s.shape.H, s.shape.T, s.shape.Dv});
  if (weights.state.empty()) return;
  if (state.size() == 0) input_error("dstate is given, but " + variant.name + " has no finite state");
  check_array("dstate", weights.state, {"B", "H", "rows", "columns"},
              {s.shape.B, s.shape.H, state.rows, state.columns});
}

Sequence gradient(const Variant &variant, const Sequence &s, const Params &params, const OutputWeights &weights) {
  check_inputs(variant, s, params);
  if (!takes_gradients())
    input_error(std::string("gradients by tape need kernels that run on the host, but this program's kernels run on ") +
                Execution::name());
  check_weights(variant, s, params, weights);
  const size_t state_size = variant.state_shape(s.shape, params).size(),
               values = size_t(s.shape.T) * size_t(s.shape.Dv);
  Sequence all;
  all.shape = s.shape;
  const int together = variant.joins_heads && variant.joins_heads(params) ? s.shape.H : 1;
  for (size_t head = 0; head < s.shape.heads(); head += size_t(together)) {
    OutputWeights own{part(weights.o, head * values, size_t(together) * values),
                      part(weights.state, head * state_size, size_t(together) * state_size)};
    const Sequence one =
        HeadGradient(variant, params, some_of_the_heads(s, head, together, state_size), std::move(own)).run();
    for (Tensor tensor : all_tensors) append(all[tensor], one[tensor]);
    append(all.state, one.state);
  }
  return all;
}

void in_logarithms(Sequence &gradient, const Sequence &s) { // d/d(log x) = x d/dx
  for (Tensor tensor : all_tensors)
    if (facts_of(tensor).decay)
      for (size_t i = 0; i < gradient[tensor].size(); ++i) gradient[tensor][i] *= s[tensor][i];
}

} // namespace recollect
