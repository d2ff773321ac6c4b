# SPDX-License-Identifier: Apache-2.0
"""Which claims, suites of C++ tests and Python tests may fail if a file is changed."""
import os
import re

from scratch import ROOT

# {source of harness/: Python tests that run it through the program}. C++ tests are found by their names.
PYTHON = {
    "test_check": "battery check check_command diagnosis judge noise print_check results sample_command samples users_case "
    "users_check",
    "test_check_conventions": "convention fused in_convention layer_inputs npy packed shared_heads tensors users_case users_check",
    "test_durability": "child files hdf5_file hdf5_image recorder results results_commands run_command start subprocess",
    "test_forward": "forward forward_command gradient make_call npy segment tensor_file tensors",
    "test_hostile": "child digest hdf5_file npy results results_commands tensor_file tensors",
    "test_ranks": "along_ranks files hand_out packing plan ranks recorder results_commands run run_command segment tune",
    "test_schemas": "diff hdf5_file results results_commands",
    "test_terminal": "cli list_command print print_cells print_explain print_findings progress report_command table "
    "verify_command",
    "test_train": "corpus mixer model network settings texts train_command trainer training_record weights",
    "test_train_torch": "adjoint layers mixer model network texts trainer",
}


def sources(places):
    """The C++ files among these places, relative to the root, except those that only a GPU's compiler reads."""
    found = set()
    for place in places:
        path = os.path.join(ROOT, os.path.relpath(os.path.abspath(place), ROOT))
        if not os.path.exists(path):
            raise SystemExit(f"mutants: no such file or folder: {place}")
        inside = [os.path.join(f, n) for f, _, names in os.walk(path) for n in names] if os.path.isdir(path) else [path]
        found |= {os.path.relpath(n, ROOT) for n in inside if n.endswith((".cpp", ".hpp")) and "_cuda." not in n}
    return sorted(found)


def users(name, everything):
    """The file, and every source that includes it directly or through other headers."""
    includes = {f: set(re.findall(r'#include "([^"]+)"', text)) for f, text in everything.items()}
    found, new = {name}, {name}
    while new:
        new = {f for f, named in includes.items() if named & new} - found
        found |= new
    return found


def claims_of(name, claims, everything):
    """The claims that may fail if the file is changed: for a file of theory/ the claims in the file and in files that include
    it; for a layer or a task the claims that run it; for the harness all claims."""
    if name.startswith("theory/"):
        mine = users(name, everything) | users(os.path.splitext(name)[0] + ".hpp", everything)  # support: of its header
        return [c["id"] for c in claims if c["file"] in mine]
    stems = {os.path.basename(f).split(".")[0] for f in users(name, everything) if f.startswith(("variants/", "tasks/"))}
    if name.startswith("harness/") or not stems:
        return [c["id"] for c in claims]
    run = [c["id"] for c in claims if stems & {*c["variants"], *c["tasks"]}]
    return run + [c["id"] for c in claims if c["id"] == "chunk_equals_recurrent" and c["id"] not in run]


def suites_in(path):
    """The Boost suite of a test file, as --run_test takes it."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        suites = re.findall(r"BOOST_AUTO_TEST_SUITE\((\w+)\)", f.read())
    return {"/".join(suites[:2])} if suites else set()


def tests_of(name, everything):
    """The suites to run one after the other: first those of the file and of the files that include it; then those of all
    layers, all tasks, or the whole harness."""
    folder = name.split("/")[0]
    if folder == "theory":
        return []  # a file of theory/ is tested by its claims
    own = {os.path.splitext(f)[0] for f in users(name, everything)}
    entries = {os.path.splitext(f)[0] for f in everything if f.endswith(".cpp")}
    first, second = set(), {"harness"} if folder == "harness" else set()
    for path in sources([os.path.join(ROOT, "tests", folder)]):
        stem = os.path.splitext(os.path.relpath(path, "tests"))[0]
        if stem in own:
            first |= suites_in(path)
        elif folder != "harness" and stem not in entries:
            second |= suites_in(path)
    return [sorted(some) for some in (first, second) if some]


def python_tests_of(name):
    """The Python tests that the table names for a file of harness/."""
    stem = os.path.splitext(os.path.basename(name))[0]
    return sorted(t for t, stems in PYTHON.items() if name.startswith("harness/") and stem in stems.split())
