// SPDX-License-Identifier: Apache-2.0
// 002 Fig 1, its table: the A_t and b_t of each layer in S_t = S_{t-1} A_t + b_t k_t^T.
#include "theory/support/features.hpp"
#include "theory/support/measure.hpp"
#include "theory/support/one_head.hpp"

namespace recollect::theory {
namespace {
/// What a step does. A_t is I, minus beta k k^T with `erasure`, times alpha with `decay`. b_t is v, times beta with
/// `strength`, times alpha with `decayed_write`.
enum Part { decay = 1, erasure = 2, strength = 4, decayed_write = 8 };
using Step = int; // a sum of values of Part
Dense A(Step step, const Sequence &s, int t, const Dense &k) {
  const Dense I = Dense::identity(k.rows);
  return (step & decay ? s.alpha[t] : 1) * (step & erasure ? I - s.beta[t] * write(k, k) : I);
}
Dense b(Step step, const Sequence &s, int t, const Dense &v) {
  return (step & decayed_write ? s.alpha[t] : 1) * (step & strength ? s.beta[t] : 1) * v;
}

/// A row of the table, and wrong entries as rivals.
struct Row {
  std::string name, variant;
  Step step;
  std::vector<std::pair<std::string, Step>> rivals;
};
const std::vector<Row> table{
    {"linear attention", "linear", 0, {{"$b = beta v$", strength}, {"$A = alpha I$", decay}}},
    {"Mamba2", "mamba2", decay, {{"$b = alpha v$", decay | decayed_write}, {"$A$ without $alpha$", 0}}},
    {"DeltaNet", "delta_net", erasure | strength, {{"$b = v$", erasure}, {"$A = I$", strength}}},
    {"Gated DeltaNet",
     "gated_delta_net",
     decay | erasure | strength,
     {{"$b = v$", decay | erasure},
      {"$b = alpha beta v$", decay | erasure | strength | decayed_write},
      {"$A$ without $alpha$", erasure | strength}}},
};

enum class Side { keys, values };
/// Runs S_{t-1} A_t + b_t k_t^T, or A_t S_{t-1} + b_t k_t^T if `side` says that A_t acts on the values.
Output by_table(const Sequence &s, Step step, Side side = Side::keys) {
  return stepped(s, [&](const Dense &S, const Dense &k, const Dense &v, int t) {
    const Dense factor = A(step, s, t, k);
    return (side == Side::keys ? S * factor : factor * S) + write(b(step, s, t, v), k);
  });
}

void add_forms(Points &points, const Row &row, const Params &p, Seed seed) {
  const Shape shape = shape_of(p);
  Sequence s = random_sequence(shape, seed);
  s.lambda.clear(); // no layer of the table decays by channel
  const Sequence without_features = s;
  if (row.variant == "linear") // phi = elu + 1
    s.q = elu_plus_one(s.q), s.k = elu_plus_one(s.k);
  Sequence given = s;
  if (row.variant == "mamba2") given.beta.clear(); // the write strength of mamba2 is not in the table
  const Measured layer = measured(row.variant, given);
  auto form = points.at(Params(p).set("layer", row.name))
                  .statement("the layer, against its form in the table", layer.against(by_table(s, row.step)));
  for (const auto &[name, step] : row.rivals) form.but_not(name, layer.against(by_table(s, step)));
  if (row.variant == "linear")
    form.but_not("$phi$ is the identity", layer.against(by_table(without_features, row.step)));
  if (row.variant == "delta_net" && shape.Dk == shape.Dv)
    form.but_not("$A$ multiplies the state on the value side", layer.against(by_table(s, row.step, Side::values)));
}
} // namespace

std::vector<Claim> figure_1_table() {
  ClaimBuilder c("blog-table-forms", "002 Fig 1, tables of §4 and §6; boxed form of §2");
  c.says("The layers have the form $S_t = S_{t-1} A_t + b_t k_t^T$, where $k_t$ is the key-side vector that is "
         "written. Linear attention (with $phi$ = elu + 1 on queries and keys) has $A_t = I$, $b_t = v$; Mamba2 $A_t = "
         "alpha I$, $b_t = v$; DeltaNet $A_t = I - beta k k^T$, $b_t = beta v$; Gated DeltaNet $A_t = alpha (I - beta "
         "k k^T)$, $b_t = beta v$.");
  c.exactly("The four forms are identities. $A_t$ multiplies the state on the key side, from the right.");
  c.because("As in the table, Mamba2 writes without the step size $beta$. As in the boxed form, linear attention has "
            "no denominator.");
  std::vector<std::string> layers;
  for (const Row &row : table) layers.push_back(row.variant);
  c.runs(layers), c.takes(one_head_params({1, 1, 20, 8, 4}));
  c.at({{}, {{"Dv", 8}}}); // Dv = Dk, so that A_t can act on either side
  return {c.measure([](Points &points, const Params &p, const Protocol &protocol) {
    for (const Row &row : table) add_forms(points, row, p, protocol.seed);
  })};
}
} // namespace recollect::theory
