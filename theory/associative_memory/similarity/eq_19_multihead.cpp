// SPDX-License-Identifier: Apache-2.0
// Several heads (000 Eq 19-23): slices of q, k and v attend separately, and the output projection W_O sums the results.
#include "theory/support/delta_recursion.hpp"
#include "theory/support/measure.hpp"

namespace recollect::theory {
namespace {
struct Heads {
  int T, heads, d, dv; // d and dv of one head
  Dense q, k, v;       // [T, heads * width]: the rows that are sliced
  Dense projection;    // W_O [d_model, heads * dv]
};

Heads draw(int T, int heads, int d, int dv, Seed seed) {
  Heads x{T, heads, d, dv, {}, {}, {}, {}};
  const auto normal = [&](int rows, int width, const std::string &of) {
    return normal_matrix(rows, x.heads * width, seed, "multihead/" + of);
  };
  x.q = normal(x.T, x.d, "queries"), x.k = normal(x.T, x.d, "keys"), x.v = normal(x.T, x.dv, "values");
  x.projection = normal(x.heads * x.d, x.dv, "projection");
  return x;
}

/// Columns [head * width, (head + 1) * width).
Dense slice(const Dense &rows, int head, int width) {
  Dense part(rows.rows, width);
  for (int t = 0; t < rows.rows; ++t)
    for (int c = 0; c < width; ++c) part(t, c) = rows(t, head * width + c);
  return part;
}

/// [o_1; ...; o_h] of every step, [T, heads * dv], by the layer. Head h uses slice read_as(h) of q and k.
Dense joined(const std::string &variant, const Heads &x, int (*read_as)(int)) {
  Sequence s = of_shape({1, x.heads, x.T, x.d, x.dv});
  for (int h = 0; h < x.heads; ++h) {
    append_column(s.q, slice(x.q, read_as(h), x.d)), append_column(s.k, slice(x.k, read_as(h), x.d));
    append_column(s.v, slice(x.v, h, x.dv));
  }
  const Vector o = run(variant, s).o;
  Dense all(x.T, x.heads * x.dv);
  for (int h = 0; h < x.heads; ++h)
    for (int t = 0; t < x.T; ++t)
      for (int c = 0; c < x.dv; ++c) all(t, h * x.dv + c) = o[(size_t(h) * x.T + t) * x.dv + c];
  return all;
}
int its_own(int head) { return head; }
int the_first(int) { return 0; }

/// Causal attention by Eq 22, on the host: the weights are the softmax of q.k / sqrt(d), or q.k for the variant
/// `linear`.
Dense attended(const std::string &variant, const Dense &q, const Dense &k, const Dense &v) {
  if (variant == "linear") return causal_weights(k, q, linear_kernel, Triangle::with_diagonal) * v;
  const double scale = 1 / std::sqrt(q.columns);
  return normalise_sums(causal_weights(k, scale * q, exp_kernel, Triangle::with_diagonal)) * v;
}

/// sum_h sign_h W_O^(block(h)) o_h.
Vector sum_of_blocks(const std::string &variant, const Heads &x, int (*block)(int, int), double last_sign) {
  Dense sum(x.T, x.projection.rows);
  for (int h = 0; h < x.heads; ++h) {
    const Dense alone = attended(variant, slice(x.q, h, x.d), slice(x.k, h, x.d), slice(x.v, h, x.dv));
    const double sign = h + 1 == x.heads ? last_sign : 1;
    sum = sum + sign * (alone * transpose(slice(x.projection, block(h, x.heads), x.dv)));
  }
  return sum.data;
}
int in_order(int head, int) { return head; }
int shifted_by_one(int head, int heads) { return (head + 1) % heads; }

void projection(Points &points, const Params &p, const Heads &x) {
  for (const std::string variant : {"softmax", "linear"}) {
    const auto projected = [&](int (*read_as)(int)) {
      return (joined(variant, x, read_as) * transpose(x.projection)).data;
    };
    const Vector measured = projected(its_own), right = sum_of_blocks(variant, x, in_order, 1);
    // A score is a sum of d terms, a read a sum of T terms, and an output a sum of heads * dv terms. Softmax turns the
    // absolute error of a score into a relative error of its weight.
    points.at(changed(p, {{"variant", variant}}))
        .rounding(8.0 * (x.T + x.d + x.heads * x.dv) * max_abs(x.projection.data) * x.heads * x.dv *
                  (1 + max_abs(x.q.data) * max_abs(x.k.data) * x.d * (variant == "linear" ? x.T : 1)) *
                  max_abs(x.v.data))
        .statement("$W_O [o_1; ...; o_h]$, against the sum over heads of $W_O^(h) o_h$", measured, right)
        .but_not("one block of $W_O$ with the opposite sign", sum_of_blocks(variant, x, in_order, -1))
        .but_not("the blocks of $W_O$ exchanged", sum_of_blocks(variant, x, shifted_by_one, 1));
    points.wrong_system("one slice of q and k for all heads", projected(the_first), right);
  }
}

/// The mean of n_h heads that have slices of one key and the same value. With the linear kernel it is the read of a
/// single head divided by n_h.
void averaged(Points &points, const Params &p, Heads x) {
  for (int t = 0; t < x.T; ++t)
    for (int h = 1; h < x.heads; ++h)
      for (int c = 0; c < x.dv; ++c) x.v(t, h * x.dv + c) = x.v(t, c);
  const auto mean_of_heads = [&](const std::string &variant) {
    const Dense all = joined(variant, x, its_own);
    Dense mean(x.T, x.dv);
    for (int h = 0; h < x.heads; ++h) mean = mean + 1.0 / x.heads * slice(all, h, x.dv);
    return mean.data;
  };
  const Dense single = attended("linear", x.q, x.k, slice(x.v, 0, x.dv));
  const Vector right = (1.0 / x.heads * single).data;
  points.at(p).rounding(8.0 * (x.T + x.heads * x.d) * x.T * x.heads * x.d * max_abs(x.q.data) * max_abs(x.k.data) *
                        max_abs(x.v.data));
  points
      .obligation("linear kernel: mean of heads that share a value, against one head of full width divided by $n_h$",
                  mean_of_heads("linear"), right)
      .but_not("one head of full width, not divided by $n_h$", single.data);
  points.wrong_system("softmax in place of the linear kernel", mean_of_heads("softmax"), right);
}

Claim multihead_forms() {
  ClaimBuilder c("multihead-forms", "000 Eq 19-23");
  c.says("Multihead attention slices $q$, $k$ and $v$ into $n_h$ heads, reads each by itself and combines them by the "
         "output matrix: $o = W_O [o_1; ...; o_h]$.");
  c.exactly("The output is the sum over heads of $W_O^(h) o_h$. With the linear kernel, if all heads have the same "
            "value and $W_O$ averages, the output is that of one head of full width, divided by $n_h$.");
  c.because("This is an identity of block matrices. With the linear kernel, averaging heads that share a value gains "
            "nothing over a single head.");
  c.runs({"softmax", "linear"});
  c.takes({steps_param(12, 2, 64), integer_param("heads", 3, 2, 16, "heads"),
           integer_param("d", 4, 1, 32, "key width of a head"),
           integer_param("dv", 2, 1, 32, "value width of a head")});
  return measure(c, [](Points &points, Seed seed, const Params &p, int T, int heads, int d, int dv) {
    const Heads x = draw(T, heads, d, dv, seed);
    projection(points, p, x), averaged(points, p, x);
  });
}
} // namespace

std::vector<Claim> eq_19_multihead() { return {multihead_forms()}; }
} // namespace recollect::theory
