# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the report: its pages, parsed, and a folder for each test."""
import html.parser
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
REPORTS = os.path.join(ROOT, "reports")
sys.path[:0] = [HERE, ROOT, os.path.join(REPORTS, "python")]


def run(*arguments, **environment):
    words = [sys.executable, os.path.join(REPORTS, "report.py"), *arguments]
    return subprocess.run(words, capture_output=True, text=True, env={**os.environ, **environment})


class Page(html.parser.HTMLParser):
    """Links, anchors, images and text of a page."""

    def __init__(self, path):
        super().__init__()
        self.references, self.ids, self.words, self.rows, self.images = [], [], [], [], []
        self.quiet, self.formula = None, 0  # a formula is read as its plain notation; nesting depth in its spans
        with open(path, encoding="utf-8") as f:
            self.source = f.read()
        self.feed(self.source)

    def handle_starttag(self, tag, attributes):
        self.quiet = tag if tag in ("style", "script") else None
        self.formula += self.formula > 0 and tag == "span"
        if "data-plain" in dict(attributes):
            self.formula = 1
            self.words.append(dict(attributes)["data-plain"])
        for name, value in attributes:
            if name in ("src", "href", "srcset", "data", "poster", "action"):
                self.references.append(value)
            if name == "id":
                self.ids.append(value)
        if tag == "tr" and "data-outcome" in dict(attributes):
            self.rows.append(dict(attributes))
        if tag == "img":
            self.images.append(dict(attributes))

    def handle_endtag(self, tag):
        self.quiet = None
        self.formula -= self.formula > 0 and tag == "span"

    def handle_data(self, data):
        if not self.quiet and not self.formula:
            self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())


class ReportCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.runs, self.verdicts, self.out = (os.path.join(self.folder, n) for n in ("r.h5", "v.h5", "out"))

    def written(self, *files):
        done = run(*files, "-o", self.out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return self.page("index.html")

    def page(self, path):
        return Page(os.path.join(self.out, path))

    def pages(self):
        found = {}
        for folder, _, files in os.walk(self.out):
            for name in files:
                if name.endswith(".html"):
                    path = os.path.relpath(os.path.join(folder, name), self.out)
                    found[path] = self.page(path)
        return found

    def says(self, page, words):
        self.assertTrue(words in page.text, words)  # assertIn would print the whole page

    def refused(self, message, *files, out=None):
        done = run(*files, "-o", out or self.out)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertFalse([n for n in os.listdir(self.folder) if n.startswith(".report") or n == "out"])
