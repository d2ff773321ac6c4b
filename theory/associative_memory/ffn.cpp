// SPDX-License-Identifier: Apache-2.0
// Feed-forward networks as associative memories (000 Eq 14, 24, 28-29): matrix products on the host against the sums
// over rows that the program's persistent memories take. Control: the activation of -z in place of z.
#include "harness/core/registry.hpp"
#include "harness/numerics/linalg.hpp"
#include "harness/numerics/random.hpp"
#include "harness/pipeline/forward.hpp"
#include "theory/support/claims.hpp"
#include <cmath>

namespace recollect::theory {
namespace {

constexpr int m = 24, d = 6, dv = 5; // rows of the weights; a query for each

using Scalar = std::function<double(double)>;
double relu(double z) { return z > 0 ? z : 0; }
double swish(double z) { return z / (1 + std::exp(-z)); }

struct Network {
  Dense WK, WV, WG, x; // [m,d], [m,dv], [m,d] and m inputs [m,d]
};
Network draw(std::uint64_t seed) {
  const auto gaussian = [&](int columns, int stream) {
    return Dense(m, columns, Stream(seed, 231 + stream).normals(size_t(m) * columns));
  };
  return {gaussian(d, 0), gaussian(dv, 1), gaussian(d, 2), gaussian(d, 3)};
}

Output run(const std::string &variant, const Network &n, const Assignments &settings = {}) {
  Sequence s;
  s.shape = {1, 1, m, d, dv};
  s.q = n.x.data, s.k = n.WK.data, s.v = n.WV.data, s.w = n.WG.data;
  const Variant &found = find_variant(variant);
  return forward(found, s, {"recurrent", Real::f64, 1, variant_params(found, settings)});
}

/// [inputs,m] hidden layer, then rows W_V^T h.
Dense applied(Dense hidden, const Scalar &activation) {
  for (double &z : hidden.data) z = activation(z);
  return hidden;
}
Dense times(Dense a, const Dense &b) {
  for (size_t i = 0; i < a.data.size(); ++i) a.data[i] *= b.data[i];
  return a;
}

Point same(const Output &measured, const Dense &expected, const Network &n, const std::string &quantity) {
  const double size =
      frobenius_norm(n.WK) * frobenius_norm(n.WG) * frobenius_norm(n.WV) * std::pow(1 + max_abs(n.x.data), 2);
  return at(exact_point(max_difference(measured.o, expected.data), 0, 4.0 * (m + d) * size, 1e-3), "exact",
            labels({{"quantity", txt(quantity)}}));
}

std::vector<Point> relu_network(const Protocol &protocol, double sign) {
  const Network n = draw(protocol.seed);
  const Dense hidden = applied(n.x * transpose(n.WK), [=](double z) { return relu(sign * z); });
  return {same(run("ffn_relu", n), hidden * n.WV, n, "sum_i v_i ReLU(k_i.x) - W_V^T ReLU(W_K x)")};
}

std::vector<Point> swiglu_network(const Protocol &protocol, double sign) {
  const Network n = draw(protocol.seed);
  const Dense hidden =
      times(n.x * transpose(n.WG), applied(n.x * transpose(n.WK), [=](double z) { return swish(sign * z); }));
  return {
      same(run("ffn_swiglu", n), hidden * n.WV, n, "sum_i v_i (g_i.x) Swish(k_i.x) - W_V^T ((W_G x) * Swish(W_K x))")};
}

/// With every expert open the dense network; with one, the rows of that expert alone; the experts' parts add up to the
/// whole.
std::vector<Point> expert_network(const Protocol &protocol, double sign) {
  const Network n = draw(protocol.seed);
  const int block = 4, experts = m / block;
  const Dense hidden = applied(n.x * transpose(n.WK), [=](double z) { return relu(sign * z); });
  std::vector<Point> points{same(run("ffn_moe", n, {{"block", "4"}, {"topk", number(experts)}}), hidden * n.WV, n,
                                 "all gates open - dense FFN")};
  for (int topk : {1, 2}) {
    Dense gated = hidden;
    const Dense router = n.x * transpose(n.WG);
    for (int t = 0; t < m; ++t)
      for (int e = 0; e < experts; ++e) {
        const auto score = [&](int other) {
          double sum = 0;
          for (int i = 0; i < block; ++i) sum += router(t, other * block + i);
          return sum;
        };
        int better = 0;
        for (int other = 0; other < experts; ++other) better += score(other) > score(e);
        for (int i = 0; better >= topk && i < block; ++i) gated(t, e * block + i) = 0;
      }
    points.push_back(same(run("ffn_moe", n, {{"block", "4"}, {"topk", number(topk)}}), gated * n.WV, n,
                          std::to_string(topk) + " gates open - sum over their experts"));
  }
  return points;
}

Claim network(const std::string &row, const std::string &source, const std::string &statement, const std::string &exact,
              const std::string &variant, std::vector<Point> (*measure)(const Protocol &, double)) {
  Claim c =
      running(ledger_row(row, source, statement, exact, [=](const Protocol &p) { return measure(p, +1); }), {variant});
  c.control = [=](const Protocol &p) { return measure(p, -1); };
  return c;
}

} // namespace

std::vector<Claim> ffn() {
  return {
      network("ffn-relu-memory", "000 Eq 14",
              "W_V^T ReLU(W_K x) = sum_i v_i ReLU(k_i.x): the FFN is an associative memory.",
              "Identity, for any output width. ReLU(x.y) has no feature map (relu_kernel_psd).", "ffn_relu",
              relu_network),
      network("ffn-swiglu", "000 Eq 28-29", "W_V^T ((W_G x) * Swish(W_K x)) = sum_i v_i (g_i.x) Swish(k_i.x).",
              "Identity. Eq 28 writes W_U where the text and Eq 29 have W_K.", "ffn_swiglu", swiglu_network),
      network("ffn-moe", "000 Eq 24", "The experts partition the FFN; with every gate 1 it is the dense FFN.",
              "Identity.", "ffn_moe", expert_network),
  };
}

} // namespace recollect::theory
