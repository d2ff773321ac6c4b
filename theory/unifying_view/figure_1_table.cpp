// SPDX-License-Identifier: Apache-2.0
// 002 Fig 1, its table: which A_t and b_t of S_t = S_{t-1} A_t + b_t k_t^T each layer has.
#include "theory/support/features.hpp"
#include "theory/support/one_head.hpp"

namespace recollect::theory {
namespace {

const Shape own{1, 1, 20, 8, 4};

/// A_t [Dk,Dk] and b_t [Dv,1] of a step.
struct Step {
  std::function<Dense(const Sequence &, int t, const Dense &k)> A;
  std::function<Dense(const Sequence &, int t, const Dense &v)> b;
};
Dense unchanged(const Sequence &, int, const Dense &k) { return Dense::identity(k.rows); }
Dense erased(const Sequence &s, int t, const Dense &k) { return Dense::identity(k.rows) - s.beta[t] * write(k, k); }
Dense decayed(const Sequence &s, int t, const Dense &k) { return s.alpha[t] * Dense::identity(k.rows); }
Dense both(const Sequence &s, int t, const Dense &k) { return s.alpha[t] * erased(s, t, k); }
Dense value(const Sequence &, int, const Dense &v) { return v; }
Dense strong(const Sequence &s, int t, const Dense &v) { return s.beta[t] * v; }
Dense fading(const Sequence &s, int t, const Dense &v) { return s.alpha[t] * v; }
Dense strong_and_fading(const Sequence &s, int t, const Dense &v) { return s.alpha[t] * s.beta[t] * v; }

/// A row of the table, and wrong entries as rivals.
struct Row {
  std::string name, variant;
  Step step;
  std::vector<std::pair<std::string, Step>> rivals;
};
const std::vector<Row> table{
    {"linear attention",
     "linear",
     {unchanged, value},
     {{"b = beta v", {unchanged, strong}}, {"decays", {decayed, value}}}},
    {"Mamba2", "mamba2", {decayed, value}, {{"alpha on b too", {decayed, fading}}, {"no decay", {unchanged, value}}}},
    {"DeltaNet", "delta_net", {erased, strong}, {{"b = v", {erased, value}}, {"no erasure", {unchanged, strong}}}},
    {"Gated DeltaNet",
     "gated_delta_net",
     {both, strong},
     {{"b = v", {both, value}}, {"alpha on b too", {both, strong_and_fading}}, {"no decay", {erased, strong}}}},
};

enum class Side { keys, values };
/// S_{t-1} A_t + b_t k_t^T, or A_t S_{t-1} + b_t k_t^T where A_t acts on the values.
Output by_table(const Sequence &s, const Step &step, Side side = Side::keys) {
  return stepped(s, [&](const Dense &S, const Dense &k, const Dense &v, int t) {
    const Dense A = step.A(s, t, k);
    return (side == Side::keys ? S * A : A * S) + write(step.b(s, t, v), k);
  });
}

std::vector<Point> forms_of(const Row &row, const Shape &shape, std::uint64_t seed) {
  const Params p = params_of(shape).set("layer", row.name);
  Sequence s = random_sequence(shape, seed);
  s.lambda.clear(); // no layer of the table decays by channel
  const Sequence without_features = s;
  if (row.variant == "linear") // phi = elu + 1
    s.q = elu_plus_one(s.q), s.k = elu_plus_one(s.k);
  Sequence given = s;
  if (row.variant == "mamba2") given.beta.clear(); // its own write strength is not in the table
  const Measured layer = measured(row.variant, given);
  std::vector<Point> points{as_statement(layer.against(by_table(s, row.step)), p)};
  for (const auto &[name, step] : row.rivals) points.push_back(rival_law(layer.against(by_table(s, step)), p, name));
  if (row.variant == "linear")
    points.push_back(rival_law(layer.against(by_table(without_features, row.step)), p, "phi the identity"));
  if (row.variant == "delta_net" && shape.Dk == shape.Dv)
    points.push_back(rival_law(layer.against(by_table(s, row.step, Side::values)), p, "A on the value side"));
  return points;
}

std::vector<Point> forms(const Protocol &protocol) {
  std::vector<Point> points;
  const Shape wide{1, 1, own.T, own.Dk, own.Dk}; // A_t can act on either side only where the widths agree
  for (const Params &p : points_of(protocol, {params_of(own), params_of(wide)}))
    for (const Row &row : table) append(points, forms_of(row, shape_of(p), protocol.seed));
  return points;
}

} // namespace

std::vector<Claim> figure_1_table() {
  std::vector<std::string> variants;
  for (const Row &row : table) variants.push_back(row.variant);
  return {explained(
      at_parameters(
          running(ledger_row(
                      "blog-table-forms", "002 Fig 1, tables of §4 and §6; boxed form of §2",
                      "The layers are $S_t = S_{t-1} A_t + b_t k_t^T$, $k_t$ standing for the key-side vector that is "
                      "written: linear attention $I$, $v$ ($phi$ = elu + 1); Mamba2 $alpha I$, $v$; DeltaNet $I - beta "
                      "k k^T$, "
                      "$beta v$; Gated DeltaNet $alpha (I - beta k k^T)$, $beta v$.",
                      "Identity; $A_t$ acts on the key side.", forms),
                  variants),
          one_head_params(own)),
      "Mamba2 is taken without its step size on the write, as the table lists it, and linear attention without the "
      "denominator, which the boxed form drops.")};
}

} // namespace recollect::theory
