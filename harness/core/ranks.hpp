// SPDX-License-Identifier: Apache-2.0
// The processes that one `mpirun` started, or this process alone. All of MPI is in ranks.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace recollect::ranks {

/// Joins the others where a launcher started this process: before anything is shared. Input error where there are others
/// and the program was built without MPI.
void join();
/// Last in the program. Ranks end together; one that failed (an exception, not a finding) takes the others with it.
void leave(bool failed, int status);

/// Known before join() too, from the launcher.
int rank();
int size();

/// Of MPI: "Open MPI v4.1.4 ..."; "none" where the program was built without.
std::string library();

/// Rank 0's bytes, on every rank.
std::string shared(std::string bytes);
/// The bytes of ranks 0, 1, ... on rank 0; nothing elsewhere.
std::vector<std::string> gathered(const std::string &bytes);
/// To another rank, which waits for them.
void send(std::string bytes, int to);
std::string received(int from);
/// Of all ranks' numbers, on every rank.
double largest(double number);

/// What comes of `earlier` and then `later`, arrays of one size; associative.
using Combine =
    std::function<std::vector<double>(const std::vector<double> &earlier, const std::vector<double> &later)>;
/// The arrays of the ranks before this one combined in their order (an exclusive scan); empty on rank 0.
std::vector<double> combined_before(const std::vector<double> &mine, const Combine &combine);

/// 0, 1, 2, ...: every number goes to one rank, that which asks for it first. Made and destroyed by all ranks together.
class Counter {
public:
  Counter();
  ~Counter();
  Counter(const Counter &) = delete;
  Counter &operator=(const Counter &) = delete;
  std::size_t next();

private:
  struct Window;
  Window *window_ = nullptr;
  std::int64_t alone_ = 0;
};

} // namespace recollect::ranks
