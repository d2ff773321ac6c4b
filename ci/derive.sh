#!/usr/bin/env bash
# Updates the files that are derived from layers, tasks, claims and papers: versions of claims, tables and pages of
# docs/, CITATION.cff. Run it after adding or changing one of these. Builds the program if it is not current. At the end
# it lists the derived files that differ from the last commit.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ ! -e build/CMakeCache.txt ]]; then
  echo "ci/derive.sh: no build folder; run ci/build.sh first" >&2
  exit 1
fi
python=$(sed -n 's/^RECOLLECT_PYTHON:[A-Z]*=//p' build/CMakeCache.txt) # another python3 may lack h5py
cmake --build build --target recollect
"$python" ci/claim_versions.py build/recollect
cmake --build build --target recollect # compiles the versions into the program
"$python" docs/render.py
"$python" ci/citation.py
git diff --stat -- harness/core/claim_versions.inc 'docs/*.md' CITATION.cff
