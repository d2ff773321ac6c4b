#!/usr/bin/env bash
# Does the ledger notice small errors in its own theory?
#   ci/mutants.sh [--seed N] [--count N] [--jobs N] [file or folder ...]
# Draws mutants of predictions and measurements (ci/mutants/sites.py says which) in theory/ or the given places, builds
# each in a scratch copy of the tree, and runs the claims of its file in the quick suite, survivors in the full one; for
# files outside theory/ first the tests of the file.
# Prints each with its fate, survivors with their difference. The last line is "N killed, M survived, K equivalent":
# equivalent are those that change no compiled output, and those that ci/equivalent_mutants.txt explains. Exit 0 only when
# the quick suite kills 85 % of the others and the full one 95 %.
set -euo pipefail
exec python3 "$(dirname "$0")/mutants/run.py" "$@"
