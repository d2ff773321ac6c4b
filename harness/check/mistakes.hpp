// SPDX-License-Identifier: Apache-2.0
// The catalogue of mistakes that kernels make, one file each in mistakes/: CMake finds them, as it finds layers.
#pragma once
#include "harness/check/results.hpp"
#include <functional>
#include <string_view>

namespace recollect {

/// What a kernel with the mistake returns. Parts that are left out, and a function that is absent, are the definition's.
struct Made {
  std::string what;                   // in one sentence, with its numbers: "... between chunks of 64"
  std::function<PartList()> forward;  // o, state
  std::function<PartList()> backward; // gradients; called only where they are asked for
};

/// Numbers that a kernel works on in place of those it was given.
struct Misread {
  std::string what;
  std::function<Sequence()> inputs; // those that are given, of the same shapes
  /// The chain rule: turns a gradient in `inputs` into that in what was given. Null: the identity.
  std::function<void(Sequence &gradient)> chain = nullptr;
};

/// A mistake is made on a problem in several ways, for each chunk length, say; in none where the layer or the inputs
/// cannot show it. It has either of `misread` and `make`.
struct Mistake {
  std::string name;                 // the file's stem, set by the registry
  std::string what;                 // in one sentence
  std::string shows;                // how it shows, and on which inputs
  std::vector<std::string> reports; // public reports: "vllm #22034"
  std::function<std::vector<Misread>(const CheckCase &)> misread;
  /// `right` are the definition's results.
  std::function<std::vector<Made>(const CheckCase &, const PartList &right)> make;
};

/// What `make` returns; of a misreading, what a kernel computes whose backward pass differentiates its wrong outputs, or
/// whose backward pass is right, or whose backward pass alone misreads. What is returned refers to the arguments.
std::vector<Made> ways_to_make(const Mistake &mistake, const CheckCase &problem, const PartList &right);
/// All parts that the problem asks for, those of the definition where the mistake leaves them right.
PartList results_of(const Made &made, const CheckCase &problem, const PartList &right);

const std::vector<Mistake> &all_mistakes();
const Mistake &find_mistake(std::string_view name);
std::vector<const Mistake *> select_mistakes(const std::vector<std::string> &patterns);
inline std::vector<std::string> names(const Mistake &mistake) { return {mistake.name}; } // for core/lookup.hpp

} // namespace recollect
