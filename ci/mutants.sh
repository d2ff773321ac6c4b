#!/usr/bin/env bash
# Mutation testing: do claims and tests detect small errors in the code?
#   ci/mutants.sh [--seed N] [--count N] [--jobs N] [--most-users N] [--first] [--from LIST] [file or folder ...]
# Draws mutants of predictions and measurements (ci/mutants/sites.py) in theory/ or the given places, and builds each in
# a scratch copy of the tree. For a file of theory/, runs the file's claims in the quick suite and, if the mutant
# survives, in the full suite. For other files, runs the file's own tests, then Python tests, then the tests of the
# whole folder (ci/mutants/judges.py), then claims in the quick suite. --first stops after the file's own tests.
# --most-users leaves out headers that more than N sources include, because each source must be built. --from takes
# mutants from a list such as ci/subtle_mutants.txt. Prints the outcome of each mutant, and the difference if it
# survived. The last line is "N killed, M survived, K equivalent". A mutant is equivalent if it changes no compiled
# output, or if ci/equivalent_mutants.txt explains it. Exit 0 only if the quick suite kills 85 % of the others and the
# full suite 95 %. CMAKE_BUILD_PARALLEL_LEVEL sets the number of compiler processes.
set -euo pipefail
exec python3 "$(dirname "$0")/mutants/run.py" "$@"
