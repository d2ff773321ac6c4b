# SPDX-License-Identifier: Apache-2.0
"""Untrusted files: a limited run of hostile.py, and HDF5 files that are well-formed but malicious."""
import os
import pathlib
import struct
import sys
import unittest
import zipfile
import zlib

import h5py
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "reports")]
import hostile  # noqa: E402
import synthetic  # noqa: E402
from in_folder import InFolder  # noqa: E402

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
COUNT = int(os.environ.get("RECOLLECT_DAMAGED", "25"))  # per command; by hand: 4000
SHAPE = (1, 1, 3, 2)
# Limit on processor time for reading a file, including children. A valid file of this size takes 0.03 s, under
# sanitizers less than one; reading all elements that a malicious header declares took 10 to 17.
SECONDS = 3


class Hostile(InFolder):
    def setUp(self):
        super().setUp()
        self.input, self.output, self.results = (self.path(n) for n in ("x.h5", "o.h5", "r.h5"))

    def call(self, *words):
        done = hostile.run(PROGRAM, *words)
        self.assertEqual(hostile.complaint(done), "")
        return done

    def test_the_corpus_is_read(self):
        for name, said, _ in hostile.attack(PROGRAM, 0):
            self.assertEqual(said, "", name)

    def test_damaged_inputs_end_in_a_line(self):
        for name, said, _ in hostile.attack(PROGRAM, COUNT, ("forward", "check", "info", "diff", "merge", "verify", "run")):
            self.assertEqual(said, "", name)

    def forward(self, message, status=3, **changes):
        """Runs forward on q, k, v and beta, some replaced by `changes`: name -> function of (file, name), or an
        array."""
        if os.path.exists(self.input):
            os.remove(self.input)
        with h5py.File(self.input, "w") as f:
            for name in ("q", "k", "v", "beta"):
                made = changes.get(name, np.full(SHAPE if name != "beta" else SHAPE[:3], 0.5))
                if callable(made):
                    made(f, name)
                else:
                    f[name] = made
        done = self.call("forward", "delta_net", "-i", self.input, "-o", self.output, "--memory", "64M")
        self.assertEqual(done.status, status, done.err)
        self.assertIn(message, done.err)
        self.assertEqual(os.path.exists(self.output), status == 0)
        self.assertLess(done.seconds, SECONDS)
        self.assertLess(done.bytes, 256 << 20)

    def test_sizes_that_lie(self):
        def declared(*shape, chunks=None):
            return lambda f, name: f.create_dataset(name, shape=shape, dtype="f8", chunks=chunks)

        self.forward("", status=0)
        os.remove(self.output)
        wrapping = (1 << 31, 1 << 31, 4, 1)  # 2^64 in all, which wraps to a small product
        for shape in (1 << 20, 1, 1 << 10, 2), wrapping:
            self.forward("more than the file holds", q=declared(*shape, chunks=(1, 1, 1, 1)))
        self.forward("more than the file holds", k=declared(1, 1, 1 << 40, 2))
        for shape in (1, 1, 0, 2), (1, 0, 3, 2):
            self.forward("every size at least 1", q=np.zeros(shape))
        self.forward("needs [B,H,T,Dk]", q=np.zeros((3, 2)))
        self.forward("needs [B,H,T,Dk]", q=np.float64(1))
        self.forward("to match q", v=np.zeros((1, 1, 4, 2)))

    def test_compression_bombs(self):
        def bomb(f, name):
            f.create_dataset(name, data=np.zeros((1, 1, 8 << 20, 2), "f4"), compression="gzip", compression_opts=9)

        self.forward("more than --memory allows", q=bomb)
        with zipfile.ZipFile(self.path("bomb.npz"), "w", zipfile.ZIP_DEFLATED) as archive:
            for name in "qkv":
                archive.writestr(name + ".npy", bytes(256 << 20))
        done = self.call("forward", "linear", "-i", self.path("bomb.npz"), "-o", self.output, "--memory", "64M")
        self.assertEqual(done.status, 3, done.err)
        self.assertLess(done.bytes, 256 << 20)

    def test_what_is_well_packed_and_genuine_is_read(self):
        """48 MiB in 50 kB, as much as deflate can. Where memory is short, that is what is said."""
        mebibytes = int(os.environ.get("RECOLLECT_PACKED", "48"))  # by hand: 800
        zeros = np.zeros((1, 1, (mebibytes << 20) // (3 * 32 * 8), 32))
        np.savez_compressed(self.path("packed.npz"), q=zeros, k=zeros, v=zeros)
        self.assertGreater(3 * zeros.nbytes, 1000 * os.path.getsize(self.path("packed.npz")))
        words = ("forward", "linear", "-i", self.path("packed.npz"), "-o", self.output)
        done = hostile.run(PROGRAM, *words)
        self.assertEqual(done.status, 0, done.err)
        self.assertEqual([line for line in done.err.splitlines() if not line.endswith(" so far")], [])
        done = self.call(*words, "--memory", "20M")
        self.assertEqual(done.status, 3, done.err)
        self.assertIn("--memory allows", done.err)

    def test_types(self):
        plain = np.full(SHAPE, 0.5)
        self.forward("an integer type", q=np.ones(SHAPE, "i4"))
        self.forward("an integer type", q=np.ones(SHAPE, bool).astype("i1"))
        self.forward("non-numeric type", q=plain.astype(complex))
        self.forward("non-numeric type", q=np.full(SHAPE, b"0.5"))

        def rows(f, name):
            made = f.create_dataset(name, SHAPE, h5py.vlen_dtype("f8"))
            for at in np.ndindex(SHAPE):
                made[at] = np.ones(3)

        self.forward("non-numeric type", q=rows)
        self.forward("no readable shape", q=lambda f, n: f.create_dataset(n, data=h5py.Empty("f8")))
        self.forward("not a readable dataset", q=lambda f, n: f.create_group(n))
        for kind in "f2", "f4", "f8", ">f2", ">f4", ">f8":  # in either byte order
            self.forward("", status=0, q=plain.astype(kind))
            with h5py.File(self.output) as f:
                np.testing.assert_allclose(f["o"][0, 0, 0, 0], 0.5 * 0.5 * 0.5 * 2 * 0.5, rtol=1e-12)
            os.remove(self.output)

    def test_numbers_that_are_none(self):
        for bad in float("nan"), float("inf"), struct.unpack("<d", b"\1\0\0\0\0\0\xf4\x7f")[0]:  # the last one signals
            self.forward("non-finite value", v=np.full(SHAPE, bad))
        self.forward("non-finite value", beta=np.full(SHAPE[:3], float("nan")))

    def test_links(self):
        with h5py.File(self.path("secret.h5"), "w") as f:
            f["q"] = np.full(SHAPE, 0.5)
        self.forward("a link elsewhere", q=lambda f, n: f.__setitem__(n, h5py.ExternalLink("secret.h5", "/q")))
        self.forward("a link elsewhere", q=lambda f, n: f.__setitem__(n, h5py.SoftLink("/q")))
        self.forward("a link elsewhere", q=lambda f, n: f.__setitem__(n, h5py.SoftLink("/k")))

        def virtual(f, name):
            layout = h5py.VirtualLayout(SHAPE, "f8")
            layout[...] = h5py.VirtualSource("secret.h5", "q", shape=SHAPE)
            f.create_virtual_dataset(name, layout)

        self.forward("in other files", q=virtual)
        raw = self.path("raw")
        np.full(SHAPE, 0.5).tofile(raw)
        external = [(raw.encode(), 0, h5py.h5f.UNLIMITED)]
        self.forward("in other files", q=lambda f, n: f.create_dataset(n, SHAPE, "f8", external=external))

    def test_results_with_loops_and_strange_tables(self):
        def changed(change, *more):
            synthetic.write_claims(self.results, [("additive", "linear")], count=3, kernels=())
            with h5py.File(self.results, "a") as f:
                change(f)
            statuses = set()
            for words in ["info", self.results], ["diff", self.results, self.results], *more:
                done = self.call(*words)
                self.assertLess(done.bytes, 256 << 20)
                statuses.add(done.status)
            self.assertTrue(statuses <= {0, 3}, statuses)

        report = ["report", self.results, "-o", self.path("page")]
        changed(lambda f: f.__setitem__("loop", h5py.SoftLink("/loop")))
        changed(lambda f: f.create_group("a").__setitem__("up", f["/"]))  # a hard link to the root: a cycle
        changed(lambda f: f.__setitem__("series", f["/"]))
        changed(lambda f: f["claims"].attrs.__setitem__("x", 1))
        changed(lambda f: f.move("claims", "claim_parameters_"))
        changed(lambda f: (f.__delitem__("claims"), f.__setitem__("claims", np.zeros(3, [("finding", "f8"), ("claim", "S4")]))), report)

        def repeated(f):  # a million rows that point to one text: 64 GiB from a file of 230 kB
            del f["claims"]
            kind = np.dtype([("claim", h5py.string_dtype())])
            rows = f.create_dataset("claims", (1 << 20,), kind, chunks=(1 << 10,), compression="gzip")
            rows[0] = ("x" * (1 << 16),)
            f.flush()
            first_row = zlib.decompress(rows.id.read_direct_chunk((0,))[1])[:16]  # the text's length and address
            for first in range(0, 1 << 20, 1 << 10):
                rows.id.write_direct_chunk((first,), zlib.compress(first_row * (1 << 10)))

        def many_texts(f):  # many texts where one is expected would overflow its buffer
            kinds = h5py.string_dtype(), "S8"
            for i, name in enumerate(list(f["meta"].attrs)):
                f["meta"].attrs.create(name, np.full(1000, b"x" * 8, kinds[i % 2]), dtype=kinds[i % 2])

        changed(many_texts, report)
        changed(repeated, report)

    def test_attributes_and_tables_of_other_writers(self):
        """Another program may store a text or number in several ways; what is no text or number makes no results file."""

        def info(change, status, message=""):
            synthetic.write_claims(self.results, [("additive", "linear")], count=3, kernels=())
            with h5py.File(self.results, "a") as f:
                change(f)
            done = self.call("info", self.results)
            self.assertEqual(done.status, status, done.err)
            self.assertIn(message, done.err)

        def attribute(name, value, kind=None):
            return lambda f: f.attrs.create(name, value, dtype=kind)

        synthetic.write_claims(self.results, [("additive", "linear")], count=3, kernels=())
        with h5py.File(self.results) as f:
            schema = f.attrs["schema"]
        schema = schema if isinstance(schema, bytes) else schema.encode()
        info(attribute("schema", np.bytes_(schema)), 0)  # of fixed length
        info(attribute("schema", schema, h5py.string_dtype()), 0)
        nothing = "is no results file"
        info(lambda f: f.attrs.__delitem__("schema"), 3, nothing)
        for value in 1, np.array([schema, schema]), np.bytes_(b"x" * 60000), b"":
            info(attribute("schema", value), 3, nothing)
        info(attribute("schema", h5py.Empty("S1")), 3, nothing)
        info(lambda f: f.attrs.__delitem__("schema_version"), 3, nothing)
        for value in 0, -1, 2.0, "2", np.array([2, 2]), h5py.Empty("i8"):
            info(attribute("schema_version", value), 3, nothing)
        info(attribute("schema_version", 1000), 3, "this program reads up to")

        def table(kind, shape=(2,)):
            return lambda f: f.create_dataset("extra", data=np.zeros(shape, kind))

        info(table([("a", "i8"), ("b", "f4"), ("c", "S3")]), 0)
        info(table([("a", "i8")], (2, 2)), 3, "is not a table")
        for kind in ("i8", (2,)), [("x", "i8")], np.dtype("c16"):
            info(table([("a", *kind)] if isinstance(kind, tuple) else [("a", kind)]), 3, "neither a number nor a text")
        empty = np.array([("",), ("",)], [("a", h5py.string_dtype())])
        info(lambda f: f.create_dataset("extra", data=empty), 0)

        own = self.path("own.h5")
        self.call("run", "--variants", "linear", "--tasks", "recall", "--seeds", "1", "-o", own)
        for value in None, "1", np.array([1, 2], "u8"), np.uint64(1):
            with h5py.File(own, "a") as f:
                del f.attrs["digest"]
                if value is not None:
                    f.attrs["digest"] = value
            done = self.call("info", own)
            self.assertEqual((done.status, done.err.count("is damaged")), (3, 1), done.err)
            with h5py.File(own, "a") as f:
                f.attrs["digest"] = np.uint64(0)

    def test_a_report_escapes_and_stays_in_its_folder(self):
        evil = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&\x1b[31m"
        synthetic.write_claims(self.results, [("additive", "linear")], count=14, failing=1, kernels=())
        with h5py.File(self.results, "a") as f:
            for name in "claim_texts", "claims", "claim_parameters":
                table = f[name][()]
                for column in table.dtype.names:
                    if column in ("statement", "exact", "explanation", "source", "label", "parameters", "text", "scope_"):
                        table[column] = evil.encode()
                f[name][...] = table
            for name in f["meta"].attrs:
                f["meta"].attrs[name] = np.bytes_(evil)
        for words in ["info", self.results], ["diff", self.results, self.results, "--format", "md"]:
            self.assertNotIn("\x1b", self.call(*words).out)
        page = self.path("page")
        self.assertEqual(self.call("report", self.results, "-o", page).status, 0)
        self.assertEqual(sorted(os.listdir(self.folder)), ["page", "r.h5"])
        pages = [path.read_text() for path in pathlib.Path(page).rglob("*.html")]
        self.assertGreater(len(pages), 14)
        self.assertTrue(any("&lt;script&gt;alert(1)" in text for text in pages))
        for text in pages:
            self.assertNotIn("<script>alert", text)
            self.assertNotIn("<img src=x", text)
        for name in evil, "../../../../../../.." + self.path("escaped"):  # names that would become the names of pages
            with h5py.File(self.results, "a") as f:
                table = f["claim_texts"][()]
                table["claim"][3] = name[:63].encode()
                f["claim_texts"][...] = table
            self.assertEqual(self.call("report", self.results, "-o", self.path("other")).status, 3)
            self.assertEqual(sorted(os.listdir(self.folder)), ["page", "r.h5"])


if __name__ == "__main__":
    unittest.main()
