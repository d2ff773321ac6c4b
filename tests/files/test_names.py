# SPDX-License-Identifier: Apache-2.0
"""File names of users: with a leading dash, with bytes that are not UTF-8, with spaces and quotes."""
import os
import pathlib
import subprocess
import unittest

from in_folder import InFolder

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
STEMS = b"-x", b"b\xff\xfed", "Schl\u00fcssel a'b\"&amp;<b>".encode()


class Names(InFolder):
    def call(self, *words, status=0):
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, status, (words, done.stdout, done.stderr))
        if status == 0:
            self.assertEqual(done.stderr, b"")
        return done

    def test_every_command_takes_every_name(self):
        for stem in STEMS:
            with self.subTest(stem=stem):
                results, again, tensors, outputs = stem + b".h5", stem + b"2.h5", stem + b".npz", stem + b"o.npz"
                self.call("run", "--variants", "linear", "--tasks", "recall", "--seeds", "1", "--quiet", "-o", results)
                self.call("verify", "eq97-matrix-form", "-o", again, "--json", stem + b".json", "--junit", stem + b".xml", "--quiet")
                self.assertIn(b".h5", self.call("info", "--", results).stdout)
                self.call("info", "--json", "--", results).stdout.decode()  # is UTF-8
                self.call("diff", "--", results, results)
                self.call("merge", "-o", stem + b"m.h5", "--", results)
                self.call("report", "-o", stem, "--quiet", "--", results, again)
                self.call("report", "-o", stem + b"t", "--format", "md", "--csv", "--quiet", "--", results, again)
                pages = list(pathlib.Path(os.fsdecode(os.path.join(os.fsencode(self.folder), stem))).rglob("*.html"))
                self.assertGreater(len(pages), 3)
                for page in pages:
                    page.read_text(encoding="utf-8")
                self.call("sample", "linear", "--shape", "1,1,4,2,2", "-o", tensors)
                self.call("forward", "linear", "-i", tensors, "-o", outputs)
                self.call("check", "linear", "-i", tensors, "-c", outputs)
                pathlib.Path(os.fsdecode(os.path.join(os.fsencode(self.folder), stem + b".toml"))).write_text('claims = ["eq97-matrix-form"]\n')
                self.call("verify", "--suite", stem + b".toml", "--quiet")

    def test_a_missing_file_is_named_as_a_terminal_can_show_it(self):
        for name, shown in ((b"-x.h5", b"-x.h5"), (b"--x.h5", b"--x.h5"), (b"b\xff.h5", b"b?.h5"), (b"a\x1b[31m.h5", b"a?[31m.h5")):
            self.assertEqual(self.call("info", "--", name, status=3).stderr, b"recollect: no such file: " + shown + b"\n")

    def test_a_dash_without_its_sign_names_the_remedy(self):
        said = self.call("info", "-x.h5", status=2).stderr
        self.assertIn(b"./-NAME", said)
        self.assertEqual(said.count(b"\n"), 1)


if __name__ == "__main__":
    unittest.main()
