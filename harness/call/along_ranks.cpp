// SPDX-License-Identifier: Apache-2.0
#include "harness/call/along_ranks.hpp"
#include "harness/call/segment.hpp"
#include "harness/core/error.hpp"
#include "harness/core/packing.hpp"
#include "harness/core/registry.hpp"
#include "harness/numerics/timing.hpp"
#include "harness/system/ranks.hpp"
#include <algorithm>

namespace recollect {
namespace {

std::string bytes_of(const std::vector<double> &numbers) { return (Packer() << numbers).bytes; }
std::vector<double> numbers_of(const std::string &bytes) {
  std::vector<double> numbers;
  Unpacker(bytes) >> numbers;
  return numbers;
}

/// Combines the maps of the state of all earlier ranks. Returns the state at the start of this rank's steps: `heads`
/// matrices of n rows and m columns.
Rows exchanged(const Rows &map, size_t heads, int n, int m) {
  return ranks::combined_before(
      map, [=](const Rows &earlier, const Rows &later) { return through(earlier, later, heads, n, m); });
}

Job scanned(const Variant &variant, const Sequence &own, const Run &run) {
  const bool first = ranks::rank() == 0; // rank 0 knows its initial state and waits for nothing
  const auto segment = std::make_shared<Segment>(prepare_segment(variant, own, run, first));
  const StateShape state = variant.state_shape(own.shape, run.params);
  const size_t heads = own.shape.heads();
  const int n = state.rows, m = state.columns;
  Job job;
  job.reset = segment->reset;
  job.launch = [=] {
    segment->launch();
    const size_t B = size_t(n) * size_t(m), A = size_t(m) * size_t(m);
    const Rows end = segment->end(),
               map = first ? widened_rows(end, B, A) : end; // rank 0: A is 0, because no state comes before it
    const Rows before = exchanged(map, heads, n, m);
    if (!first) segment->respond(narrowed_rows(before, B, A));
  };
  job.fetch = segment->fetch;
  return job;
}

Job chained(const Variant &variant, const Sequence &own, const Run &run) {
  const size_t heads = own.shape.heads(), most = 4 * size_t(ranks::size()), groups = std::min(heads, most);
  std::vector<Segment> segments;
  for (size_t g = 0; g < groups; ++g) {
    const size_t begin = heads * g / groups, end = heads * (g + 1) / groups;
    segments.push_back(prepare_segment(variant, slice_heads(own, begin, end - begin), run, true));
  }
  const int rank = ranks::rank(), last = ranks::size() - 1;
  Job job;
  job.reset = [=] {
    for (const Segment &s : segments) s.reset();
  };
  job.launch = [=] {
    for (const Segment &s : segments) {
      if (rank > 0) s.start_from(numbers_of(ranks::received(rank - 1)));
      s.launch();
      if (rank < last) ranks::send(bytes_of(s.end()), rank + 1);
    }
  };
  job.fetch = [=] {
    Output all;
    for (const Segment &s : segments) { // in the order of the heads
      const Output one = s.fetch();
      all.o.insert(all.o.end(), one.o.begin(), one.o.end());
      all.state.insert(all.state.end(), one.state.begin(), one.state.end());
      all.state_shape = one.state_shape;
    }
    return all;
  };
  return job;
}

} // namespace

Steps steps_of_rank(int T, int chunk, int rank, int ranks) {
  if (T < ranks)
    input_error("--ranks-along T needs at least one step per rank: T is " + std::to_string(T) + ", and there are " +
                std::to_string(ranks) + " ranks");
  const std::int64_t unit = T / ranks >= chunk ? chunk : 1, units = (T - 1) / unit + 1;
  const auto begin = [&](int r) { return int(std::min<std::int64_t>(T, units * r / ranks * unit)); };
  return {begin(rank), begin(rank + 1)};
}

std::string not_along(const Variant &variant, const Form &form, const Shape &shape, const Params &params) {
  if (variant.state_shape(shape, params).size() == 0)
    return variant.name + " keeps no state that one rank could hand to the next";
  if (variant.joins_heads && variant.joins_heads(params))
    return variant.name + " computes the heads of a text together, and ranks cut between heads";
  if (form.causal && form.exact) return "";
  return form.name + " of " + variant.name +
         " depends on where the sequence ends: --ranks-along T takes exact forms only";
}

Carry carry_along(const Variant &variant, const Sequence &sequence, const Run &run, const std::string &asked) {
  refuse_cut(run.real);
  const std::string why = not_along(variant, find_form(variant, run.form), sequence.shape, run.params);
  if (!why.empty()) usage_error(why);
  if (asked == "chain") return Carry::chain;
  const std::string said = needs_no_state(variant, sequence, run.params) ? "scan" : "chain";
  const Carry carry = ranks::shared(said) == "scan" ? Carry::scan : Carry::chain;
  if (asked == "scan" && carry == Carry::chain)
    usage_error(variant.name +
                " does not apply one linear map to all rows of its state, as a scan needs: take --carry chain");
  return carry;
}

Job prepare_along_ranks(const Variant &variant, const Sequence &own, const Run &run, Carry carry) {
  return carry == Carry::scan ? scanned(variant, own, run) : chained(variant, own, run);
}

double exchange_seconds(const Variant &variant, const Shape &shape, const Params &params) {
  if (ranks::size() == 1) return 0;
  const StateShape state = variant.state_shape(shape, params);
  const int n = state.rows, m = state.columns;
  // All elements of the map [B; A] (segment.hpp) are 1/m, so that products of maps do not overflow.
  const Rows map(shape.heads() * size_t(n + m) * size_t(m), 1.0 / m);
  std::vector<double> seconds;
  for (int i = 0; i < 5; ++i)
    seconds.push_back(ranks::seconds_of_slowest([&] { exchanged(map, shape.heads(), n, m); }));
  return median_of(seconds);
}

Output joined(const Output &own, const Shape &whole) {
  const std::vector<std::string> outputs = ranks::gathered(bytes_of(own.o)),
                                 states = ranks::gathered(bytes_of(own.state));
  Output all;
  if (outputs.empty()) return all;
  all.state = numbers_of(states.back()), all.state_shape = own.state_shape;
  std::vector<std::vector<double>> parts;
  for (const std::string &bytes : outputs) parts.push_back(numbers_of(bytes));
  for (size_t head = 0; head < whole.heads(); ++head)
    for (const std::vector<double> &part : parts) {
      const auto length = std::ptrdiff_t(part.size() / whole.heads());
      const auto begin = part.begin() + length * std::ptrdiff_t(head);
      all.o.insert(all.o.end(), begin, begin + length);
    }
  return all;
}

} // namespace recollect
