// SPDX-License-Identifier: Apache-2.0 Judges whether a user's kernel is right, in the arrays of the user's convention.
// If the kernel is wrong, other conventions are tried first: one in which it agrees with the definition is the
// explanation. Only if there is none, the catalogue of mistakes is tried.
#pragma once
#include "harness/check/check.hpp"
#include "harness/check/users_case.hpp"
#include <memory>

namespace recollect {

/// A case, its float64 results in the user's arrays, and the rounding noise of each type. The parts of packed text i
/// are named o[i], state[i] ...
class UsersReference {
public:
  /// `inputs` are layer_inputs() of the problem.
  UsersReference(UsersCase problem, LayerInputs inputs, int chunk = 64);
  UsersReference(const UsersReference &) = delete;

  const UsersCase &problem() const { return problem_; }
  const LayerInputs &inputs() const { return inputs_; }
  /// All parts, in order, without their numbers.
  const PartList &results() const { return results_; }

  Checked check(const Candidate &candidate, Precision precision) const;

private:
  struct Group { // one text, or the parameters of gates
    std::string label;
    std::shared_ptr<const CheckCase> problem; // has only the shape for an empty text and for parameters
    std::shared_ptr<Reference> layer;         // the reference in the layer's arrays; null if there are no steps
    std::shared_ptr<Reference> own;           // the reference in the user's arrays
    const PartList &results() const { return own->results(); }
  };
  std::vector<TextResults> text_results(const std::vector<PartList> &by_text) const;
  std::vector<Noise> noise(Precision precision) const;
  /// Sum over all parts of squared errors over squared values.
  double distance(const std::vector<PartList> &candidate) const;
  /// Whether no part is wrong; computes no diagnosis.
  bool agrees(const std::vector<PartList> &candidate, Precision precision) const;
  std::vector<std::string> explained(const std::vector<PartList> &candidate, const UsersArrays &in_file,
                                     Precision precision) const;
  std::vector<std::string> right_elsewhere(const std::vector<PartList> &candidate, const UsersArrays &in_file,
                                           Precision precision) const;

  UsersCase problem_;
  int chunk_;
  LayerInputs inputs_; // without arrays if plain_: groups_ then has them
  UsersArrays converted_;
  const UsersArrays &user_; // in the layer's order
  bool plain_;              // whether the user's arrays are those of the layer, so that nothing is converted
  std::vector<Group> groups_;
  PartList results_;
  mutable std::map<Precision, std::vector<Noise>> noise_;
};

} // namespace recollect
