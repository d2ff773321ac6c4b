// SPDX-License-Identifier: Apache-2.0
// 000 Theorem 1 and Lemma 1 (Appendix E, E.1): keys of coherence below 1/8 and an f that is right near -1, 0, 1, 2 let
// the delta rule exchange values for ever.
//
// Values are integers, so with f = round every quantity of Eq 41-42 is an integer and float arithmetic makes no error at
// all: the reads must be right to the last bit, in every form and real type.
#include "harness/core/error.hpp"
#include "theory/associative_memory/delta_former_writes.hpp"
#include "theory/associative_memory/swaps.hpp"

namespace recollect::theory {
namespace {

const KeySet leaning{"equicorrelated", 10, 10, 0.12}; // coherence just under 1/8

Params describe(const KeySet &keys) {
  return labels({{"keys", txt(keys.kind)}, {"n", num(keys.n)}, {"d", num(keys.d)}});
}

std::vector<ParamSpec> key_params(int swaps) {
  return {integer_param("n", 10, 2, 4096, "elements"), integer_param("d", 10, 1, 4096, "key width"),
          integer_param("swaps", swaps, 1, 100000, "exchanges"), keys_param("equicorrelated"),
          real_param("cosine", 0.12, -1, 1, "inner product of equicorrelated keys")};
}

/// The keys asked for with --point; usage error where Assumption 1 fails.
Dense keys_at(const Params &p, const KeySet &keys, std::uint64_t seed) {
  const Dense rows = key_rows(keys, seed);
  if (!(coherence(rows) < 0.125))
    usage_error("Theorem 1 asks for unit keys of coherence below 1/8; at " + p.str() + " it is " +
                number(coherence(rows)));
  return rows;
}
KeySet keys_of(const Params &p) { return {p.text("keys"), p.integer("n"), p.integer("d"), p.real("cosine")}; }

/// The story with one exchange left out of what is written, a third of the way through.
SwapStory without_one(SwapStory story, int n) {
  Sequence &s = story.sequence;
  const int t = n + (s.shape.T - 2 * n) / 3;
  std::fill_n(s.k.begin() + size_t(t) * s.shape.Dk, s.shape.Dk, 0.0);
  return story;
}

Claim theorem() {
  Claim claim = ledger_row(
      "theorem1-round", "000 Theorem 1, Appendix E.1, §3.2",
      "With n unit keys whose inner products are at most eps < 1/8 in size, and f right on the neighbourhoods U(x, 4 "
      "eps) "
      "of x = -1, 0, 1, 2, a step with k_t = k_{t1} - k_{t2}, t2 < t1, and v_t = 0 exchanges the values of the two "
      "keys and "
      "leaves all others as they are, however many exchanges went before.",
      "Every read is exact, to the last bit, with f = round.", [](const Protocol &protocol) {
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

/// Both sides of the lemma for every pair (i, j) and every l, keys and their differences alike, and how far the left
/// argument strays from the integer it stands for.
struct Lemma {
  std::vector<double> left, right;
  double strayed[4] = {}; // over eps, around 0, 1, -1, 2
};

Lemma both_sides(const Dense &keys, const Kernel &f, bool later_first = true) {
  const int n = keys.rows, d = keys.columns;
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) later_first ? pairs.emplace_back(i, j) : pairs.emplace_back(j, i);
  Dense all(n + int(pairs.size()), d); // keys, then differences, always of the later less the earlier
  for (int l = 0; l < all.rows; ++l)
    for (int c = 0; c < d; ++c) {
      const auto [i, j] = l < n ? std::pair(l, l) : pairs[l - n];
      all(l, c) = l < n ? keys(l, c) : keys(std::max(i, j), c) - keys(std::min(i, j), c);
    }
  const Dense gram = all * transpose(all);
  const double eps = coherence(keys), sign = later_first ? 1 : -1;
  Lemma lemma;
  for (size_t p = 0; p < pairs.size(); ++p)
    for (int l = 0; l < all.rows; ++l) {
      const auto [i, j] = pairs[p];
      const double argument = sign * gram(n + int(p), l), ideal = std::nearbyint(argument);
      lemma.left.push_back(f(argument));
      lemma.right.push_back(f(gram(i, l)) - f(gram(j, l)));
      if (ideal < -1) continue; // not among the four
      double &strayed = lemma.strayed[ideal < 0 ? 2 : ideal == 2 ? 3 : int(ideal)];
      strayed = std::max(strayed, std::fabs(argument - ideal) / eps);
    }
  return lemma;
}

Claim lemma() {
  Claim claim = ledger_row(
      "lemma1", "000 Lemma 1, Appendix E.1.1",
      "Under the same premises, f((k_i - k_j) . k_l) = f(k_i . k_l) - f(k_j . k_l) for j < i <= n and every l, k_l a "
      "key or "
      "a difference of two keys of which the later comes first.",
      "Identity. The argument strays from its integer by at most 4 eps at 0, 3 eps at +-1 and 2 eps at 2; 4 eps is "
      "attained.",
      [](const Protocol &protocol) {
        std::vector<Point> points;
        const double widest[] = {4, 3, 3, 2};
        const char *stands_for[] = {"0", "1", "-1", "2"};
        const auto add = [&](const Dense &keys, Params params) {
          const Lemma both = both_sides(keys, only_assumption_2);
          points.push_back(
              as_statement(exact_point(both.left, both.right, 0), params, "both sides, f of Assumption 2"));
          const Lemma other = both_sides(keys, only_assumption_2, false);
          points.push_back(rival_system(exact_point(other.left, other.right, 0), params, "j > i"));
          const Lemma round = both_sides(keys, round_kernel);
          points.push_back(as_statement(exact_point(round.left, round.right, 0), params, "both sides, f = round"));
          points.push_back(as_obligation(at_most_point(coherence(keys), 0.125, 0), params, "coherence, below 1/8"));
          // An inner product of width d and norms up to sqrt 2 errs by 2 d units.
          const double rounding = 8 * keys.columns * epsilon_of(Real::f64) / coherence(keys);
          for (int x = 0; x < 4; ++x)
            points.push_back(as_obligation(at_most_point(both.strayed[x], widest[x], rounding),
                                           params.set("around", stands_for[x]), "distance over eps"));
        };
        if (protocol.point) {
          const Params &p = *protocol.point;
          if (p.integer("n") > 40) usage_error("the lemma is checked on every triple of keys: take n <= 40");
          const Dense keys = keys_at(p, keys_of(p), protocol.seed);
          if (coherence(keys) < 1e-6) usage_error("orthonormal keys leave nothing to stray: take a coherence above 0");
          add(keys, describe(keys_of(p)));
          return points;
        }
        // The last of the 140: twelve of either basis.
        const Dense whole = key_rows({"hadamard", 140, 128}, protocol.seed);
        add({24, 128, {whole.data.end() - 24 * 128, whole.data.end()}}, describe({"hadamard", 24, 128}));
        add(key_rows({"equicorrelated", 24, 24, 0.12}, protocol.seed), describe({"equicorrelated", 24, 24}));
        const Dense worst = worst_keys(0.12);
        add(worst, describe({"worst case", 4, 4}));
        const Point widest_of_all =
            as_obligation(exact_point(both_sides(worst, round_kernel).strayed[0], 4, 8 * 4 / 0.12),
                          describe({"worst case", 4, 4}), "distance over eps around 0: attained");
        points.push_back(widest_of_all);
        points.push_back(rival_law(widest_of_all, "2 eps", 2));
        const Lemma random = both_sides(key_rows({"unit", 24, 16}, protocol.seed), round_kernel);
        points.push_back(
            rival_system(exact_point(random.left, random.right, 0), describe({"unit", 24, 16}), "random keys"));
        return points;
      });
  return at_parameters(claim, key_params(1));
}

Claim order() {
  Claim claim = ledger_row(
      "theorem1-order", "000 Theorem 1 (t2 < t1), Assumption 2",
      "The difference is taken as k_t = k_{t1} - k_{t2} with t2 < t1.",
      "Needed for an f of which only Assumption 2 is known, which leaves f(-2) free; f = round tracks in either order.",
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
      "The theorem states the order without saying what for; the proof of Lemma 1 excludes the other one "
      "because it would need f(-2) = -2.";
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
      "Reading a key through q_t returns its present value, at any time and any number of times.",
      "A read writes nothing. A step that writes as well is another thing: (q, 0) erases the key, (q, its value) "
      "changes "
      "nothing, and k = 0 is neutral where kappa(0) = 0, as for round and not for exp.",
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
      "theorem1-typo-fkiki", Scope::typo, "000 Theorem 1, before the construction",
      "For i <= n, f(k_i . k_i) = 0 and therefore u_i = v_i.",
      "f(k_i . k_j) = 0 for i != j, while f(k_i . k_i) = f(1) = 1; u_i = v_i holds.", [](const Protocol &protocol) {
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
  claim.explanation = "An index: what makes u_i = v_i is that different keys do not see each other.";
  return at_parameters(running(claim, {"delta_former"}), key_params(1));
}

} // namespace

std::vector<Claim> theorem_1() { return {theorem(), lemma(), order(), queries(), typo()}; }

} // namespace recollect::theory
