// SPDX-License-Identifier: Apache-2.0
// The settings of a training run: how its model is built and trained.
#pragma once
#include "harness/core/types.hpp"
#include "harness/core/variant.hpp"
#include "harness/train/corpus.hpp"

namespace recollect::train {

/// Every setting with its default, range and meaning.
const std::vector<ParamSpec> &settings();

/// The settings of one run. `mixer_params` are the parameters of the layer that the setting `mixer` names; empty if
/// mixer is "none".
struct Setup {
  Params settings, mixer_params;
  std::shared_ptr<const Corpus> corpus = nullptr; // only for task=text
  std::string mixer() const { return settings.text("mixer"); }
  const Variant *layer() const; // the mixer; null if it is "none"
};

/// Number of channels of one head.
int head_width(const Params &settings);
/// The number of heads for which this input of the mixer is projected. If it is less than the setting `heads`, several
/// heads of the mixer share a projection. columns_of() is the number of columns of all these projections together.
int heads_of(Tensor tensor, const Params &settings);
int columns_of(Tensor tensor, const Params &settings);

/// Parses settings. "LAYER.name" is a parameter of a layer, and is ignored unless the layer is the mixer. Usage error
/// for unknown names, bad values, and settings that do not fit together, such as a width that is not a multiple of the
/// number of heads.
Setup resolve_setup(const Assignments &given);
/// A setup for every combination of the given values (sweep.hpp). The value of the last setting, in the order of names,
/// changes fastest.
std::vector<Setup> setups(const Assignments &given);

} // namespace recollect::train
