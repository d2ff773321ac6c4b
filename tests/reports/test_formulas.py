# SPDX-License-Identifier: Apache-2.0
"""Formulas: how they are found in texts, written as TeX, and inserted into a site."""
import json
import os
import re
import subprocess
import tempfile
import unittest
import unittest.mock

import h5py
import synthetic
from pages import ReportCase, run  # noqa: I001: finds the modules below
from reports.site import formulas

PROGRAM = os.environ.get("RECOLLECT_PROGRAM", "")
KATEX = unittest.skipUnless(formulas.available(), "no KaTeX here: no formula was typeset")


def marked(text):
    return "".join(f"[{part}]" if formula else part for formula, part in formulas.parts(text))


class Texts(unittest.TestCase):
    def test_only_marks_make_formulas(self):
        self.assertEqual(marked("$a$ unit key $k$, and x_t"), "[a] unit key [k], and x_t")
        self.assertEqual(marked("5 $ and x_t"), "5 $ and x_t")  # an unpaired mark

    def test_tex(self):
        for plain, tex in (
            ("S_{t-1} k_t^T", r"S_{t-1}\,k_{t}^{\top}"),
            ("N / exp(2 (tau-1)/tau^2 d_k)", r"N/\exp (2\,(\tau-1)/\tau^{2}\,d_{k})"),
            ("(1 + sqrt(5 - 4c)) / 2", r"(1+\sqrt{5-4c})/2"),
            ("2 sqrt Dk", r"2\,\sqrt{D_{k}}"),
            ("dL/dS_T, J_T x_T^T", r"\mathrm{d}L/\mathrm{d}S_{T},J_{T}\,x_{T}^{\top}"),
            ("1.618^T (1 - 1/d)^T, u_1 v_1^T", r"1.618^{T}\,(1-1/d)^{T},u_{1}\,v_{1}^{\top}"),
            ("(I - a k^T)^T ((1 - b) * k)^T", r"(I-a\,k^{\top})^{\top}\,((1-b)\cdot k)^{\top}"),
            ("lambda0 <= .1", r"\lambda_{0}\le .1"),
            ("(1+2a)^(-d/2)", r"(1+2a)^{-d/2}"),
            ("Wk^+ E[xx^T]^-1", r"W_{k}^{+}\,E[xx^{\top}]^{-1}"),
            ("S* = a * b", r"S^{*}=a\cdot b"),
            ("sum_{i<=t} v_i, i = 1..t", r"\sum_{i\le t}\,v_{i},i=1\dots t"),
            ("e^|s| <q, k_i>", r"e^{|s|}\,\langle q,k_{i}\rangle"),
            ("a.k != 3e-4", r"a\cdot k\ne 3\cdot 10^{-4}"),
            ("z_t . phi(q_t)", r"z_{t}\cdot \phi(q_{t})"),
            ("M^[0] >= -inf", r"M^{[0]}\ge -\infty"),
        ):
            self.assertEqual(re.sub(r" (?=[^a-z.(]|$)", "", formulas.tex(plain)), re.sub(r" (?=[^a-z.(]|$)", "", tex), plain)

    def test_relations_outside_formulas_are_one_character(self):
        self.assertEqual(re.sub("<[^>]*>", "", str(formulas.Formulas().mark("norm <= one -> two +- 3 <b>"))),
                         "norm ≤ one → two ± 3 &lt;b&gt;")  # fmt: skip

    def test_punctuation_stays_with_a_short_formula(self):
        site = formulas.Formulas()
        ((_, html),) = site.fill([("a", str(site.mark("whatever $a$, or $a + b + c + d + e$.")))])
        self.assertRegex(html, r'<span class="tied"><span class="formula" data-plain="a">.*?</span>,</span> or ')
        self.assertEqual(html.count("tied"), 1)  # a long formula may be broken into lines

    def test_unicode_where_nothing_typesets(self):
        self.assertEqual(formulas.unicode("alpha k^T <= eps x_t"), "α kᵀ ≤ ε xₜ")
        self.assertEqual(formulas.unicode("Wk^+ W_v != sqrt(d), n -> 2^+x"), "Wk⁺ Wᵥ ≠ √(d), n → 2^+x")

    @KATEX
    @unittest.skipUnless(PROGRAM, "needs the program")
    def test_every_formula_of_the_program_is_typeset(self):
        found = set()
        for kind in ("claims", "variants", "tasks"):
            listed = subprocess.run([PROGRAM, "list", kind, "--json"], check=True, capture_output=True, text=True).stdout
            for text in texts_of(json.loads(listed)):
                self.assertEqual(text.count("$") % 2, 0, text)
                for i, piece in enumerate(pieces := text.split("$")):
                    if i % 2:  # a formula is marked whole: brackets, roots and arguments with it
                        self.assertEqual(piece.count("("), piece.count(")"), text)
                        self.assertNotRegex(piece, r"(?<!_)(sqrt|exp|log|sum|max|min)\s*$|^exp \.\d", text)
                        self.assertNotRegex(pieces[i + 1], r"^([(_^]| [/^] \()", text)
                    elif kind == "claims":
                        self.assertNotRegex(piece, r"[A-Za-z0-9)\]|]\^[-+({A-Za-z0-9|\[]|_\{|\bsqrt[ (]|\b[A-Za-z]_[a-z0-9]\b", text)
                found |= {formulas.tex(part) for formula, part in formulas.parts(text) if formula}
        self.assertGreater(len(found), 500)
        self.typeset(found)

    def typeset(self, found):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=folder):
            self.assertEqual(found - set(formulas.typeset(sorted(found))), set())

    @KATEX
    @unittest.skipUnless(PROGRAM, "needs the program")
    def test_labels_of_points_have_marks_in_result_files_only(self):
        with tempfile.TemporaryDirectory() as folder:
            kept, told, junit = (os.path.join(folder, name) for name in ("v.h5", "v.json", "v.xml"))
            words = ("verify", "deltanet_norm", "vla_prop3_exact_recovery", "-o", kept, "--json", told, "--junit", junit, "--points")
            shown = subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True).stdout
            with h5py.File(kept) as file:
                labels = {row["label"].decode() for row in file["claims"][()]}
                parameters = {row["parameters"].decode() for row in file["claims"][()]}
            with open(told, encoding="utf-8") as f:
                claims = json.load(f)["claims"]
            with open(junit, encoding="utf-8") as f:
                self.assertNotIn("$", shown + f.read() + "".join(parameters))
        said = {p["label"] for c in claims for p in c["points"]} | {p["name"] for c in claims for p in c["rivals"]}
        self.assertEqual(said, {label.replace("$", "") for label in labels})
        found = {formulas.tex(part) for label in labels for formula, part in formulas.parts(label) if formula}
        self.assertGreater(len(found), 10)
        self.typeset(found)

    @unittest.skipUnless(PROGRAM, "needs the program")
    def test_the_terminal_shows_no_marks(self):
        """The plain notation of every marked text, as written in the source."""
        def said(*words):
            return subprocess.run([PROGRAM, *words], check=True, capture_output=True, text=True).stdout

        claims = json.loads(said("list", "claims", "--json"))
        marks = [c["id"] for c in claims if "$" in c["statement"]]
        self.assertGreater(len(marks), 50)
        self.assertNotIn("$", said("list", "claims"))
        (found,) = [c for c in claims if c["id"] == "vla_prop3_exact_recovery"]
        self.assertIn("$S_n k_i = v_i$", found["statement"])
        shown = " ".join(said("explain", found["id"]).split())
        for name in ("statement", "corrected", "explanation"):
            self.assertIn(" ".join(found[name].replace("$", "").split()), shown)


def texts_of(value):
    """Every text with a space in it, anywhere in a JSON value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for one in value for text in texts_of(one)]
    return [value] if isinstance(value, str) and " " in value else []


class Sites(ReportCase):
    def setUp(self):
        super().setUp()
        self.cache = os.path.join(self.folder, "cache")
        patched = unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=self.cache)
        patched.start()
        self.addCleanup(patched.stop)
        synthetic.write_claims(self.verdicts, [("additive", "linear")], count=12, failing=0, kernels=("linear",))

    @KATEX
    def test_formulas_are_html_and_mathml_with_style_and_fonts_of_the_site(self):
        self.written(self.verdicts)
        page = self.page("claims/snr_linear.html")
        found = re.findall(r'<span class="formula" data-plain="([^"]*)">(.*?)</math>', page.source)
        self.assertIn("SNR^-1", [plain for plain, _ in found])
        self.assertTrue(all("<math" in html for _, html in found))
        self.assertIn('class="katex-html" aria-hidden="true"', page.source)
        self.assertIn("../katex.css", page.references)
        self.assertNotIn("\ue000", "".join(p.source for p in self.pages().values()))
        with open(os.path.join(self.out, "katex.css"), encoding="utf-8") as f:
            urls = re.findall(r"url\(([^)]*)\)", f.read())
        self.assertTrue(urls and all(u.startswith("fonts/") and os.path.exists(os.path.join(self.out, u)) for u in urls), urls)
        self.assertNotIn("plain notation", self.page("index.html").text)

    def test_marks_are_on_no_page_and_in_no_table(self):
        with h5py.File(self.verdicts, "a") as file:
            rows = file["claim_texts"][()]
            rows["statement"][0] = b"For $n <= d$ keys $k$ it holds."
            file["claim_texts"][...] = rows
            points = file["claims"][()]
            points["label"][points["claim"] == b"snr_linear"] = b"$|r|^2$ is read"
            file["claims"][...] = points
        self.written(self.verdicts)
        page = self.page("claims/snr_linear.html")
        self.says(page, "For n <= d keys k it holds.")
        self.says(page, "|r|^2 is read")
        self.assertNotIn("$", page.source.replace("a < b &amp; $c", ""))
        ledger = [row for row in self.page("ledger.html").rows if row["id"] == "claim-snr_linear"]
        self.assertIn("for n <= d keys k it holds.", ledger[0]["data-key"])  # as a reader would type it
        self.assertEqual(run(self.verdicts, "-o", self.out + ".csv", "--csv").returncode, 0)
        with open(os.path.join(self.out + ".csv", "claims.csv"), encoding="utf-8") as f:
            self.assertIn("For n <= d keys k it holds.", f.read())
        with open(os.path.join(self.out + ".csv", "points.csv"), encoding="utf-8") as f:
            self.assertIn(",|r|^2 is read,", f.read())

    @KATEX
    def test_one_process_sets_what_is_new(self):
        with unittest.mock.patch("reports.site.formulas.subprocess.run", wraps=subprocess.run) as started:
            pages = formulas.Formulas()
            html = [("a", str(pages.mark("$x_1$ and $x_2$ <"))), ("b", str(pages.mark("$x_2$ and $x_3$")))]
            first = pages.fill(html)
            self.assertEqual(started.call_count, 1)
            self.assertEqual(pages.fill(html), first)  # from the cache
            self.assertEqual(started.call_count, 1)
            pages.fill([("c", str(pages.mark("$x_4 = 5$")))])
            self.assertEqual(json.loads(started.call_args.kwargs["input"]), ["x_{4}=5"])
        self.assertEqual(first[0][1].count('class="katex"'), 2)
        with open(formulas.cache_path(), "w", encoding="utf-8") as f:
            f.write("{damaged")
        self.assertEqual(pages.fill(html), first)

    def test_without_katex_the_plain_form_stands_and_the_report_says_so_once(self):
        bare = os.path.join(self.folder, "bin")
        os.mkdir(bare)
        done = run(self.verdicts, "-o", self.out, PATH=bare)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse(os.path.exists(os.path.join(self.out, "katex.css")))
        pages = self.pages()
        self.assertEqual([path for path, page in pages.items() if "KaTeX" in page.text], ["index.html"])
        self.assertIn(">SNR⁻¹</span>", pages["claims/snr_linear.html"].source)
        self.assertFalse([r for page in pages.values() for r in page.references if "katex" in r])


if __name__ == "__main__":
    unittest.main()
