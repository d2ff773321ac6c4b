// SPDX-License-Identifier: Apache-2.0
// 000 Theorem 1 (Appendix E, E.1; Lemma 1 is in lemma_1.cpp): with keys of coherence below 1/8 and an f that is right
// near -1, 0, 1 and 2, the delta rule exchanges values any number of times.
//
// Values are integers. With f = round every quantity of Eq 41-42 is then an integer, and floating-point arithmetic
// makes no error. So the reads must be exact in every form and real type.
#include "theory/associative_memory/deltaformer/delta_former_writes.hpp"
#include "theory/associative_memory/tracking/swaps.hpp"

namespace recollect::theory {
namespace {
/// The sequence without the write of one exchange: the one after a third of all exchanges.
SwapStory without_one(SwapStory story, int n) {
  Sequence &s = story.sequence;
  std::fill_n(s.k.begin() + size_t(n + (s.shape.T - 2 * n) / 3) * s.shape.Dk, s.shape.Dk, 0.0);
  return story;
}

/// Adds points that compare every read during `swaps` exchanges with its target, for one form of the layer.
void track(Points &points, const KeySet &set, int swaps, const std::string &form, Real real, std::uint64_t seed) {
  const Dense keys = keys_at(set, seed);
  const auto told = [&](double sign) { return tell_swaps(keys, swaps, seed, Order::later_minus_earlier, sign); };
  const auto reads = [&](const SwapStory &of, const char *kernel = "round") {
    return reads_by(kernel, of.sequence, form, real);
  };
  const SwapStory story = told(-1);
  const Vector round = reads(story);
  points.at(describe(set).set("swaps", swaps).set("form", form).set("real", name_of(real)));
  points.statement("every read after the exchanges, against the exact value", exactly_tracked(round, story))
      .but_not("reads that do not see the write of their step", exact_point(round, story.before, 0));
  points.wrong_system("$k_t = k_{t1} + k_{t2}$ in place of $k_{t1} - k_{t2}$", exactly_tracked(reads(told(+1)), story));
  points.wrong_system("one exchange missed", exactly_tracked(reads(without_one(story, set.n)), story));
  if (coherence(keys) > 1e-3)
    points.wrong_system("the linear kernel in place of round",
                        bracketed_point(max_difference(reads(story, "linear"), story.target), 0, 0.5));
  points.obligation("coherence of the keys, below $1/8$", at_most_point(coherence(keys), 0.125, 0));
}

Claim theorem() {
  ClaimBuilder c("theorem1-round", "000 Theorem 1, Appendix E.1, §3.2");
  c.says("Let $n$ unit keys have inner products of at most $eps < 1/8$ in size, and let $f(y) = x$ for $y$ in the "
         "neighbourhoods U($x$, $4 eps$) of $x = -1$, 0, 1, 2. Then a step with $k_t = k_{t1} - k_{t2}$, $t2 < t1$, "
         "and $v_t = 0$ exchanges the values of the two keys and leaves all others as they are, however many exchanges "
         "went before.");
  c.exactly("Every read is exact, to the last bit, with $f$ = round.");
  c.draws({"swap"}), c.runs({"delta_former"}), c.takes(key_params(1000)), c.at(std::vector<Changes>{});
  c.also([](Points &points, const Protocol &protocol) {
    track(points, {"orthonormal", 5, 5}, 3000, "recurrent", Real::f64, protocol.seed);
    for (Real real : {Real::f32, Real::f64}) {
      track(points, leaning, protocol.full() ? 10000 : 1000, "chunked", real, protocol.seed);
      track(points, {"hadamard", 256, 128}, 500, "chunked", real, protocol.seed);
    }
  });
  return c.measure([](Points &points, const Params &p, const Protocol &protocol) {
    track(points, keys_of(p), p.integer("swaps"), "chunked", Real::f64, protocol.seed);
  });
}

/// Exchanges by differences of keys in the theorem's order, and in either order.
void in_either_order(Points &points, const KeySet &set, int swaps, std::uint64_t seed) {
  const Dense keys = keys_at(set, seed);
  const SwapStory any = tell_swaps(keys, swaps, seed, Order::any), ordered = tell_swaps(keys, swaps, seed),
                  plus = tell_swaps(keys, swaps, seed, Order::any, +1);
  const auto sums = [](const SwapStory &story) {
    return exactly_tracked(reads_of_sums(story.sequence, only_assumption_2), story);
  };
  points.at(describe(set).set("swaps", swaps))
      .statement("every read, $f(-2) = 0$, earlier key subtracted from later key", sums(ordered));
  points.wrong_system("$f(-2) = 0$, keys subtracted in either order", sums(any));
  points.obligation("every read, f = round, keys subtracted in either order", tracked_by_round(any));
  points.wrong_system("f = round, keys added", exactly_tracked(reads_by_round(plus), any));
}

Claim order() {
  ClaimBuilder c("theorem1-order", "000 Theorem 1 (t2 < t1), Assumption 2");
  c.says("The difference is taken as $k_t = k_{t1} - k_{t2}$ with $t2 < t1$.");
  c.exactly("This order is needed if only Assumption 2 is known of $f$, because Assumption 2 does not determine "
            "$f(-2)$. With $f$ = round either order tracks.");
  c.because("The theorem states the order without a reason. In the proof of Lemma 1 the other order would need $f(-2) "
            "= -2$.");
  c.draws({"swap"}), c.runs({"delta_former"}), c.takes(key_params(200)), c.at(std::vector<Changes>{});
  c.also([](Points &points, const Protocol &protocol) {
    in_either_order(points, leaning, 200, protocol.seed);
    in_either_order(points, {"hadamard", 140, 128}, 200, protocol.seed);
  });
  return c.measure([](Points &points, const Params &p, const Protocol &protocol) {
    in_either_order(points, keys_of(p), p.integer("swaps"), protocol.seed);
  });
}

/// The read at key 0 after n writes of the values 5, 6, ... and one more step, which writes `value` at the key `scale`
/// k_0.
double read_after(const Dense &keys, double scale, double value, const std::string &kernel) {
  const int n = keys.rows, d = keys.columns;
  const Dense first(1, d, {keys.data.begin(), keys.data.begin() + d});
  Sequence s = of_shape({1, 1, n + 1, d, 1});
  s.k = keys.data, s.q = repeated(first.data, n + 1);
  append_column(s.k, scale * first);
  for (int i = 0; i < n; ++i) s.v.push_back(i + 5);
  s.v.push_back(value);
  return reads_by(kernel, s, "recurrent").back();
}

/// The story with ten reads per step: after each step come nine steps that read but write nothing (k = 0).
SwapStory asked_ten_times(const SwapStory &story) {
  const int d = story.sequence.shape.Dk, T = story.sequence.shape.T;
  SwapStory asked;
  Sequence &s = asked.sequence;
  s.shape = {1, 1, T * 10, d, 1};
  for (int t = 0; t < T; ++t) {
    const Sequence step = slice_steps(story.sequence, t, t + 1);
    append_column(s.k, Dense(1, d, step.k)), append_column(s.q, Dense(10, d, repeated(step.q, 10)));
    s.v.push_back(step.v[0]), s.k.resize(s.q.size(), 0.0), s.v.resize(10 * size_t(t + 1), 0.0);
    asked.target.insert(asked.target.end(), 10, story.target[t]);
  }
  return asked;
}

Claim queries() {
  ClaimBuilder c("theorem1-query-step", "000 Theorem 1 ('when retrieving the values')");
  c.says("Reading a key through $q_t$ returns its present value, at any time and any number of times.");
  c.exactly("A read writes nothing. If the step also writes at $k = q$, the value 0 erases the key, and the present "
            "value changes nothing. A write at $k = 0$ changes nothing if $kappa(0) = 0$, which is true for round but "
            "not for exp.");
  c.draws({"swap"}), c.runs({"delta_former"}), c.takes(key_params(100));
  return c.measure([](Points &points, const Params &p, const Protocol &protocol) {
    const KeySet set = protocol.point ? keys_of(p) : leaning;
    const int swaps = p.integer("swaps");
    const Dense keys = keys_at(set, protocol.seed);
    const SwapStory asked = asked_ten_times(tell_swaps(keys, swaps, protocol.seed));
    const auto after = [&](double scale, double value, const char *kernel = "round") {
      return read_after(keys, scale, value, kernel);
    };
    points.at(describe(set).set("swaps", swaps)).rounding(0);
    points.statement("every read, each repeated ten times", tracked_by_round(asked));
    points.wrong_system("read after a step with $k = 0$, exp kernel", after(0, 0, "exp"), 5);
    points.obligation("read after a step that writes (q, 0): 0", after(1, 0), 0)
        .but_not("the old value, as if writing (q, 0) changed nothing", 5);
    points.obligation("read after a step that writes (q, its present value): that value", after(1, 5), 5);
    points.wrong_system("read after a step that writes (q, another value)", after(1, 7), 5);
    points.obligation("read after a step with $k = 0$: the present value", after(0, 0), 5);
    points.wrong_system("the exp kernel in place of round", exactly_tracked(reads_by("exp", asked.sequence), asked));
  });
}

Claim typo() {
  ClaimBuilder c("theorem1-typo-fkiki", "000 Theorem 1, before the construction");
  c.says("For $i <= n$, $f(k_i . k_i) = 0$ and therefore $u_i = v_i$.");
  c.is_refuted(slip("Theorem 1: 'since $f(k_i . k_i) = 0$, we have $u_i = v_i$'.", "$i <= n$",
                    "The conclusion $u_i = v_i$ is right, and Lemma 1 uses $f(1) = 1$."));
  c.exactly("$f(k_i . k_j) = 0$ for $i != j$, while $f(k_i . k_i) = f(1) = 1$; $u_i = v_i$ holds.");
  c.because("An index is wrong. For different keys the similarity is 0, hence $u_i = v_i$.");
  c.runs({"delta_former"}), c.takes(key_params(1));
  return c.measure([](Points &points, const Params &p, const Protocol &protocol) {
    const KeySet set = protocol.point ? keys_of(p) : leaning;
    const Dense keys = keys_at(set, protocol.seed);
    Dense V(keys.rows, 1);
    for (int i = 0; i < keys.rows; ++i) V(i, 0) = i + 1;
    // One step writes the value 3 at k_1 and reads at k_1: o = f(k_1 . k_1) 3.
    const Vector first(keys.data.begin(), keys.data.begin() + keys.columns);
    const double of_itself = reads_by("round", stored({1, 1, 1, keys.columns, 1}, first, {3}))[0] / 3;
    points.at(describe(set)).rounding(0).statement("$f(k_i . k_i)$, against 0", of_itself, 0);
    points.obligation("$f(k_i . k_i)$, against 1", of_itself, 1).but_not("0", 0);
    points.obligation("$u_i = v_i$", written(keys, keys, V, {"round"}), V);
    points.wrong_system("the exp kernel, whose $f(k_i . k_j)$ is near 1", written(keys, keys, V, {"exp"}), V);
  });
}
} // namespace

std::vector<Claim> theorem_1() { return {theorem(), order(), queries(), typo()}; }
} // namespace recollect::theory
