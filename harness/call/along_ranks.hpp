// SPDX-License-Identifier: Apache-2.0
// One sequence cut along T into a segment a rank: sequences longer than one device.
#pragma once
#include "harness/call/forward.hpp"

namespace recollect {

/// How the state gets from rank to rank.
enum class Carry {
  chain, // each rank waits for the one before. For every layer with a state; heads go in groups, so that ranks work on
         // different groups at one time: of G groups on R ranks, G / (G + R - 1) of the time is used
  scan   // ranks run at once and then combine their maps of the state (segment.hpp); more work, none of it waiting
};
inline const char *name_of(Carry carry) { return carry == Carry::scan ? "scan" : "chain"; }

/// Steps [begin, end) of a rank.
struct Steps {
  int begin, end;
  int count() const { return end - begin; }
};
/// About equal, in whole chunks where there are enough. Input error where there are fewer steps than ranks.
Steps steps_of_rank(int T, int chunk, int rank, int ranks);

/// Why the layer cannot be cut along T, "" if it can.
std::string not_along(const Variant &variant, const Form &form, const Shape &shape, const Params &params);

/// The scan where the layer allows it, else the chain; the same on every rank. Usage error where it cannot be cut, or
/// `asked` ("auto", "scan" or "chain") cannot be had.
Carry carry_along(const Variant &variant, const Sequence &sequence, const Run &run, const std::string &asked);

/// A pass that all ranks launch together, each on its own steps; fetches this rank's outputs and the state at their end.
Job prepare_along_ranks(const Variant &variant, const Sequence &own, const Run &run, Carry carry);

/// Median seconds of five exchanges of maps of the state among all ranks, which start each together: what a scan takes
/// besides the ranks' own passes. 0 where there is one rank. Called by all ranks.
double exchange_seconds(const Variant &variant, const Shape &shape, const Params &params);

/// On rank 0 the outputs of all steps and the last rank's state; elsewhere nothing.
Output joined(const Output &own, const Shape &whole);

} // namespace recollect
