// SPDX-License-Identifier: Apache-2.0
// Feed-forward networks as memories (000 Eq 14, 24, 28-29): matrix products on the host are compared with the reads of
// the layers.
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
double relu(double z) { return z > 0 ? z : 0; }
double swish(double z) { return z / (1 + std::exp(-z)); }

struct Network {
  Dense WK, WV, WG, x; // [m,d], [m,dv], [m,d] and m inputs [m,d]
};
Network draw(int m, int d, int dv, Seed seed) {
  return {normal_matrix(m, d, seed, "network/keys"), normal_matrix(m, dv, seed, "network/values"),
          normal_matrix(m, d, seed, "network/gates"), normal_matrix(m, d, seed, "network/inputs")};
}

/// The layer's outputs for all inputs, each input multiplied by `sign`.
Dense outputs(const std::string &variant, const Network &n, double sign = 1, const Assignments &set = {}) {
  Sequence s = of_shape({1, 1, n.WK.rows, n.WK.columns, n.WV.columns});
  s.q = (sign * n.x).data, s.k = n.WK.data, s.v = n.WV.data, s.w = n.WG.data;
  return {n.x.rows, n.WV.columns, results_of(variant, s, set)};
}

/// Applies the activation to every element of `hidden` [inputs,m].
Dense applied(Dense hidden, double (*activation)(double)) {
  for (double &z : hidden.data) z = activation(z);
  return hidden;
}
Dense gated(Dense a, const Dense &b) {
  for (size_t i = 0; i < a.data.size(); ++i) a.data[i] *= b.data[i];
  return a;
}

/// Bound on the rounding error of sums of m terms, in units of eps. Each term is a value times one or two inner
/// products of d terms.
double units_of(const Network &n) {
  const double d = n.WK.columns, score = d * max_abs(n.x.data) * std::max(max_abs(n.WK.data), max_abs(n.WG.data));
  return 4 * (n.WK.rows + d) * n.WK.rows * max_abs(n.WV.data) * (1 + score) * (1 + score);
}

const std::vector<ParamSpec> sizes{integer_param("m", 24, 2, 128, "rows of the weights"),
                                   integer_param("d", 6, 1, 64, "input width"),
                                   integer_param("dv", 5, 1, 64, "output width")};

Claim ffn_relu_memory() {
  ClaimBuilder c("ffn-relu-memory", "000 Eq 14");
  c.says("A two-layer feed-forward network without biases, $W_V^T ReLU(W_K x)$, is the associative memory $sum_i v_i "
         "ReLU(k_i.x)$ over the rows of its weights.");
  c.exactly("An identity, for any output width.");
  c.because(
      "The paper has $d_v = d$, but the identity does not need this. ReLU(x.y) has no feature map (relu_kernel_psd).");
  c.runs({"ffn_relu", "ffn_silu"}), c.takes(sizes);
  return measure(c, [](Points &points, Seed seed, int m, int d, int dv) {
    const Network n = draw(m, d, dv, seed);
    Network last_zero = n;
    std::fill(last_zero.WV.data.end() - n.WV.columns, last_zero.WV.data.end(), 0.0);
    const Dense right = applied(n.x * transpose(n.WK), relu) * n.WV, out = outputs("ffn_relu", n),
                mirrored = outputs("ffn_relu", n, -1);
    points.rounding(units_of(n)).statement("output of the network, against $sum_i v_i ReLU(k_i.x)$", out, right);
    points.wrong_system("no ReLU: the output for x minus the output for -x", out - mirrored, right);
    points.wrong_system("absolute value in place of ReLU: the output for x plus the output for -x", out + mirrored,
                        right);
    points.wrong_system("SiLU in place of ReLU", outputs("ffn_silu", n), right);
    points.wrong_system("$m - 1$ neurons in place of m", outputs("ffn_relu", last_zero), right);
  });
}

/// Columns [first, first + count).
Dense columns(const Dense &m, int first, int count) {
  Dense part(m.rows, count);
  for (int i = 0; i < m.rows; ++i)
    for (int j = 0; j < count; ++j) part(i, j) = m(i, first + j);
  return part;
}

/// Two heads, each a network on one half of the channels of x, keys and values. W_O acts on the concatenated outputs.
/// The same function is a single network with a neuron per row and head: the neuron's key is zero outside the head's
/// half, and its value is W_O v.
Claim ffn_multihead() {
  ClaimBuilder c("ffn-multihead-sum", "000 §2.1.2, Multihead");
  c.says("Slicing $x$, $W_K$ and $W_V$ of Eq 14 into heads gives a multi-head feed-forward network, which is an "
         "associative memory as well.");
  c.exactly("An identity: the sum over heads and rows is a network of $n_h m$ neurons, whose keys are zero outside "
            "their head and whose values are $W_O v$.");
  c.because("So the multi-head network is a wider network with sparse keys. Whether this helps depends on training.");
  c.runs({"ffn_relu"});
  c.takes({integer_param("m", 16, 2, 64, "rows of the weights"),
           integer_param("half", 3, 1, 32, "width of a head's inputs and outputs")});
  return measure(c, [](Points &points, Seed seed, int m, int half) {
    const int d = 2 * half;
    const Network n = draw(m, d, d, seed);
    const Dense WO = normal_matrix(d, d, seed, "network/output");
    const auto side_by_side = [&](int heads) { // the outputs of the first `heads` heads, times W_O
      Dense out(m, d);
      for (int h = 0; h < heads; ++h) {
        const Network head{
            columns(n.WK, h * half, half), columns(n.WV, h * half, half), {}, columns(n.x, h * half, half)};
        out = out + outputs("ffn_relu", head) * transpose(columns(WO, h * half, half));
      }
      return out;
    };
    Network one{Dense(2 * m, d), Dense(2 * m, d), {}, Dense(2 * m, d)};
    for (int h = 0; h < 2; ++h) {
      const Dense turned = columns(n.WV, h * half, half) * transpose(columns(WO, h * half, half));
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < d; ++j) {
          const bool mine = j / half == h;
          one.WK(h * m + i, j) = mine ? n.WK(i, j) : 0;
          one.WV(h * m + i, j) = turned(i, j), one.x(h * m + i, j) = n.x(i, j);
        }
    }
    const Vector all = outputs("ffn_relu", one).data, right(all.begin(), all.begin() + m * d);
    points.rounding(16 * d * (1 + max_abs(WO.data)) * units_of(n));
    points.statement("output of two heads, against one network of 2 m neurons", side_by_side(2).data, right);
    points.wrong_system("one head left out", side_by_side(1).data, right);
    points.wrong_system("one network of m neurons, not sliced", (outputs("ffn_relu", n) * transpose(WO)).data, right);
  });
}

Claim ffn_swiglu() {
  ClaimBuilder c("ffn-swiglu", "000 Eq 28-29");
  c.says("SwiGLU, $W_V^T ((W_G x) * Swish(W_K x))$, is the memory $sum_i v_i (g_i.x) Swish(k_i.x)$. The gate is a "
         "factor $g_i(x)$ in addition to the kernel.");
  c.exactly("An identity.");
  c.because("Eq 28 prints $W_U$; the text and Eq 29 have $W_K$.");
  c.runs({"ffn_swiglu", "ffn_silu"}), c.takes(sizes);
  return measure(c, [](Points &points, Seed seed, int m, int d, int dv) {
    const Network n = draw(m, d, dv, seed), exchanged{n.WG, n.WV, n.WK, n.x};
    const Dense gate = n.x * transpose(n.WG), keys = n.x * transpose(n.WK),
                right = gated(gate, applied(keys, swish)) * n.WV;
    points.rounding(units_of(n))
        .statement("output of the network, against $sum_i v_i (g_i.x) Swish(k_i.x)$", outputs("ffn_swiglu", n), right)
        .but_not("ReLU in place of Swish", gated(gate, applied(keys, relu)) * n.WV);
    points.wrong_system("gate and key exchanged", outputs("ffn_swiglu", exchanged), right);
    points.wrong_system("no gate", outputs("ffn_silu", n), right);
  });
}

/// For every input, the sum over its `topk` best experts. An expert has `block` rows, and its score is the mean of the
/// input's products with its gate rows.
Dense open_experts(const Network &n, int block, int topk) {
  Dense hidden = applied(n.x * transpose(n.WK), relu);
  const Dense router = n.x * transpose(n.WG);
  const int experts = n.WK.rows / block;
  for (int t = 0; t < n.x.rows; ++t) {
    const auto score = [&](int e) {
      double sum = 0;
      for (int i = 0; i < block; ++i) sum += router(t, e * block + i);
      return sum;
    };
    for (int e = 0; e < experts; ++e) {
      int better = 0;
      for (int other = 0; other < experts; ++other) better += score(other) > score(e);
      for (int i = 0; better >= topk && i < block; ++i) hidden(t, e * block + i) = 0;
    }
  }
  return hidden * n.WV;
}

Claim ffn_moe() {
  ClaimBuilder c("ffn-moe", "000 Eq 24");
  c.says("In a mixture of experts the experts partition the rows of the feed-forward network. Gates, which are "
         "typically sparse, choose among the experts.");
  c.exactly("If every gate is 1, the layer is the dense network. In general it is the sum over the experts with a "
            "non-zero gate, each multiplied by its gate.");
  c.because("The layer chooses experts by the mean of their gate rows and has gates 0 or 1, as in Eq 26. Other gates "
            "are applied here by multiplying the values.");
  c.runs({"ffn_moe"});
  c.takes(sizes, {integer_param("block", 6, 1, 64, "rows of an expert, a divisor of m"),
                  integer_param("topk", 1, 1, 64, "experts open to an input, fewer than there are")});
  return measure(c, [](Points &points, Seed seed, int m, int d, int dv, int block, int topk) {
    const int experts = m / block;
    if (m % block || topk >= experts) usage_error("block must divide m into more than topk experts");
    const Network n = draw(m, d, dv, seed);
    const auto opened = [&](const Network &network, int count) {
      return outputs("ffn_moe", network, 1, {{"block", number(block)}, {"topk", number(count)}});
    };
    // A gate other than 0 and 1 is a factor on the expert's values: here the gate of the first expert is 1/2.
    const auto first_gate = [&](double gate) {
      Network scaled = n;
      for (int i = 0; i < block * n.WV.columns; ++i) scaled.WV.data[i] *= gate;
      return scaled;
    };
    const Dense dense = applied(n.x * transpose(n.WK), relu) * n.WV, some = open_experts(n, block, topk),
                halved = open_experts(first_gate(0.5), block, experts);
    points.rounding(units_of(n))
        .statement("output with every gate 1, against the dense network", opened(n, experts), dense);
    points.wrong_system("one expert left out", opened(n, experts - 1), dense);
    points.statement("output with gates 0 or 1, against the sum over the open experts", opened(n, topk), some);
    points.wrong_system("one more expert open", opened(n, topk + 1), some);
    points.statement("output with a gate of $1/2$ for the first expert", opened(first_gate(0.5), experts), halved);
    points.wrong_system("the gate of $1/2$ applied twice", opened(first_gate(0.25), experts), halved);
  });
}
} // namespace

std::vector<Claim> eq_14_feed_forward() { return {ffn_relu_memory(), ffn_multihead(), ffn_swiglu(), ffn_moe()}; }
} // namespace recollect::theory
