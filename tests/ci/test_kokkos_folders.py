# SPDX-License-Identifier: Apache-2.0
"""nvcc_wrapper compiles only the folders that CMakeLists.txt names as Kokkos's; every other source goes to the host compiler,
which cannot read Kokkos's headers for CUDA. A build for CPUs does not notice, so that this test reads the includes."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^#include ["<]([^">]+)[">]', re.M)


def included(path, seen):
    """Adds the names of all headers that a source includes, directly or not."""
    for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        if name not in seen:
            seen.add(name)
            if (ROOT / name).exists():
                included(ROOT / name, seen)
    return seen


class KokkosFolders(unittest.TestCase):
    def test_host_sources_include_no_header_of_kokkos(self):
        cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        folders = re.compile(re.search(r'set\(kokkos_folders "([^"]+)"\)', cmake).group(1))
        device_tests = re.compile(re.search(r'MATCHES "(tests/[^"]+)"\)', cmake).group(1))
        host, found = 0, []
        for folder in ("harness", "tasks", "theory", "tests"):
            for source in sorted((ROOT / folder).rglob("*.cpp")):
                path = str(source.relative_to(ROOT))
                if not folders.match(path) and not device_tests.search(path) and not path.startswith(("tests/fuzz/", "tests/fixtures/")):
                    host += 1
                    found += [f"{path} includes {name}" for name in included(source, set()) if name.startswith("Kokkos")]
        self.assertGreater(host, 200)
        self.assertEqual(found, [])
