// SPDX-License-Identifier: Apache-2.0
// Ranks: the processes that one `mpirun` started, or this process alone. Only ranks.cpp uses MPI.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace recollect::ranks {

/// Initialises MPI if a launcher started several ranks. Must be called before any communication. Input error if there
/// are other ranks and the program was built without MPI.
void join();
/// Must be called last in the program; all ranks end together. If `failed`, that is if an exception ended this rank,
/// ends the other ranks with exit status `status`.
void leave(bool failed, int status);

/// rank() is read from the launcher's environment, and so is known before join(). size() is 1 before join().
int rank();
int size();

/// Name and version of the MPI library: "Open MPI v4.1.4 ..."; "none" if the program was built without MPI.
std::string library();

/// Broadcast: returns the bytes of rank 0, on every rank.
std::string shared(std::string bytes);
/// Gather: returns the bytes of the ranks 0, 1, ... on rank 0, and nothing on other ranks.
std::vector<std::string> gathered(const std::string &bytes);
/// Sends to another rank, which receives with received().
void send(std::string bytes, int to);
std::string received(int from);
/// All-reduce: returns the largest number of all ranks, on every rank.
double largest(double number);
/// The time in seconds that `work` takes on the slowest rank, after all ranks are ready. Must be called by all ranks.
double seconds_of_slowest(const std::function<void()> &work);

/// An associative function that combines two arrays of the same size; `earlier` comes from lower ranks than `later`.
using Combine =
    std::function<std::vector<double>(const std::vector<double> &earlier, const std::vector<double> &later)>;
/// Exclusive scan: returns the arrays of all lower ranks, combined in the order of the ranks; empty on rank 0.
std::vector<double> combined_before(const std::vector<double> &mine, const Combine &combine);

/// `count` counters that all ranks share. Each counts 0, 1, 2, ..., and next(i) gives every number of counter i to
/// exactly one rank. All ranks construct and destroy the counters together.
class Counters {
public:
  explicit Counters(std::size_t count = 1);
  ~Counters();
  Counters(const Counters &) = delete;
  Counters &operator=(const Counters &) = delete;
  std::size_t next(std::size_t counter = 0);
  /// For each counter the number that next() would give; another rank may take this number at any time.
  std::vector<std::size_t> values();

private:
  struct Window;
  Window *window_ = nullptr;
  std::vector<std::int64_t> values_; // a single process counts here; ranks receive the shared numbers here
};

} // namespace recollect::ranks
