// SPDX-License-Identifier: Apache-2.0
// 003 Vignette 3 after Eq 29, and Fig 1: gradient descent on nonlinear memories (TTT), also with momentum (Titans).
#include "theory/support/dual.hpp"
#include "theory/test_time_regression/pairs.hpp"

namespace recollect::theory {
namespace {
using Duals = std::vector<Dual>;

/// A memory with parameters W: m_W(x) [Dv] of x [Dk].
using Memory = std::function<Duals(const Duals &W, const Vector &x)>;

Duals rows_times(const Duals &W, int first, int rows, int stride, const Vector &x) {
  Duals y;
  for (int i = 0; i < rows; ++i) {
    Dual sum;
    for (size_t j = 0; j < x.size(); ++j) sum = sum + W[first + i * stride + j] * x[j];
    y.push_back(sum);
  }
  return y;
}
/// x + norm(y), where norm is a layer norm without scale or shift.
Duals normed(const Duals &y, const Vector &x) {
  Dual mean, variance;
  for (const Dual &c : y) mean = mean + c / double(y.size());
  for (const Dual &c : y) variance = variance + (c - mean) * (c - mean) / double(y.size());
  Duals out;
  for (size_t c = 0; c < y.size(); ++c)
    out.push_back((y[c] - mean) / sqrt(variance + 1e-6) + Dual(c < x.size() ? x[c] : 0));
  return out;
}
Dual gelu(Dual x) { return x * (Dual(1) + erf(x * std::sqrt(0.5))) / 2; }
Dual gelu_of_slope_one(Dual x) { return {gelu(x).value, x.slope}; }
Dual silu(Dual x) { return x / (Dual(1) + exp(Dual(0) - x)); }

Memory linear_memory(const Shape &s) {
  return [=](const Duals &W, const Vector &x) { return rows_times(W, 0, s.Dv, s.Dk, x); };
}
Memory normed_memory(const Shape &s) {
  return [=](const Duals &W, const Vector &x) { return normed(rows_times(W, 0, s.Dv, s.Dk, x), x); };
}
/// sum_j a_j act(b_j . x): row j of W holds the input weights b_j [Dk] and the output weights a_j [Dv] of unit j.
Memory network(const Shape &s, int width, Dual (*act)(Dual), bool norm) {
  return [=](const Duals &W, const Vector &x) {
    const int row = s.Dk + s.Dv;
    const Duals hidden = rows_times(W, 0, width, row, x);
    Duals y(s.Dv);
    for (int j = 0; j < width; ++j)
      for (int c = 0; c < s.Dv; ++c) y[c] = y[c] + act(hidden[j]) * W[j * row + s.Dk + c];
    return norm ? normed(y, x) : y;
  };
}

Vector slope_of(const Memory &m, const Vector &W, const Vector &k, const Vector &v) {
  return derivative(W, [&](const Duals &w) {
    const Duals read = m(w, k);
    Dual loss;
    for (size_t c = 0; c < v.size(); ++c) loss = loss + (read[c] - v[c]) * (read[c] - v[c]) / 2;
    return loss;
  });
}

/// Applies step() to the parameters W for every token and reads after each step. Returns the reads, then the last W, in
/// the order of a layer's results.
template <class Step> Vector trained(const Memory &m, const Sequence &s, Vector W, Step step) {
  Vector all;
  for (int t = 0; t < s.shape.T; ++t) {
    const auto part = [&](const Vector &rows, int width) { return column(rows, t, width).data; };
    step(m, W, part(s.k, s.shape.Dk), part(s.v, s.shape.Dv), t);
    for (const Dual &y : m(Duals(W.begin(), W.end()), part(s.q, s.shape.Dk))) all.push_back(y.value);
  }
  all.insert(all.end(), W.begin(), W.end());
  return all;
}
void move(Vector &W, double size, const Vector &direction) {
  for (size_t i = 0; i < W.size(); ++i) W[i] += size * direction[i];
}

/// The reads, and the first `parameters` numbers of the state.
Vector layer_results(const std::string &variant, const Sequence &s, const Assignments &set, size_t parameters,
                     const std::string &form = "recurrent") {
  const Output out = run(variant, s, set, form);
  Vector all = out.o;
  all.insert(all.end(), out.state.begin(), out.state.begin() + parameters);
  return all;
}
/// Bound on the rounding error of all steps of the sequence, in units of eps. A derivative by the chain rule has a few
/// units of rounding error for every number that it sums.
double trained_units(const std::string &variant, const Sequence &s, const Assignments &set, size_t parameters) {
  return rounding_units(variant, s, set) * (1 + double(parameters) / s.shape.Dk) * 4;
}

constexpr int width = 6;
Sequence steps_of(const Shape &shape, Seed seed) {
  if (shape.Dv < 2) usage_error("Dv must be at least 2: a layer norm needs two channels");
  return random_sequence(shape, seed);
}

/// Gradient descent with momentum and weight decay: S <- eta_t S - size_t grad, W <- keep_t W + S. The gradient is
/// taken at W + `look` S.
struct Descent {
  Vector size, keep, eta = {}; // empty: 0 at every step
  double look = 0;
  Vector S = {};
  void operator()(const Memory &m, Vector &W, const Vector &k, const Vector &v, int t) {
    S.resize(W.size());
    Vector ahead = W;
    move(ahead, look, S);
    const Vector slope = slope_of(m, ahead, k, v);
    for (size_t i = 0; i < W.size(); ++i) {
      S[i] = (eta.empty() ? 0 : eta[t]) * S[i] - size[t] * slope[i];
      W[i] = keep[t] * W[i] + S[i];
    }
  }
};

Vector times(double factor, Vector x) {
  for (double &value : x) value *= factor;
  return x;
}

Claim ttt() {
  ClaimBuilder c("ttt-extension", "003 after Eq 29 (TTT)");
  c.says("SGD inside the layer on a nonlinear memory $m_t$ (a multilayer perceptron, or a linear map with layer "
         "normalisation) gives a test-time-training layer.");
  c.exactly("At every token the parameters $W$ take a step of size $eta$ against the gradient of $|v - m_W(k)|^2 / 2$. "
            "For a linear $m$ without normalisation this is DeltaNet with $beta = eta$. Without the factor $1/2$ in "
            "the loss it is DeltaNet with $beta = 2 eta$.");
  c.because("The published layers take the gradients of a mini-batch of tokens at one state, which is a different "
            "computation.");
  c.runs({"delta_net", "ttt_linear", "ttt_mlp"}), c.takes(one_head_params({1, 1, 8, 5, 3}));
  return measure(c, [](Points &points, Seed seed, const Shape &shape) {
    Sequence s = steps_of(shape, seed);
    s.alpha.clear();
    const Vector whole(shape.T, 1);
    const auto sgd = [&](double size) { return Descent{times(size, s.beta), whole}; };
    // A linear map without norm is DeltaNet.
    const Vector zero(shape.Dv * shape.Dk, 0.0);
    const Measured delta = measured("delta_net", s);
    const auto plain = [&](double size) {
      return delta.against(trained(linear_memory(s.shape), s, zero, sgd(size)), 8);
    };
    points.statement("SGD on a linear memory is DeltaNet", plain(1))
        .but_not("the squared loss without its $1/2$", plain(2));
    // A linear map behind a layer norm.
    Sequence linear = s;
    linear.state = normal_matrix(shape.Dv, shape.Dk, seed, "003/initial map").data;
    const Assignments lr{{"lr", "0.3"}};
    const Vector expected = trained(normed_memory(s.shape), linear, linear.state, sgd(0.3));
    const auto reads = [&](const std::string &form, const Assignments &set) {
      return layer_results("ttt_linear", linear, set, linear.state.size(), form);
    };
    points.rounding(trained_units("ttt_linear", linear, lr, linear.state.size()));
    points.statement("SGD on a linear map with a layer norm is TTT-Linear", reads("recurrent", lr), expected)
        .but_not("TTT-Linear with steps of twice the size",
                 trained(normed_memory(s.shape), linear, linear.state, sgd(0.6)));
    points.wrong_system("TTT-Linear with the gradients of four tokens at one state",
                        reads("minibatch", {{"lr", "0.3"}, {"minibatch", "4"}}), expected);
    // A network of one hidden layer.
    Sequence deep = s;
    const int row = shape.Dk + shape.Dv;
    deep.state = normal_matrix(width, row, seed, "003/initial network").data;
    const Assignments small{{"lr", "0.3"}, {"width", number(width)}};
    const Memory net = network(s.shape, width, gelu, true);
    const Vector layer = layer_results("ttt_mlp", deep, small, deep.state.size());
    points.rounding(trained_units("ttt_mlp", deep, small, deep.state.size()));
    auto mlp =
        points.statement("SGD on a multilayer perceptron is TTT-MLP", layer, trained(net, deep, deep.state, sgd(0.3)))
            .but_not("the multilayer perceptron with steps of twice the size", trained(net, deep, deep.state, sgd(0.6)))
            .but_not("the derivative of the activation left out",
                     trained(network(s.shape, width, gelu_of_slope_one, true), deep, deep.state, sgd(0.3)));
    const auto in_turn = [&](const Memory &m, Vector &W, const Vector &k, const Vector &v, int t) {
      for (bool inputs :
           {false, true}) { // the output weights first, then the input weights with the new output weights
        Vector slope = slope_of(m, W, k, v);
        for (size_t i = 0; i < slope.size(); ++i) slope[i] *= (int(i) % row < shape.Dk) == inputs;
        move(W, -0.3 * s.beta[t], slope);
      }
    };
    mlp.but_not("the two weight matrices updated one after the other", trained(net, deep, deep.state, in_turn));
  });
}

Claim momentum() {
  ClaimBuilder c("momentum-extension", "003 Vignette 3, choice 3; Fig 1 (Titans, named only)");
  c.says("A layer that does gradient descent with momentum and weight decay is Titans' long-term memory.");
  c.exactly("The layer updates $S <- eta S - theta g$ and $M <- (1 - alpha) M + S$, where $g$ is the gradient of the "
            "loss at $M$. With $eta = 0$ it is Leaky LMS with $lambda = alpha / theta$. With $alpha = 0$ it is the "
            "heavy-ball method, $M_t = M_{t-1} + theta e k^T + eta (M_{t-1} - M_{t-2})$ with $e = v - M_{t-1} k$. With "
            "both momentum and decay it is not the heavy-ball method with decay.");
  c.because(
      "The equations are derived here, because the paper gives none. Titans decays the memory but not the momentum.");
  c.runs({"leaky_lms", "gated_delta_net", "titans"});
  c.takes(one_head_params({1, 1, 12, 5, 3}),
          {real_param("eta", 0.5, 0.05, 0.9, "momentum"), real_param("theta", 0.4, 0.05, 0.8, "step size")});
  return measure(c, [](Points &points, Seed seed, const Shape &shape, double eta, double theta) {
    const Sequence s = steps_of(shape, seed);
    const Vector zero(shape.Dv * shape.Dk, 0.0), whole(shape.T, 1), size = times(theta, whole),
                                                                    steady = times(eta, whole);
    const auto train = [&](auto step) { return trained(linear_memory(s.shape), s, zero, step); };
    // eta = 0 gives Leaky LMS.
    Sequence leaky = s;
    leaky.beta = size;
    const Measured lms = measured("leaky_lms", leaky), gated = measured("gated_delta_net", leaky);
    const Vector no_momentum = train(Descent{size, s.alpha});
    points.statement("linear memory, $eta = 0$: Leaky LMS", lms.against(no_momentum, 8))
        .but_not("Leaky LMS with momentum", lms.against(train(Descent{size, s.alpha, steady}), 8));
    points.wrong_system("Gated DeltaNet, which takes the residual after the decay", gated.against(no_momentum, 8));
    // Without decay it is the heavy-ball method, M_t = M_{t-1} - theta grad + eta (M_{t-1} - M_{t-2}).
    const auto heavy_ball = [&](const Vector &keep) {
      return [&, keep, before = zero](const Memory &m, Vector &W, const Vector &k, const Vector &v, int t) mutable {
        const Vector now = W, slope = slope_of(m, W, k, v);
        for (size_t i = 0; i < W.size(); ++i) W[i] = keep[t] * W[i] - theta * slope[i] + eta * (now[i] - before[i]);
        before = now;
      };
    };
    const Vector ball = train(heavy_ball(whole)), both = train(Descent{size, s.alpha, steady});
    points.rounding(8.0 * shape.T * shape.T * shape.Dk * (max_abs(ball) + max_abs(both)));
    points.statement("linear memory, no decay: the heavy-ball method", ball, train(Descent{size, whole, steady}))
        .but_not("the heavy-ball method with Nesterov's look-ahead", train(Descent{size, whole, steady, eta}))
        .but_not("the heavy-ball method without momentum", train(Descent{size, whole}));
    points.wrong_system("linear memory: the heavy-ball method with decay", train(heavy_ball(s.alpha)), both);
    // A network in place of the linear map gives Titans' long-term memory.
    Sequence deep = s;
    const size_t parameters = size_t(width) * (shape.Dk + shape.Dv);
    const Vector start = normal_matrix(1, int(parameters), seed, "003/initial network").data;
    deep.state = start, deep.state.resize(2 * parameters, 0.0); // the second half is the momentum, zero
    const double lr = theta / width;
    const auto set = [&](double momentum) {
      return Assignments{{"lr", number(lr)}, {"eta", number(momentum)}, {"width", number(width)}};
    };
    const auto titans = [&](const Descent &descent) {
      return trained(network(s.shape, width, silu, false), deep, start, descent);
    };
    const Vector sizes = times(lr, s.beta),
                 uneven =
                     [&] { // the first channel of lambda changes eta at every step
                       Vector etas;
                       for (int t = 0; t < shape.T; ++t) etas.push_back(eta * s.lambda[size_t(t) * shape.Dk]);
                       return etas;
                     }(),
                 expected = titans({sizes, s.alpha, uneven});
    points.rounding(trained_units("titans", deep, set(eta), parameters));
    const auto layer = [&](double momentum) { return layer_results("titans", deep, set(momentum), parameters); };
    points.statement("Titans with a network as memory and another $eta$ at every step", layer(eta), expected)
        .but_not("Titans with Nesterov's look-ahead", titans({sizes, s.alpha, uneven, eta}))
        .but_not("Titans without decay", titans({sizes, whole, uneven}))
        .but_not("Titans with one $eta$ for all steps", titans({sizes, s.alpha, steady}));
    points.wrong_system("Titans without momentum", layer(0), expected);
  });
}
} // namespace

std::vector<Claim> vignette_3_nonlinear_memory() { return {ttt(), momentum()}; }
} // namespace recollect::theory
