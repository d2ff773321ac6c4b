// SPDX-License-Identifier: Apache-2.0
// What a model is made of and how it is trained: the parameters of one run, by name.
#pragma once
#include "harness/core/types.hpp"
#include "harness/core/variant.hpp"
#include "harness/train/corpus.hpp"

namespace recollect::train {

/// Every setting with its default, range and meaning.
const std::vector<ParamSpec> &settings();

/// One run. `mixer_params` are those of the layer that the setting `mixer` names; none where it is "none".
struct Setup {
  Params settings, mixer_params;
  std::shared_ptr<const Corpus> corpus = nullptr; // of task=text
  std::string mixer() const { return settings.text("mixer"); }
  const Variant *layer() const; // the mixer; null: "none"
};

/// Channels of a head.
int head_width(const Params &settings);
/// Heads that have a projection of their own to this input of the mixer, and the columns of all of those.
int heads_of(Tensor tensor, const Params &settings);
int columns_of(Tensor tensor, const Params &settings);

/// The settings given as text, and "LAYER.name" for parameters of layers; those of layers that are not the mixer are left
/// aside. Usage error for unknown names, bad values, a width that the heads do not divide.
Setup resolve_setup(const Assignments &given);
/// Every combination of the values given (sweep.hpp), in order of name.
std::vector<Setup> setups(const Assignments &given);

} // namespace recollect::train
