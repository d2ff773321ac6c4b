// SPDX-License-Identifier: Apache-2.0
// How a model is built and trained: the parameters of one run, by name.
#pragma once
#include "harness/core/types.hpp"
#include "harness/core/variant.hpp"
#include "harness/train/corpus.hpp"

namespace recollect::train {

/// Every setting with its default, range and meaning.
const std::vector<ParamSpec> &settings();

/// One run. `mixer_params` are the parameters of the layer that the setting `mixer` names; none for "none".
struct Setup {
  Params settings, mixer_params;
  std::shared_ptr<const Corpus> corpus = nullptr; // only for task=text
  std::string mixer() const { return settings.text("mixer"); }
  const Variant *layer() const; // the mixer; null: "none"
};

/// Channels of a head.
int head_width(const Params &settings);
/// Heads that have their own projection to this input of the mixer, and the number of columns of all these projections.
int heads_of(Tensor tensor, const Params &settings);
int columns_of(Tensor tensor, const Params &settings);

/// Settings from text, with "LAYER.name" for parameters of layers; those of layers other than the mixer are ignored.
/// Usage error for unknown names, bad values, and a width that the heads do not divide.
Setup resolve_setup(const Assignments &given);
/// Every combination of the given values (sweep.hpp), ordered by name.
std::vector<Setup> setups(const Assignments &given);

} // namespace recollect::train
