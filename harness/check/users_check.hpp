// SPDX-License-Identifier: Apache-2.0
// Is a kernel right, in the arrays of its user? Where it is wrong, other conventions are tried before the catalogue: a
// kernel that agrees with the definition in another convention was given, or has, that one.
#pragma once
#include "harness/check/check.hpp"
#include "harness/check/users_case.hpp"
#include <memory>

namespace recollect {

/// A case with its float64 results in the user's arrays and the noise of each type. Parts of packed text i are called
/// o[i], state[i] ...
class UsersReference {
public:
  explicit UsersReference(UsersCase problem, int chunk = 64);
  UsersReference(const UsersReference &) = delete;

  const UsersCase &problem() const { return problem_; }
  const LayerInputs &inputs() const { return inputs_; }
  /// All parts, in order.
  const PartList &results() const { return results_; }

  Checked check(const Candidate &candidate, Precision precision) const;

private:
  struct Group { // a text, or the parameters of gates
    std::string label;
    CheckCase problem;                // of an empty text, and of parameters: a shape alone
    std::shared_ptr<Reference> layer; // in the layer's arrays; null where there are no steps
    std::shared_ptr<Reference> own;   // in the user's
  };
  std::vector<TextResults> text_results(const std::vector<PartList> &by_text) const;
  std::vector<Noise> noise(Precision precision) const;
  /// Whether no part is wrong, without an explanation.
  bool agrees(const std::vector<PartList> &candidate, Precision precision) const;
  std::vector<std::string> explained(const std::vector<PartList> &candidate, const UsersArrays &in_file,
                                     Precision precision) const;
  std::vector<std::string> right_elsewhere(const std::vector<PartList> &candidate, const UsersArrays &in_file,
                                           Precision precision) const;

  UsersCase problem_;
  int chunk_;
  LayerInputs inputs_;
  UsersArrays user_; // in the layer's order
  bool plain_;       // the layer's own arrays
  std::vector<Group> groups_;
  std::vector<PartList> by_group_;
  PartList results_;
  mutable std::map<Precision, std::vector<Noise>> noise_;
};

} // namespace recollect
