// SPDX-License-Identifier: Apache-2.0
// Passes over a sequence that is longer than one device can hold: it is cut along T into one segment per rank.
#pragma once
#include "harness/call/forward.hpp"

namespace recollect {

/// How the state passes from rank to rank. chain: each rank waits for the state of the rank before it. This works for
/// every layer with a state. Heads are passed on in G groups, so that ranks work on different groups at the same time.
/// With R ranks, a rank is busy for the fraction G / (G + R - 1) of the time. scan: all ranks run at once, then combine
/// their maps of the state (segment.hpp). This is more work, but no rank waits.
enum class Carry { chain, scan };
inline const char *name_of(Carry carry) { return carry == Carry::scan ? "scan" : "chain"; }

/// The steps [begin, end) of one rank.
struct Steps {
  int begin, end;
  int count() const { return end - begin; }
};
/// Divides T steps evenly among the ranks. Cuts are at multiples of `chunk` if T / ranks is at least `chunk`. Input
/// error if T is less than `ranks`.
Steps steps_of_rank(int T, int chunk, int rank, int ranks);

/// Why this form of the layer cannot be cut along T; "" if it can.
std::string not_along(const Variant &variant, const Form &form, const Shape &shape, const Params &params);

/// Chooses how to pass the state. `asked` is "scan", "chain" or "auto": the scan if the layer allows it, else the
/// chain. The result is the same on every rank. Usage error if the layer cannot be cut along T or does not allow
/// `asked`.
Carry carry_along(const Variant &variant, const Sequence &sequence, const Run &run, const std::string &asked);

/// A pass that all ranks launch together, each on its own steps. Its fetch() returns this rank's outputs and the state
/// after its steps.
Job prepare_along_ranks(const Variant &variant, const Sequence &own, const Run &run, Carry carry);

/// The time that a scan adds to the ranks' own passes: the median, in seconds, of five exchanges of maps of the state,
/// each started by all ranks together. 0 for one rank. Must be called by all ranks.
double exchange_seconds(const Variant &variant, const Shape &shape, const Params &params);

/// On rank 0: the outputs of all steps, and the last rank's state. Empty on other ranks.
Output joined(const Output &own, const Shape &whole);

} // namespace recollect
