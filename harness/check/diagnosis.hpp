// SPDX-License-Identifier: Apache-2.0
// Finds the known mistake that explains a wrong candidate.
//
// Every mistake of the catalogue is made on purpose, in float64. A mistake explains the candidate if all parts
// (outputs, state, gradients) agree with the mistake's results within the limits that hold for a correct kernel. The
// limits are in units of noise; here it is measured by making the mistake on disturbed inputs. The mistake nearest to
// the candidate, in units of this noise, is reported.
#pragma once
#include "harness/check/check.hpp"
#include "harness/check/mistakes.hpp"

namespace recollect {

struct Explanation {
  std::vector<const Mistake *> mistakes; // one mistake, or two mistakes that occur together
  std::string what;
  double distance; // RMS over all rows of error over noise: about 1 if the candidate is the mistake plus rounding
};

/// The catalogue of mistakes applied to one problem. Keeps small results, so that explaining further candidates is
/// fast. Holds a reference to `reference`.
class Suspects {
public:
  explicit Suspects(const Reference &reference);
  /// The nearest mistake that explains the candidate, and the second nearest if it is at most 1.5 times as far; empty
  /// if no mistake explains the candidate. If no single mistake explains all parts, outputs and gradients are explained
  /// separately. If this fails as well, a pair of mistakes may explain the outputs. `judged` says which parts are
  /// wrong.
  std::vector<Explanation> explain(const PartList &candidate, const std::vector<Judged> &judged,
                                   Precision precision) const;

private:
  struct Way {
    const Mistake *mistake;
    size_t number; // index among the ways to make the mistake
    Made made;
    mutable PartList forward, backward; // kept if small
    mutable std::map<Precision, Noise> noise;
  };
  struct Draw { // a disturbed problem and the definition's results on it
    CheckCase problem;
    PartList right;
  };
  std::vector<Explanation> singles(const PartList &candidate, const std::vector<std::string> &wrong,
                                   Precision precision) const;
  std::vector<Explanation> pairs(const PartList &candidate, const std::vector<std::string> &wrong,
                                 Precision precision) const;
  const Noise &noise_by(const Way &way, Precision precision) const;
  PartList made_by(const Way &way, bool forward) const;
  const std::vector<Draw> &draws(Precision precision) const;

  const Reference &reference_;
  bool keeps_;
  std::vector<Way> ways_;
  mutable std::map<Precision, std::vector<Draw>> draws_;
};

/// The text of a diagnosis: the explanations, or that the errors are as large as the rounding of a coarser type.
std::vector<std::string> diagnose(const Reference &reference, const PartList &candidate,
                                  const std::vector<Judged> &judged, Precision precision);

} // namespace recollect
