# SPDX-License-Identifier: Apache-2.0
"""`verify --json-ld` read by a JSON-LD library (pyld): every id resolves, and expansion drops nothing."""
import json
import os
import subprocess
import tempfile
import unittest

import h5py

try:
    from pyld import jsonld
except ImportError:
    jsonld = None

PROGRAM = os.environ["RECOLLECT_PROGRAM"]
SCHEMA, PROV = "https://schema.org/", "http://www.w3.org/ns/prov#"


def verified(*words):
    """The JSON-LD document of a verification, and the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "v.jsonld")
        status = subprocess.run(
            [PROGRAM, "verify", *words, "--json-ld", path, "--quiet"], capture_output=True
        ).returncode
        with open(path, encoding="utf-8") as f:
            return json.load(f), status


def nodes(value):
    """Every object below a value."""
    if isinstance(value, list):
        return [n for v in value for n in nodes(v)]
    return [value] + [n for v in value.values() for n in nodes(v)] if isinstance(value, dict) else []


class LinkedData(unittest.TestCase):
    @unittest.skipUnless(jsonld, "no pyld here: the document was not expanded")
    def test_a_library_reads_the_document(self):
        document, status = verified("snr_linear", "snr_exp_median")
        self.assertEqual(status, 0)
        flat = jsonld.flatten(document, options={"base": "https://example.org/v.jsonld"})
        by_type = {}
        for node in flat:
            for kind in node.get("@type", []):
                by_type.setdefault(kind, []).append(node)
        self.assertEqual(len(by_type[SCHEMA + "Claim"]), 2)
        self.assertEqual(len(by_type[PROV + "Activity"]), 2)
        ids = {n["@id"] for n in flat}
        for review in by_type[SCHEMA + "ClaimReview"]:
            self.assertIn(review[SCHEMA + "itemReviewed"][0]["@id"], ids)
            run = next(n for n in flat if n["@id"] == review[PROV + "wasGeneratedBy"][0]["@id"])
            self.assertEqual(run[SCHEMA + "instrument"][0]["@id"], "https://example.org/v.jsonld#recollect")
        dropped = {key for node in nodes(document["@graph"]) for key in node if not key.startswith("@")}
        kept = {
            key.replace(SCHEMA, "").replace(PROV, "prov:") for node in flat for key in node if not key.startswith("@")
        }
        self.assertEqual(dropped, kept)

    def test_the_command_of_a_review_reaches_its_verdict(self):
        document, _ = verified("snr_exp_median", "--seed", "3")
        review = next(n for n in document["@graph"] if n["@type"] == "ClaimReview")
        self.assertRegex(review["itemReviewed"]["@id"], r"^#000/snr_exp_median@\d+$")
        words = review["prov:wasGeneratedBy"]["name"].split()
        self.assertEqual(words, ["recollect", "verify", "snr_exp_median", "--seed", "3"])
        again, status = verified(*words[2:])
        self.assertEqual(status, 0)
        self.assertEqual(
            [n.get("additionalProperty") for n in again["@graph"]],
            [n.get("additionalProperty") for n in document["@graph"]],
        )


class Addresses(unittest.TestCase):
    def test_every_output_has_the_same_version(self):
        listed = subprocess.run(
            [PROGRAM, "list", "claims", "snr_exp", "--json"], capture_output=True, check=True
        ).stdout
        (claim,) = json.loads(listed)
        self.assertEqual(claim["address"], f"000/snr_exp@{claim['version']}")
        explained = subprocess.run([PROGRAM, "explain", "snr_exp"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(explained, rf"^claim +{claim['address']}\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "v.h5")
            subprocess.run([PROGRAM, "verify", "snr_exp", "-o", path, "--quiet"], capture_output=True, check=True)
            with h5py.File(path, "r") as file:
                self.assertEqual(list(file["claim_texts"]["version"]), [claim["version"]])
            subprocess.run(
                [PROGRAM, "report", path, "-o", folder + "/site", "--quiet"], capture_output=True, check=True
            )
            with open(folder + "/site/claims/snr_exp.html", encoding="utf-8") as page:
                self.assertIn(f"<code>{claim['address']}</code>", page.read())


if __name__ == "__main__":
    unittest.main()
