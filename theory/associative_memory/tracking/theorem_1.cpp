// SPDX-License-Identifier: Apache-2.0
// 000 Theorem 1 (Appendix E, E.1; its Lemma 1: lemma_1.cpp): keys of coherence below 1/8 and an f that is right near -1, 0, 1, 2 let
// the delta rule exchange values for ever.
//
// Values are integers, so with f = round every quantity of Eq 41-42 is an integer and float arithmetic makes no error
// at all: the reads must be right to the last bit, in every form and real type.
#include "harness/core/error.hpp"
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"
#include "theory/associative_memory/tracking/swaps.hpp"
#include "theory/associative_memory/tracking/theorem_1_premise.hpp"

namespace recollect::theory {
namespace {

/// The sequence with one exchange left out of what is written, a third of the way through.
SwapStory without_one(SwapStory story, int n) {
  Sequence &s = story.sequence;
  const int t = n + (s.shape.T - 2 * n) / 3;
  std::fill_n(s.k.begin() + size_t(t) * s.shape.Dk, s.shape.Dk, 0.0);
  return story;
}

Claim theorem() {
  Claim claim = ledger_row(
      "theorem1-round", "000 Theorem 1, Appendix E.1, §3.2",
      "With $n$ unit keys whose inner products are at most $eps < 1/8$ in size, and $f$ right on the neighbourhoods "
      "U($x$, $4 "
      "eps$) of $x = -1$, 0, 1, 2, a step with $k_t = k_{t1} - k_{t2}$, $t2 < t1$, and $v_t = 0$ exchanges the values "
      "of the "
      "two keys and leaves all others as they are, however many exchanges went before.",
      "Every read is exact, to the last bit, with $f$ = round.", [](const Protocol &protocol) {
        std::vector<Point> points;
        const auto add = [&](const KeySet &set, int swaps, const std::string &form, Real real) {
          const Dense keys = keys_at(describe(set), set, protocol.seed);
          const auto told = [&](double sign) {
            return tell_swaps(keys, swaps, protocol.seed, Order::later_minus_earlier, sign);
          };
          const SwapStory story = told(-1);
          const Params params = describe(set).set("swaps", swaps).set("form", form).set("real", name_of(real));
          const auto reads = [&](const SwapStory &of, const char *kernel = "round") {
            return reads_by(kernel, of.sequence, form, real);
          };
          const std::vector<double> round = reads(story);
          points.push_back(as_statement(exactly_tracked(round, story), params, "every read"));
          points.push_back(rival_system(exactly_tracked(reads(told(+1)), story), params, "k_t1 + k_t2"));
          points.push_back(as_obligation(at_most_point(coherence(keys), 0.125, 0), params, "coherence, below 1/8"));
          points.push_back(rival_law(exact_point(round, story.before, 0), params, "read before the write"));
          points.push_back(
              rival_system(exactly_tracked(reads(without_one(story, set.n)), story), params, "one exchange missed"));
          if (coherence(keys) > 1e-3)
            points.push_back(rival_system(bracketed_point(worst_read(reads(story, "linear"), story), 0, 0.5), params,
                                          "linear kernel"));
        };
        if (protocol.point) {
          const Params &p = *protocol.point;
          keys_at(p, keys_of(p), protocol.seed);
          add(keys_of(p), p.integer("swaps"), "chunked", Real::f64);
          return points;
        }
        add({"orthonormal", 5, 5}, 3000, "recurrent", Real::f64);
        for (Real real : {Real::f32, Real::f64}) {
          add(leaning, protocol.full() ? 10000 : 1000, "chunked", real);
          add({"hadamard", 256, 128}, 500, "chunked", real);
        }
        return points;
      });
  claim.tasks = {"swap"};
  return at_parameters(running(claim, {"delta_former"}), key_params(1000));
}

Claim order() {
  Claim claim = ledger_row(
      "theorem1-order", "000 Theorem 1 (t2 < t1), Assumption 2",
      "The difference is taken as $k_t = k_{t1} - k_{t2}$ with $t2 < t1$.",
      "Needed for an $f$ of which only Assumption 2 is known, which leaves $f(-2)$ free; $f$ = round tracks in either "
      "order.",
      [](const Protocol &protocol) {
        std::vector<Point> points;
        const auto add = [&](const KeySet &set, int swaps) {
          const Dense keys = keys_at(describe(set), set, protocol.seed);
          const SwapStory any = tell_swaps(keys, swaps, protocol.seed, Order::any),
                          ordered = tell_swaps(keys, swaps, protocol.seed),
                          plus = tell_swaps(keys, swaps, protocol.seed, Order::any, +1);
          const Params params = describe(set).set("swaps", swaps);
          points.push_back(as_statement(exactly_tracked(reads_of_sums(ordered.sequence, only_assumption_2), ordered),
                                        params, "f(-2) = 0, later minus earlier"));
          points.push_back(rival_system(exactly_tracked(reads_of_sums(any.sequence, only_assumption_2), any), params,
                                        "f(-2) = 0, either order"));
          points.push_back(as_obligation(exactly_tracked(reads_by_round(any), any), params, "f = round, either order"));
          points.push_back(
              rival_system(exactly_tracked(reads_by_round(plus), any), params, "f = round, sum of two keys"));
        };
        if (protocol.point) {
          add(keys_of(*protocol.point), protocol.point->integer("swaps"));
          return points;
        }
        add(leaning, 200);
        add({"hadamard", 140, 128}, 200);
        return points;
      });
  claim.explanation =
      "The theorem states the order without saying what for; the proof of Lemma 1 excludes the other one because it "
      "would need $f(-2) = -2$.";
  claim.tasks = {"swap"};
  return at_parameters(running(claim, {"delta_former"}), key_params(200));
}

/// Reads of key 0 after n writes of the values 5, 6, ... and a further step (scale k_0, value).
double read_after(const Dense &keys, double scale, double value, const std::string &kernel) {
  const int n = keys.rows, d = keys.columns;
  Sequence s;
  s.shape = {1, 1, n + 1, d, 1};
  s.k = keys.data;
  for (int c = 0; c < d; ++c) s.k.push_back(scale * keys(0, c));
  for (int t = 0; t <= n; ++t) s.q.insert(s.q.end(), keys.data.begin(), keys.data.begin() + d);
  for (int i = 0; i < n; ++i) s.v.push_back(i + 5);
  s.v.push_back(value);
  return reads_by(kernel, s, "recurrent").back();
}

/// Every step of a story ten times over: nine reads through steps that write nothing (k = 0).
SwapStory asked_ten_times(const SwapStory &story) {
  SwapStory asked;
  const Sequence &s = story.sequence;
  const int d = s.shape.Dk, times = 10;
  asked.sequence.shape = {1, 1, s.shape.T * times, d, 1};
  for (int t = 0; t < s.shape.T; ++t)
    for (int r = 0; r < times; ++r) {
      for (int c = 0; c < d; ++c) {
        asked.sequence.k.push_back(r ? 0 : s.k[size_t(t) * d + c]);
        asked.sequence.q.push_back(s.q[size_t(t) * d + c]);
      }
      asked.sequence.v.push_back(r ? 0 : s.v[t]);
      asked.target.push_back(story.target[t]);
    }
  return asked;
}

Claim queries() {
  Claim claim = ledger_row(
      "theorem1-query-step", "000 Theorem 1 ('when retrieving the values')",
      "Reading a key through $q_t$ returns its present value, at any time and any number of times.",
      "A read writes nothing. A step that writes as well is another thing: ($q$, 0) erases the key, ($q$, its value) "
      "changes nothing, and $k = 0$ is neutral where $kappa(0) = 0$, as for round and not for exp.",
      [](const Protocol &protocol) {
        KeySet set = leaning;
        int swaps = 100;
        if (protocol.point) set = keys_of(*protocol.point), swaps = protocol.point->integer("swaps");
        const Dense keys = keys_at(describe(set), set, protocol.seed);
        const SwapStory asked = asked_ten_times(tell_swaps(keys, swaps, protocol.seed));
        const Params params = describe(set).set("swaps", swaps);
        const auto held = [&](double scale, double value, double wanted, const char *kernel = "round") {
          return exact_point(read_after(keys, scale, value, kernel), wanted, 0);
        };
        const Point erased = as_obligation(held(1, 0, 0), params, "a step writes (q, 0)");
        return std::vector<Point>{
            as_statement(exactly_tracked(reads_by_round(asked), asked), params, "every read asked ten times"),
            rival_system(held(0, 0, 5, "exp"), params, "exp kernel, a step with k = 0"),
            erased,
            rival_law(erased, "(q, 0) harmless", 5),
            as_obligation(held(1, 5, 5), params, "a step writes (q, its value)"),
            rival_system(held(1, 7, 5), params, "a step writes (q, another value)"),
            as_obligation(held(0, 0, 5), params, "a step with k = 0"),
            rival_system(exactly_tracked(reads_by("exp", asked.sequence), asked), params, "exp for round throughout")};
      });
  claim.tasks = {"swap"};
  return at_parameters(running(claim, {"delta_former"}), key_params(100));
}

Claim typo() {
  Claim claim = refuted_row(
      "theorem1-typo-fkiki",
      slip("Theorem 1: 'since $f$($k_i$ . $k_i$) = 0, we have $u_i = v_i$'.", "$i <= n$",
           "The conclusion $u_i = v_i$ is right, and Lemma 1 uses $f(1) = 1$."),
      "000 Theorem 1, before the construction", "For $i <= n$, $f$($k_i$ . $k_i$) = 0 and therefore $u_i = v_i$.",
      "$f$($k_i$ . $k_j$) = 0 for $i != j$, while $f$($k_i$ . $k_i$) = $f(1) = 1$; $u_i = v_i$ holds.",
      [](const Protocol &protocol) {
        const KeySet set = protocol.point ? keys_of(*protocol.point) : leaning;
        const Dense keys = keys_at(describe(set), set, protocol.seed);
        const int n = keys.rows;
        Dense V(n, 1);
        for (int i = 0; i < n; ++i) V(i, 0) = i + 1;
        // One pair (k_1, 3) written and read at once: o = f(k_1 . k_1) 3.
        Sequence one;
        one.shape = {1, 1, 1, keys.columns, 1};
        one.k = one.q = {keys.data.begin(), keys.data.begin() + keys.columns}, one.v = {3};
        const double of_itself = reads_by("round", one)[0] / 3;
        const Params params = describe(set);
        const Point diagonal = as_obligation(exact_point(of_itself, 1, 0), params, "f(k_i . k_i)");
        return std::vector<Point>{
            as_statement(exact_point(of_itself, 0, 0), params, "f(k_i . k_i)"), diagonal,
            as_obligation(exact_point(written(keys, keys, V, {"round"}).data, V.data, 0), params, "u_i = v_i"),
            rival_system(exact_point(written(keys, keys, V, {"exp"}).data, V.data, 0), params,
                         "exp, with f(k_i . k_j) near 1"),
            rival_law(diagonal, "0", 0)};
      });
  claim.explanation = "An index: what makes $u_i = v_i$ is that different keys do not see each other.";
  return at_parameters(running(claim, {"delta_former"}), key_params(1));
}

} // namespace

std::vector<Claim> theorem_1() { return {theorem(), order(), queries(), typo()}; }

} // namespace recollect::theory
