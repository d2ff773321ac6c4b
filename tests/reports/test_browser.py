# SPDX-License-Identifier: Apache-2.0
"""The site in headless Chromium: a clean console, anchors, filters, sorting, contrast, keyboard, a phone, paper.

Each check is a script that is added to a copy of a page and leaves its findings in the document."""
import csv
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import matplotlib.image

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]
import shapes  # noqa: E402
import synthetic  # noqa: E402

CHROMIUM = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)

CONTRAST = """
const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
function behind(element) {
  for (let e = element; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
}
const poor = [];
for (const e of document.querySelectorAll("main *, nav *, footer")) {
  if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || !e.checkVisibility() || e.closest("svg, option, select")) continue;
  const style = getComputedStyle(e), a = light(parse(style.color)), b = light(behind(e));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
  if (ratio < (large ? 3 : 4.5) - 1e-9) poor.push(e.tagName + "." + e.className + " " + ratio.toFixed(2) + " " + e.textContent.slice(0, 30));
}
found = { dark: matchMedia("(prefers-color-scheme: dark)").matches, poor: [...new Set(poor)].slice(0, 8) };
"""


@unittest.skipUnless(CHROMIUM, "no Chromium here: the site was not tried in a browser")
class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        runs, verdicts, cls.site = (os.path.join(cls.folder.name, n) for n in ("r.h5", "v.h5", "site"))
        variants = synthetic.write_runs(runs, steps=24, families={"additive": 9, "gated": 6, "persistent memory": 2})
        synthetic.write_claims(verdicts, variants[:3], count=60, kernels=("linear", "exp"))
        times = os.path.join(cls.folder.name, "b.h5")
        shapes.timings(times)
        program = os.environ["RECOLLECT_PROGRAM"]  # whose catalogue gives the pages of all layers and tasks
        subprocess.run([program, "report", runs, verdicts, times, "-o", cls.site], check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def chromium(self, page, *flags, width=1280, time=3000):
        profile = tempfile.mkdtemp(dir=self.folder.name)
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
                   f"--user-data-dir={profile}", f"--virtual-time-budget={time}", f"--window-size={width},900", *flags,
                   f"file://{self.site}/{page}"]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr[-400:])
        return done

    def asked(self, page, script, *flags, anchor="", framed=None, **window):
        """The value that `script` leaves in `found` at the end of a copy of the page; the console must be clean.
        `framed`: in a frame of this width, because Chromium opens no window as narrow as a phone."""
        base, name = os.path.split(page)
        copy, code = os.path.join(base, "tried_" + name), os.path.join(self.site, "tried.js")
        with open(os.path.join(self.site, page), encoding="utf-8") as f:
            text = f.read()
        root = "../" if base else ""
        with open(os.path.join(self.site, copy), "w", encoding="utf-8") as f:
            f.write(text.replace("</body>", f'<script src="{root}tried.js"></script></body>'))
        with open(code, "w", encoding="utf-8") as f:
            f.write("addEventListener('load', () => setTimeout(() => { let found; {" + script + "}\n"
                    "document.documentElement.dataset.found = JSON.stringify(found);"
                    "parent.postMessage(JSON.stringify(found), '*'); }, 300));")  # fmt: skip
        shown = copy
        if framed:
            shown = "framed.html"
            with open(os.path.join(self.site, shown), "w", encoding="utf-8") as f:
                f.write(f'<iframe src="{copy}" style="width:{framed}px;height:800px;border:0"></iframe><script>'
                        "onmessage = m => document.documentElement.dataset.found = m.data</script>")  # fmt: skip
        done = self.chromium(shown + anchor, "--dump-dom", *flags, **window)
        self.assertNotIn("CONSOLE", done.stderr)
        answer = re.search(r'data-found="([^"]*)"', done.stdout)
        self.assertTrue(answer, "the script did not run to its end")
        return json.loads(html.unescape(answer[1]))

    def every_page(self, script, width):
        """{page: what `script`, a function of the document d, returns}, each page in a frame of this width."""
        pages = sorted(
            os.path.relpath(os.path.join(folder, name), self.site)
            for folder, _, names in os.walk(self.site)
            for name in names
            if name.endswith(".html") and not name.startswith(("tried_", "framed"))
        )
        with open(os.path.join(self.site, "framed.html"), "w", encoding="utf-8") as f:
            f.write(f"""<body style="margin:0"><script>
const frame = document.createElement("iframe"), look = d => {{ {script} }};
frame.style.cssText = "border:0;height:800px;width:{width}px";
document.body.append(frame);
(async () => {{
  const found = {{}};
  for (const page of {json.dumps(pages)}) {{
    await new Promise(loaded => {{ frame.onload = loaded; frame.src = page; }});
    found[page] = look(frame.contentDocument);
  }}
  document.documentElement.dataset.found = JSON.stringify(found);
}})();</script>""")
        done = self.chromium("framed.html", "--dump-dom", "--allow-file-access-from-files", time=600_000)
        answer = re.search(r'data-found="([^"]*)"', done.stdout)
        self.assertTrue(answer, "the script did not run to its end")
        return json.loads(html.unescape(answer[1]))

    def test_the_console_is_clean(self):
        for page in ("index.html", "layers.html", "tasks.html", "noise.html", "explorer.html", "speed.html",
                     "provenance.html", "claims/claim_7.html", "layers/additive_1.html", "tasks/recall.html"):  # fmt: skip
            self.assertNotIn("CONSOLE", self.chromium(page, "--dump-dom").stderr, page)

    def test_anchors_land_on_their_target(self):
        script = "const box = document.querySelector(':target').getBoundingClientRect();" \
                 "found = [box.top, innerHeight];"  # fmt: skip
        for page, anchor in (("layers.html", "#note-2"), ("ledger.html", "#claim-claim_40"), ("index.html", "#failed")):
            top, height = self.asked(page, script, anchor=anchor)
            self.assertTrue(-1 <= top < height, (page, top, height))  # visible, whatever images are above it

    def test_filters_live_in_the_address(self):
        script = """
const rows = [...document.querySelectorAll(".ledger tbody tr")], shown = () => rows.filter(r => r.checkVisibility()).length;
const form = document.getElementById("filter"), first = shown(), words = form.words.value;
form.words.value = "additive_0"; form.paper.value = ""; form.dispatchEvent(new Event("input"));
found = { first, words, all: rows.length, then: shown(), hash: location.hash, said: form.querySelector("output").textContent };
"""
        found = self.asked("ledger.html", script, anchor="#words=delta_net&paper=002")
        self.assertEqual(found["words"], "delta_net")
        self.assertTrue(0 < found["first"] < found["all"] / 2, found)
        self.assertEqual(found["hash"], "#words=additive_0")
        self.assertEqual(found["said"], f"{found['then']} of {found['all']} claims")

    def test_tables_sort_by_value(self):
        script = """
const table = document.querySelector("table.matrix"), head = [...table.tHead.rows[0].cells], at = 1 + head.slice(1).findIndex(h => h.textContent.startsWith("recall"));
const values = () => [...table.tBodies[0].rows].map(r => r.cells[at].dataset.sort).filter(x => x !== "").map(Number);
const button = head[at].querySelector("button");
button.click(); const up = values(); button.click();
found = { up, down: values(), said: head[at].getAttribute("aria-sort"), rows: table.tBodies[0].rows.length };
"""
        found = self.asked("layers.html", script)
        self.assertEqual(found["up"], sorted(found["up"]))
        self.assertEqual(found["down"], sorted(found["up"], reverse=True))
        self.assertEqual(found["said"], "descending")
        self.assertGreater(len(set(found["up"])), 5)

    def test_the_explorer_answers(self):
        script = """
const form = document.getElementById("explorer"), said = () => document.getElementById("reading").textContent;
form.kernel.value = "linear"; form.d.value = 16; form.n.value = 17; form.dv.value = 12; form.dispatchEvent(new Event("input"));
const linear = said(); form.kernel.value = "exp"; form.dispatchEvent(new Event("input"));
found = { linear, exp: said(), curves: document.querySelectorAll("#plot polyline").length, marks: document.querySelectorAll("#plot .mark").length };
found.axes = {};
for (const name of ["d", "n", "dv", "tau"]) {
  form.x.value = name; form.dispatchEvent(new Event("input"));
  const svg = new DOMParser().parseFromString(decodeURIComponent(document.getElementById("as-svg").href.split(",").slice(1).join(",")), "image/svg+xml");
  found.axes[name] = { titles: [...document.querySelectorAll("#plot .title")].map(e => e.textContent), grid: document.querySelectorAll("#plot .grid").length,
    saved: svg.querySelectorAll("polyline").length, broken: svg.querySelectorAll("parsererror").length, unresolved: svg.documentElement.outerHTML.includes("var("),
    table: decodeURIComponent(document.getElementById("as-csv").href.split(",").slice(1).join(",")) };
}
"""
        found = self.asked("explorer.html", script)
        self.assertIn("printed N / d = 1.063", found["linear"])  # 17 / 16
        self.assertIn("= 1.371;", found["linear"])  # 16 * 12/10 / 14
        a = 2 * 3 / 16
        self.assertIn(f"= {16 * 1.2 * (1 + 2 * a) ** -8:.4g};", found["exp"])
        self.assertEqual(found["curves"], 5)  # printed, exact, three rivals
        self.assertGreater(found["marks"], 3)
        titles = dict(d="key width d", n="stored pairs n", dv="value width dv", tau="temperature τ")
        for name, shown in found["axes"].items():
            self.assertEqual(shown["titles"], [titles[name], "inverse SNR per stored pair"])
            self.assertGreater(shown["grid"], 6)
            self.assertEqual((shown["saved"], shown["broken"], shown["unresolved"]), (5, 0, False))
            head, *rows = list(csv.reader(shown["table"].splitlines()))
            rivals = ["exponent -(d-1)/2 in place of -d/2", "N in place of N - 1", "values that all have the same norm"]
            self.assertEqual(head, [name, "printed", "exact", *rivals])
            for row in (rows[0], rows[-1]):
                at = dict(d=16, n=17, dv=12) | {name: float(row[0])}
                rate = 2 * (at.get("tau", at["d"] ** 0.5) - 1) / at.get("tau", at["d"] ** 0.5) ** 2
                exact = at["dv"] / (at["dv"] - 2) * (1 + 2 * rate) ** (-at["d"] / 2)
                self.assertAlmostEqual(float(row[2]) / exact, 1, 9)

    def test_the_explorer_says_what_the_program_says(self):
        """Printed and exact forms of all four similarities, at the point where the program measures them."""
        names = ["snr_linear", "snr_relu", "snr_exp", "snr_solu"]
        written = os.path.join(self.folder.name, "snr.json")
        subprocess.run([os.environ["RECOLLECT_PROGRAM"], "verify", *names, "--json", written], check=True, capture_output=True)
        with open(written, encoding="utf-8") as f:
            claims = json.load(f)["claims"]
        wanted = []
        for claim in claims:
            printed, exact = claim["points"][:2]
            of_means = "SNR^-1, mean over probes, against the "
            self.assertEqual((printed["label"], exact["label"]), (of_means + "printed form", of_means + "exact form"))
            at = {k: v for k, v in printed["params"].items() if k in ("d", "n", "dv", "tau")}
            self.assertEqual(at, {k: v for k, v in exact["params"].items() if k in at})
            wrong = {p["name"]: p["predicted"] for p in claim["rivals"] if p["kind"] == "law" and {"d", "n"} <= set(p["params"])}
            wanted.append((claim["id"].split("_")[1], at, printed["predicted"], exact["predicted"], wrong))
        script = """
const form = document.getElementById("explorer"); form.root.checked = false; found = [];
for (const [kernel, at] of %s) {
  form.kernel.value = kernel;
  for (const name in at) form[name].value = at[name];
  form.dispatchEvent(new Event("input"));
  found.push([document.getElementById("reading").textContent, Object.entries(explorer.laws[kernel].rivals).map(([name, f]) => [name, f(at) * (at.n - 1)])]);
}
"""
        found = self.asked("explorer.html", script % json.dumps([w[:2] for w in wanted]))
        self.assertEqual(sorted(w[0] for w in wanted), ["exp", "linear", "relu", "solu"])
        for (kernel, _, printed, exact, wrong), (said, rivals) in zip(wanted, found):
            numbers = [float(x) for x in re.findall(r"= ([\d.e+-]+)[;.](?: |$)", said)]
            self.assertEqual(len(numbers), 3, said)
            self.assertLess(abs(numbers[0] / printed - 1), 6e-4, (kernel, said))  # four digits
            self.assertLess(abs(numbers[1] / exact - 1), 6e-4, (kernel, said))
            self.assertEqual({name for name, _ in rivals}, set(wrong) - {"leaky ReLU of slope 0.2"})
            for name, value in rivals:
                self.assertLess(abs(value / wrong[name] - 1), 1e-9, (kernel, name))

    def test_contrast_is_aa_in_light_and_dark(self):
        for page in ("index.html", "ledger.html", "layers.html", "claims/claim_7.html", "layers/additive_1.html", "tasks/recall.html", "speed.html"):  # fmt: skip
            for dark in (False, True):
                found = self.asked(page, CONTRAST, *(["--force-dark-mode"] if dark else []))
                self.assertEqual((found["dark"], found["poor"]), (dark, []), page)

    def test_everything_that_acts_takes_the_keyboard(self):
        script = """
const acts = [...document.querySelectorAll("a[href], button, input, select, summary")].filter(e => e.checkVisibility() && !e.disabled);
const deaf = acts.filter(e => { e.focus(); return document.activeElement !== e; }).map(e => e.outerHTML.slice(0, 80));
const clicked = [...document.querySelectorAll("[onclick], div[role=button]")].length;
const skip = document.querySelector("a.skip"); skip.focus();
found = { deaf, acts: acts.length, clicked, skip: skip.getBoundingClientRect().left >= 0, lands: !!document.querySelector(skip.getAttribute("href")) };
"""
        for page in ("ledger.html", "layers.html", "explorer.html"):
            found = self.asked(page, script)
            self.assertEqual((found["deaf"], found["clicked"], found["skip"], found["lands"]), ([], 0, True, True), page)
            self.assertGreater(found["acts"], 10)

    def test_a_phone_needs_no_sideways_scrolling(self):
        """Every page of the site; a figure is not made smaller than its letters can be read."""
        script = """
const wide = d.documentElement.scrollWidth, found = wide > 390 ? ["scrolls to " + wide] : [];
for (const e of d.querySelectorAll("main *"))
  if (e.getBoundingClientRect().right > 390.5 && !e.closest(".scroll, .ledger thead, svg, math, pre")) found.push(e.tagName + " " + e.textContent.slice(0, 40));
for (const e of d.querySelectorAll("figure img"))
  if (e.getBoundingClientRect().width < Math.min(640, e.width)) found.push("small " + e.src);
return found.slice(0, 5);
"""
        found = self.every_page(script, 390)
        self.assertGreater(len(found), 150)
        self.assertEqual({page: said for page, said in found.items() if said}, {})

    def test_the_curves_and_the_legend_of_the_explorer_are_seen_at_any_width(self):
        script = """
const entries = [...document.querySelectorAll("#plot .entry")], boxes = entries.map(e => e.getBoundingClientRect());
const light = c => c.match(/[\\d.]+/g).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), page = light(getComputedStyle(document.body).backgroundColor);
const faint = [...document.querySelectorAll("#plot polyline")].map(e => contrast(light(getComputedStyle(e).stroke), page)).filter(x => x < 4.5);
found = { faint, names: entries.map(e => e.textContent), past: boxes.filter(b => b.left < 0 || b.right > innerWidth).length, height: Math.min(...boxes.map(b => b.height)) };
"""
        for window in (dict(framed=390), dict(width=820), dict(width=1440)):
            for dark in (False, True):
                found = self.asked("explorer.html", script, *(["--force-dark-mode"] if dark else []), **window)
                self.assertEqual(found["faint"], [], (window, dark))
            self.assertEqual(found["names"][:2], ["printed", "exact"])
            self.assertEqual((len(found["names"]), found["past"]), (6, 0), window)
            self.assertGreater(found["height"], 9, window)

    def test_every_column_of_the_layers_is_seen(self):
        script = """
const box = document.querySelector(".scroll.tall"), heads = document.querySelectorAll(".matrix thead th");
found = [heads.length, box.scrollWidth - box.clientWidth];
"""
        self.assertEqual(self.asked("layers.html", script, width=1440), [1 + len(synthetic.TASKS), 0])

    def test_names_of_timed_cases_break_at_their_slashes_alone(self):
        script = """
const lines = e => new Set([...e.getClientRects()].map(r => Math.round(r.top))).size;
found = [...document.querySelectorAll("td code")].map(e => [e.textContent, lines(e)]);
"""
        for page in ("speed.html", "layers/linear.html"):
            found = self.asked(page, script, framed=390)
            self.assertGreater(len(found), 2)
            for name, lines in found:
                self.assertLessEqual(lines, len(name.split("/")), (page, name))

    def test_figures_are_dark_where_the_page_is(self):
        for dark in (False, True):
            picture = os.path.join(self.folder.name, "page.png")
            self.chromium("noise.html", f"--screenshot={picture}", *(["--force-dark-mode"] if dark else []))
            pixels = matplotlib.image.imread(picture)[..., :3]
            white = float((pixels.min(axis=2) > 0.93).mean())
            self.assertTrue(white < 0.01 if dark else white > 0.5, (dark, white))

    def test_paper_keeps_the_shades_that_ink_was_chosen_for(self):
        script = """
const cells = [...document.querySelectorAll(".matrix td, .badge")];
found = [cells.length, cells.filter(e => getComputedStyle(e).printColorAdjust !== "exact").length];
"""
        for page in ("layers.html", "ledger.html"):
            count, faded = self.asked(page, script)
            self.assertTrue(count > 20 and faded == 0, (page, count, faded))

    def test_paper(self):
        for page, most in (("index.html", 3), ("claims/claim_7.html", 4), ("ledger.html", 6), ("layers.html", 12), ("explorer.html", 1)):
            paper = os.path.join(self.folder.name, "page.pdf")
            self.chromium(page, f"--print-to-pdf={paper}", "--no-pdf-header-footer", width=700)
            with open(paper, "rb") as f:
                sheets = len(re.findall(rb"/Type\s*/Page\b", f.read()))
            self.assertTrue(1 <= sheets <= most, (page, sheets))

    @unittest.skipUnless(shutil.which("pdftotext"), "no pdftotext here: the text of printed pages was not read")
    def test_numbers_in_printed_sentences_have_no_gaps(self):
        paper = os.path.join(self.folder.name, "page.pdf")
        self.asked("index.html", """
const p = document.createElement("p"), as = text => Object.assign(document.createElement("span"), { className: "num", textContent: text });
p.append("Measured: ", as("1.618"), " against ", as("1"), "."); document.querySelector("h1").after(p); found = 1;""")  # fmt: skip
        self.chromium("tried_index.html", f"--print-to-pdf={paper}", "--no-pdf-header-footer")
        text = subprocess.run(["pdftotext", "-layout", paper, "-"], check=True, capture_output=True, text=True).stdout
        self.assertIn("Measured: 1.618 against 1.", text)

    @unittest.skipUnless(shutil.which("pdftotext"), "no pdftotext here: the text of printed pages was not read")
    def test_no_printed_sheet_ends_with_a_heading(self):
        paper = os.path.join(self.folder.name, "page.pdf")
        self.asked("index.html", """
const part = i => `<div style="height:${37 * i % 400}px"></div><h2>Heading ${i}</h2><p>About it.</p><table><tr><td>row ${i}</td></tr></table>`;
document.querySelector("main").innerHTML = Array.from({ length: 60 }, (_, i) => part(i)).join(""); found = 1;""")
        self.chromium("tried_index.html", f"--print-to-pdf={paper}", "--no-pdf-header-footer")
        text = subprocess.run(["pdftotext", "-layout", paper, "-"], check=True, capture_output=True, text=True).stdout
        ends = [sheet.split("\n")[-1].strip() for sheet in map(str.strip, text.split("\f")) if sheet]
        self.assertGreater(len(ends), 10)
        self.assertEqual([end for end in ends if end.startswith(("Heading", "About"))], [])

    @unittest.skipUnless(shutil.which("pdftotext"), "no pdftotext here: the text of printed pages was not read")
    def test_every_sheet_of_a_table_has_its_heads(self):
        paper = os.path.join(self.folder.name, "page.pdf")
        longer = """
document.querySelector("details").open = true;
const body = document.querySelector("table.points tbody");
for (const row of [...body.rows]) for (let i = 0; i < 5; ++i) body.append(row.cloneNode(true));
found = body.rows.length;
"""
        self.assertGreater(self.asked("claims/chunk_equals_recurrent.html", longer), 200)
        printed = "claims/tried_chunk_equals_recurrent.html"  # printed with its details open
        self.chromium(printed, f"--print-to-pdf={paper}", "--no-pdf-header-footer")
        text = subprocess.run(["pdftotext", "-layout", paper, "-"], check=True, capture_output=True, text=True).stdout
        sheets = [sheet for sheet in text.split("\f") if sheet.count("holds") > 3]
        self.assertGreater(len(sheets), 2)
        for sheet in sheets:
            for word in ("predicted", "obligation"):  # complete: no column is too narrow for its words
                self.assertIn(word, sheet)


if __name__ == "__main__":
    unittest.main()
