// SPDX-License-Identifier: Apache-2.0
// Causal softmax attention (000 Eq 2; 003 Eq 1).
//
//   o_t = sum_{i<=t} p(t,i) v_i,   p(t,i) = exp(scale q_t . k_i) / sum_{j<=t} exp(scale q_t . k_j)
//   scale = 1/sqrt(Dk)
//
// No finite state: every key and value is kept. Cost of token t: 2 t (Dk + Dv) flops and t exponentials.
// Parallel form: tiles of queries x keys with an online normaliser, never a T x T matrix.
#include "variants/kernels/attention/backward.hpp"
#include "variants/kernels/attention/similarity.hpp"
#include "variants/kernels/chunked/stored.hpp"
#include <cmath>

namespace recollect::variants {
namespace {

template <class Real, class Stored> FixedKernel<Real, Kind::softmax> kernel(const Call<Real, Stored> &call) {
  return {Real(call.params.real_or("scale", 1 / std::sqrt(double(call.shape.Dk)))), Real(1)};
}
template <class Real> void recurrent(const Call<Real> &call) {
  attend_one_by_one("softmax::recurrent", call, kernel(call));
}
template <class Real> void parallel(const Call<Real> &call) { attend("softmax::parallel", call, kernel(call)); }
template <class Real> void backward(const BackwardCall<Real> &back) {
  attend_vjp("softmax::backward", back, kernel(back.call));
}

#ifdef __CUDACC__
/// Whether rows consist of whole vectors of 16 bytes, and kernels for their width are compiled.
bool takes_rows(const Shape &s, const Params &) {
  return s.Dk % 8 == 0 && s.Dv % 8 == 0 && s.Dk <= 256 && s.Dv <= 256 && Execution().cuda_device_prop().major >= 8;
}
template <class Stored> using Number = typename CudaNumber<Stored>::type;
template <class Stored> using Op = typename CudaNumber<Stored>::Op;
/// The array as rows that a kernel writes.
template <class Stored>
attention::DeviceRows<Number<Stored>> rows(const CallSettings &call, const Array<Stored> &array, int width) {
  return {reinterpret_cast<Number<Stored> *>(array.data()), call.shape.T, width};
}
/// The array as rows that a kernel reads.
template <class Stored>
attention::Operand<Op<Stored>> operand(const CallSettings &call, const Array<Stored> &array, int width) {
  return {reinterpret_cast<const Number<Stored> *>(array.data()), call.shape.T, width};
}
template <class Stored> attention::Operands<Op<Stored>> operands(const Call<float, Stored> &call) {
  const Shape &s = call.shape;
  return {operand(call, call.q, s.Dk), operand(call, call.k, s.Dk), operand(call, call.v, s.Dv)};
}
template <class Stored> void parallel_stored(const Call<float, Stored> &call) {
  attention::forward("softmax::parallel", call, kernel(call), CausalMask::through_self, operands(call),
                     attention::WriteOutput<Number<Stored>>{rows(call, call.o, call.shape.Dv)});
}
template <class Stored> void backward_stored(const BackwardCall<float, Stored> &back) {
  const Call<float, Stored> &call = back.call;
  const Shape &s = call.shape;
  const auto in = operands(call);
  const auto d_o = operand(call, back.d.o, s.Dv);
  const size_t mark = call.arena->mark();
  const Array<float> normaliser = call.arena->template take<float>(call.steps()),
                     read = call.arena->template take<float>(call.steps());
  const attention::Statistics statistics{normaliser.data(), read.data()};
  attention::forward("softmax::backward::masses", call, kernel(call), CausalMask::through_self, in,
                     attention::LeaveStatistics<Number<Stored>>{d_o, statistics});
  attention::backward("softmax::backward", call, kernel(call), CausalMask::through_self, in, d_o, statistics,
                      attention::GradientRows<Number<Stored>>{rows(call, back.d.q, s.Dk), rows(call, back.d.k, s.Dk),
                                                              rows(call, back.d.v, s.Dv)});
  call.arena->release(mark);
}
#endif

} // namespace

Variant softmax() {
  Variant v = attention_variant();
  v.aliases = {"attention", "sdpa", "mha"};
  v.update = "$o_t = sum_{i<=t} softmax_i(scale q_t . k_i) v_i$";
  v.objective = "$sum_{i<=t} exp(scale q_t . k_i) |M - v_i|^2$ over a constant $M$, at each query";
  v.source = "000 Eq 2; 003 Eq 1";
  v.params = {tuned(automatic_param("scale", "1/sqrt(Dk)", -no_limit, no_limit, "factor on $q k^T$"), {1, 4, 16, 64})};
  v.forms = {definition([](const auto &call) { recurrent(call); }),
             fast("parallel", parallel<float>, parallel<double>)
                 .backward(backward<float>, backward<double>)
#ifdef __CUDACC__
                 .native({parallel_stored<BFloat16>, parallel_stored<Float16>, takes_rows})
                 .native_backward({backward_stored<BFloat16>, backward_stored<Float16>, takes_rows})
#endif
  };
  v.traits.repeats = Repeats::mean;
  return v;
}

} // namespace recollect::variants
