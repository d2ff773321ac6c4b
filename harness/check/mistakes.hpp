// SPDX-License-Identifier: Apache-2.0
// The catalogue of mistakes that kernels make. Each mistake is a file in mistakes/, which CMake finds.
#pragma once
#include "harness/check/results.hpp"
#include <functional>
#include <string_view>

namespace recollect {

/// Results of a kernel with the mistake. Parts that a function leaves out, and all parts of a null function, equal the
/// definition's.
struct Made {
  std::string what;                   // one sentence with numbers such as the chunk length: "... between chunks of 64"
  std::function<PartList()> forward;  // o, state
  std::function<PartList()> backward; // gradients; called only if asked for
};

/// Inputs as a kernel with the mistake reads them.
struct Misread {
  std::string what;
  std::function<Sequence()> inputs; // the inputs as misread, in the given shapes
  /// The chain rule: turns the gradient with respect to the misread inputs into the gradient with respect to the given
  /// inputs. Null: the identity.
  std::function<void(Sequence &gradient)> chain = nullptr;
};

/// A mistake may be possible on a problem in several ways (e.g. one per chunk length), or in none if the layer or the
/// inputs cannot show it. A mistake defines either `misread` or `make`.
struct Mistake {
  std::string name;                 // file stem, set by the registry
  std::string what;                 // the mistake in one sentence
  std::string shows;                // the mistake's symptoms, and the inputs that show the mistake
  std::vector<std::string> reports; // public reports: "vllm #22034"
  std::function<std::vector<Misread>(const CheckCase &)> misread;
  /// `right`: the definition's results.
  std::function<std::vector<Made>(const CheckCase &, const PartList &right)> make;
};

/// All ways to make the mistake: those that Mistake::make returns, or three for each misreading. In the first, both
/// passes misread, so that the gradients belong to the wrong outputs; in the second, only the forward pass misreads; in
/// the third, only the backward pass. The result holds references to the arguments.
std::vector<Made> ways_to_make(const Mistake &mistake, const CheckCase &problem, const PartList &right);
/// All parts that the problem asks for, as a kernel with the mistake computes them. `right` are the definition's
/// results; parts that the mistake does not change are copied from there.
PartList results_of(const Made &made, const CheckCase &problem, const PartList &right);

const std::vector<Mistake> &all_mistakes();
const Mistake &find_mistake(std::string_view name);
std::vector<const Mistake *> select_mistakes(const std::vector<std::string> &patterns);
inline std::vector<std::string> names(const Mistake &mistake) { return {mistake.name}; } // for core/lookup.hpp

} // namespace recollect
