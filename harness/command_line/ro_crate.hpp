// SPDX-License-Identifier: Apache-2.0
// The metadata file of an RO-Crate 1.1 (https://w3id.org/ro/crate/1.1): results files, the runs that wrote them, and
// other files in the same folder.
#pragma once
#include "harness/files/results.hpp"
#include <cstdint>

namespace recollect {

struct CrateFile {
  std::string name; // name of the file in the crate
  std::uint64_t bytes = 0;
  Facts run; // /meta of a results file; empty for other files
};

/// Whether `metadata`, the text of a crate's metadata file, lists `file`. False if the text is not such metadata.
bool names_file(const std::string &metadata, const std::string &file);

/// The text of ro-crate-metadata.json, in flattened JSON-LD. `license` is an SPDX id such as CC-BY-4.0. The date of the
/// crate is the date of its newest run. Logic error if no file is a results file.
std::string crate_metadata(const std::string &name, const std::string &license, const std::vector<CrateFile> &files);

} // namespace recollect
