#!/usr/bin/env bash
# Does the ledger notice small errors in its own theory?
#   ci/mutants.sh [--seed N] [--count N] [--jobs N] [--most-users N] [--first] [--from LIST] [file or folder ...]
# Draws mutants of predictions and measurements (ci/mutants/sites.py says which) in theory/ or the given places, builds
# each in a scratch copy of the tree, and runs the claims of its file in the quick suite, survivors in the full one; for
# files outside theory/ first the tests of the file, those in Python, those of the whole folder (ci/mutants/judges.py), and
# claims in the quick suite only. --first stops after the tests of the file; --most-users leaves out headers that more
# sources include, each of which must be built; --from takes mutants from a list such as ci/subtle_mutants.txt.
# Prints each with its fate, survivors with their difference. The last line is "N killed, M survived, K equivalent":
# equivalent are those that change no compiled output, and those that ci/equivalent_mutants.txt explains. Exit 0 only when
# the quick suite kills 85 % of the others and the full one 95 %. CMAKE_BUILD_PARALLEL_LEVEL says how many compilers run.
set -euo pipefail
exec python3 "$(dirname "$0")/mutants/run.py" "$@"
