// SPDX-License-Identifier: Apache-2.0
// Ranks: the processes that one `mpirun` started, or this process alone. Only ranks.cpp uses MPI.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace recollect::ranks {

/// Initialises MPI if a launcher started this process. To be called before any communication. Input error if there are
/// other ranks and the program was built without MPI.
void join();
/// Called last in the program; all ranks end together. If `failed`, an exception ended this rank, and it ends the
/// others.
void leave(bool failed, int status);

/// rank() is read from the launcher's environment and so known before join().
int rank();
int size();

/// MPI's version: "Open MPI v4.1.4 ..."; "none" if the program was built without MPI.
std::string library();

/// Broadcast: rank 0's bytes, on every rank.
std::string shared(std::string bytes);
/// Gather: the bytes of ranks 0, 1, ... on rank 0; nothing elsewhere.
std::vector<std::string> gathered(const std::string &bytes);
/// Sends to another rank, which receives with received().
void send(std::string bytes, int to);
std::string received(int from);
/// All-reduce: the largest number of all ranks, on every rank.
double largest(double number);
/// Seconds that `work` takes on the slowest rank, from when all ranks are ready. Called by all ranks.
double seconds_of_slowest(const std::function<void()> &work);

/// Combines two arrays of the same size; `earlier` comes from lower ranks than `later`. Must be associative.
using Combine =
    std::function<std::vector<double>(const std::vector<double> &earlier, const std::vector<double> &later)>;
/// Exclusive scan: the arrays of all lower ranks, combined in the order of ranks; empty on rank 0.
std::vector<double> combined_before(const std::vector<double> &mine, const Combine &combine);

/// Counters 0, 1, 2, ... that all ranks share: next(i) gives every number of counter i to exactly one rank. All ranks
/// construct and destroy the counters together.
class Counters {
public:
  explicit Counters(std::size_t count = 1);
  ~Counters();
  Counters(const Counters &) = delete;
  Counters &operator=(const Counters &) = delete;
  std::size_t next(std::size_t counter = 0);
  /// The numbers that next() would give; other ranks may draw them at any time.
  std::vector<std::size_t> values();

private:
  struct Window;
  Window *window_ = nullptr;
  std::vector<std::int64_t> values_; // a single process counts here; ranks receive the shared numbers here
};

} // namespace recollect::ranks
