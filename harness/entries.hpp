// SPDX-License-Identifier: Apache-2.0
// What one file in variants/, tasks/ or theory/ must return. Host types only, so that tasks, theory and tests never see
// Kokkos.
#pragma once
#include "types.hpp"
#include <functional>
#include <optional>
#include <string_view>

namespace recollect {

template <class Real> struct Call; // device.hpp: device arrays, parameters and chunk length of one forward pass

/// One way to compute a variant. `recurrent` is the definition; every other form is held against it in float64.
struct Form {
  std::string name; // recurrent | chunked | parallel | minibatch | ...
  std::function<void(const Call<float> &)> f32;
  std::function<void(const Call<double> &)> f64;
  bool exact =
      true; // false: equals the recurrent form only approximately even in exact arithmetic (say so in the name)
  bool stable = true; // false: loses digits on ill-conditioned keys that the recurrent form keeps
};

/// An optional tensor of a variant: required, or filled with its neutral value where absent (beta, alpha, lambda: 1; w:
/// k).
struct Input {
  std::string name; // beta | alpha | lambda | w
  bool required = false;
  std::string meaning;
  bool per_step() const { return name == "beta" || name == "alpha"; } // [B,H,T]; the others are [B,H,T,Dk]
};

/// Properties of the map (q,k,v,...) -> (o, state). A test shows each declared one to hold and each undeclared one to
/// fail.
struct Traits {
  bool causal = true;           // o_t depends on steps <= t only
  bool linear_in_v = true;      // o is linear in v
  bool order_invariant = false; // the final read is unchanged when earlier (k, v) pairs are permuted
  bool stable = true;           // float32 stays within its conditioning bound on ill-conditioned keys
};

struct Variant {
  std::string name;      // set by the registry: the file's stem
  std::string family;    // additive | gated | delta rule | ...
  std::string update;    // A_t, b_t, phi of S_t = S_{t-1} A_t + b_t k_t^T, o_t = S_t phi(q_t)
  std::string objective; // the loss whose step the update is, "" if none is known
  std::string source;    // paper and equation
  std::string cost;      // operations a token
  std::vector<ParamSpec> params;
  std::vector<Input> inputs;             // beside q, k, v
  std::vector<std::string> needs_one_of; // at least one of these inputs must be given
  std::vector<Form> forms;               // forms[0] is recurrent
  Traits traits;
  /// Rows x columns of the per-head state; the default is the family's S: Dv x Dk. Return {} where no finite state
  /// exists.
  std::function<StateShape(const Shape &, const Params &)> state_shape = [](const Shape &s, const Params &) {
    return StateShape{s.Dv, s.Dk};
  };
  /// One head's initial state, row-major; null means zeros.
  std::function<std::vector<double>(const Shape &, const Params &)> initial_state;
  /// Response of the reads to relative changes of the elements of the matrices that the layer solves with; null: it
  /// solves with none. Changes of the inputs move such a matrix only within its structure (conditioning.hpp).
  std::function<double(const Sequence &, const Params &)> solved_condition;
  /// Why the variant cannot take this shape with these parameters, "" if it can.
  std::function<std::string(const Shape &, const Params &)> unsuitable;

  const Form *find_form(std::string_view form) const {
    for (const Form &f : forms)
      if (f.name == form) return &f;
    return nullptr;
  }
};

/// A task's instance: the input, and what a perfect memory would answer.
struct Problem {
  Sequence sequence;
  std::vector<int> scored;    // [T] 1 where the read counts
  std::vector<double> target; // [B,H,T,Dv] the right read at scored steps
  std::vector<double>
      candidates;          // [B,H,N,Dv] the values a nearest-inner-product decoder chooses among; empty: no decoding
  std::vector<int> answer; // [B,H,T] index of the right candidate at scored steps, -1 where this head is not asked
};

struct Task {
  std::string name; // set by the registry
  std::string summary;
  std::string source;
  std::vector<ParamSpec> params;
  std::vector<std::string> metrics; // names that `score` reports
  std::function<Problem(const Params &, std::uint64_t seed)> generate;
  std::function<Score(const Params &, const Problem &, const Output &)> score;
  /// Why this variant's result means nothing here, "" if it does. The cell is recorded with the reason.
  std::function<std::string(const Variant &, const Params &)> meaningless;
};

enum class Effort { quick, full };

/// How a claim is to be measured.
struct Protocol {
  Effort effort = Effort::quick;
  std::uint64_t seed = 1;
  std::optional<Params> point; // the user's own parameters, in place of the suite's points
  bool full() const { return effort == Effort::full; }
};

/// One measurement. `tier` says what it is held against:
///   exact, corrected, limit, premise ... : an obligation, which must hold whatever the claim's verdict;
///   paper                                : the statement as printed, which decides the verdict.
struct Point {
  Params params;
  std::string tier = "exact";
  double measured = 0, predicted = 0;
  double standard_error = 0; // of `measured`; 0 for exact algebra
  double tolerance = 0;      // |measured - predicted| allowed, derived by verdict.hpp from standard_error and round-off
  double resolution = 0;     // the smallest deviation that the claim promises to see
  enum Relation { equal, at_most, at_least } relation = equal;
  Verdict verdict = Verdict::inconclusive;
};

struct Claim {
  std::string id;        // as in the ledger, with '_'
  std::string source;    // "000 Eq 7, Appendix A"
  std::string statement; // as the paper makes it
  std::string exact;     // the exact form, the condition, or the corrected statement
  Verdict expected = Verdict::holds;
  std::string scope;               // for refuted claims: paper | boundary | typo | untrained
  std::vector<std::string> covers; // ledger rows measured here
  std::vector<std::string> tasks, variants;
  std::string cost;              // "quick" or "full": the smallest suite that carries it
  std::vector<ParamSpec> params; // what --point accepts
  std::function<std::vector<Point>(const Protocol &)> measure;
  /// Points that must all come out refuted at the same sample size. Null: every measured obligation, judged again
  /// against a prediction that is off by the point's resolution.
  std::function<std::vector<Point>(const Protocol &)> control;
};

} // namespace recollect
