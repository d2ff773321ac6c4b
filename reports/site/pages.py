# SPDX-License-Identifier: Apache-2.0
"""The pages of the site: the data of each template."""
from __future__ import annotations

import collections
import math
import os
import re
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Counter, Iterator

import jinja2
from markupsafe import Markup, escape

from recollect.schema import Value
from reports import cells as cells_, device_speed, findings, matrix as matrices, papers, state_counts, trained_rows
from reports import trainings
from reports.figures import speed as speed_figures
from reports.figures.draw import FIGURES
from reports.figures.style import number, params_text, plain, words
from reports.findings import FOUND, outcome, paper_of, strain
from reports.records import Cell, Claim, Judged, Matrix, Picture, Point, Results
from reports.site import answers, counter_examples, explain, filters, formulas

HERE = os.path.dirname(os.path.abspath(__file__))
MARKS = dict(
    holds="●",
    holds_under="◑",
    holds_asymptotically="◐",
    refuted="○",
    boundary="◌",
    typo="¶",
    untrained="△",
    trained_holds="●",
    trained_in_part="◒",
    trained_refuted="○",
    trained_undecided="·",
    not_tested="–",
    failed="✗",
)
MENU = [
    ("ledger.html", "Ledger"),
    ("layers.html", "Layers"),
    ("tasks.html", "Tasks"),
    ("noise.html", "Noise"),
    ("explorer.html", "Explorer"),
    ("training.html", "Training"),
    ("speed.html", "Speed"),
    ("provenance.html", "Provenance"),
]
MOST_POINTS = 200
TRAITS = dict(  # (text if declared, text if not), as in `recollect list variants NAME`
    causal=("causal", "not causal"),
    linear_in_v=("linear in v", "not linear in v"),
    order_invariant=("independent of the order of the pairs", "depends on the order of the pairs"),
    stable=(
        "float32 errors stay within the condition number's bound",
        "float32 errors may exceed the condition number's bound on ill-conditioned keys",
    ),
)
REPEATS = dict(  # what a read at a key returns if several values were written there
    last="its latest value",
    sum="the sum of its values",
    mean="the mean of its values",
    ridged_mean="the sum of its values divided by (their number + ridge)",
)
TILES = dict(
    holds=("claim holds", "claims hold"),
    holds_under=("holds under a condition", "hold under a condition"),
    holds_asymptotically=("holds in a limit", "hold in a limit"),
    refuted=("is wrong as asserted", "are wrong as asserted"),
)


Entry = dict[str, Any]  # an argument of a template, or an entry of the catalogue of layers and tasks
Notes = dict[tuple[str, str, str], list[str]]  # (status, task, reason) -> layers


@dataclass
class Suite:
    """The trained models of one file."""

    name: str  # name of its page
    told: str  # the command, commit and device that trained the models
    models: int = 0
    diverged: bool = False
    experiments: list[trainings.TrainedExperiment] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)


NO_METRIC = Cell("", "", "", "ok", "", "no metric", 0, 0, math.nan, math.nan, {})  # for a task on which nothing ran


def environment(mark: Callable[[str], Markup]) -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(os.path.join(HERE, "templates"))
    env = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    env.filters.update(filters.FILTERS, maths=mark)
    return env


def range_of(parameter: Entry) -> str:
    """The values that a catalogued parameter may have."""
    if parameter.get("choices"):
        return ", ".join(parameter["choices"])
    low, high = (float(parameter[end]) for end in ("low", "high"))  # "inf" is a text there
    if math.isfinite(high):
        return f"{number(low)} … {number(high)}" if math.isfinite(low) else f"≤ {number(high)}"
    if not math.isfinite(low):
        return "any"
    return "> 0" if 0 < low < 1e-20 else f"≥ {number(low)}"


def parameters(entry: Entry) -> Entry:
    """The catalogued parameters, with all fields present."""
    return dict(parameters=[dict(dict(grid=[], range_text=range_of(p)), **p) for p in entry["parameters"]])


def folded(points: list[Point], group: Callable[[Point], str]) -> list[tuple[Point, int, Counter[str]]]:
    """A row per group and label of points: [(the first point, number of points, {verdict: number of points})]; [] if
    every row would have one point."""
    rows: dict[tuple[str, str], list[Point]] = {}
    for p in points:
        rows.setdefault((group(p), p.label), []).append(p)
    if len(rows) == len(points):
        return []
    return [(mine[0], len(mine), collections.Counter(p.verdict for p in mine)) for mine in rows.values()]


def layer_texts(v: Entry) -> Entry:
    """State, traits and forms of a catalogued layer, as sentences."""
    state, traits = v["state"], v["traits"]
    finite = f"{state['rows']} × {state['columns']} numbers per head at {state['at']}"
    said = [said_of[not traits[trait]] for trait, said_of in TRAITS.items()]
    said += [f"a repeated key returns {REPEATS[traits['repeats']]}"] if traits["repeats"] in REPEATS else []
    notes = [
        f["name"] + ("" if f["exact"] else " (approximate)") + ("" if f["stable"] else " (unstable)")
        for f in v["forms"]
    ]
    return dict(state_text=finite if state["rows"] else "every pair: it grows with T", traits_text=", ".join(said),
                forms_text=", ".join(notes), counted=state_counts.state_counts().get(v["name"], {}))  # fmt: skip


def curve_svg(x: list[int], y: list[float], across: str) -> Markup:
    """A small line chart in the page's colours."""
    wide, high, left, low = 520, 170, 44, 26
    top = max(max(y), 1e-9)
    place = [
        f"{left + (wide - left - 8) * (a - x[0]) / max(x[-1] - x[0], 1e-9):.1f},"
        f"{8 + (high - low - 8) * (1 - b / top):.1f}"
        for a, b in zip(x, y)
    ]
    return Markup(
        f'<svg class="curve" viewBox="0 0 {wide} {high}" role="img" aria-label="curve">'
        f'<path d="M{left} 8V{high - low}H{wide - 8}" class="axis"/><polyline points="{" ".join(place)}"/>'
        f'<text x="{left - 6}" y="16" text-anchor="end">{number(top, 2)}</text>'
        f'<text x="{left - 6}" y="{high - low}" text-anchor="end">0</text>'
        f'<text x="{left}" y="{high - 8}">{number(x[0])}</text><text x="{wide - 8}" y="{high - 8}" text-anchor="end">'
        f"{number(x[-1])} {escape(across)}</text></svg>"
    )


class Site:
    """Renders every page. `catalogue` is the program's description of layers and tasks; {} without it."""

    def __init__(self, results: Results, pictures: dict[str, Picture], catalogue: Entry) -> None:
        self.results, self.pictures = results, pictures
        self.claims = sorted(results.claims, key=lambda c: (outcome(c) != "failed", paper_of(c), c.id))
        self.layers = {v["name"]: {**v, **layer_texts(v), **parameters(v)} for v in catalogue.get("variants", [])}
        self.tasks = {t["name"]: {**t, **parameters(t)} for t in catalogue.get("tasks", [])}
        self.cells = results.cells
        families = {c.variant: c.family for c in self.cells}
        timed = {b.variant: "family unknown" for b in results.bench}
        self.families = {**timed, **families, **{n: v["family"] for n, v in self.layers.items()}}
        self.known_tasks = sorted({c.task for c in self.cells} | set(self.tasks))
        self.matrix = results.matrix
        self.judged = trained_rows.judged(results)
        self.suite_of = trainings.suites(results)
        self.formulas = formulas.Formulas()
        self.env = environment(self.formulas.mark)
        self.footer = self.origin()

    def origin(self) -> tuple[str, str]:
        """The origin of the numbers: (versions and commits, number of files), as texts."""
        metas = [f.meta for f in self.results.files]
        if not metas:
            return "recollect report", "no result file"
        dirty = " with uncommitted changes" if any(m.get("git_dirty") == "true" for m in metas) else ""
        versions, commits = (sorted({m.get(name, "?")[:12] for m in metas}) for name in ("version", "git_commit"))
        some = f"commit {commits[0]}" if len(commits) == 1 else f"{len(commits)} commits"
        return f"recollect {', '.join(versions)}, {some}{dirty}", f"{len(metas)} result file{'s' * (len(metas) != 1)}"

    def pages(self) -> list[tuple[str, str]]:
        """(path, html) of every page."""
        return self.formulas.fill(list(self.rendered()))

    def rendered(self) -> Iterator[tuple[str, str]]:
        """(path, html) of every page, with placeholders for formulas."""
        yield "index.html", self.index()
        yield "ledger.html", self.render("ledger.html", "ledger.html", claims=self.claims, papers=self.paper_list(),
                                         counts=findings.counts(self.claims))  # fmt: skip
        yield "layers.html", self.layers_page()
        yield "tasks.html", self.tasks_page()
        yield "noise.html", self.render(
            "noise.html",
            "figures.html",
            title="Noise, fast forms, statistics",
            devices=[],
            ratios=[],
            not_timed=[],
            sections=[
                self.section(
                    "Retrieval noise",
                    "noise",
                    "No file holds the claims snr_* over several key widths.",
                    "recollect verify --suite suites/curves.toml -o curves.h5",
                ),
                self.section(
                    "Fast forms compared with their definition",
                    "forms",
                    "No file holds the claim chunk_equals_recurrent.",
                    "recollect verify chunk_equals_recurrent -o v.h5",
                ),
                self.section(
                    "Standard errors and sensitivity",
                    "statistics",
                    "No file holds at least ten sampled points.",
                    "recollect verify -o v.h5",
                ),
            ],
        )
        yield "explorer.html", self.render("explorer.html", "explorer.html", points=self.noise_points())
        for device in self.results.devices:
            path = f"speed/{device.name}.html"
            yield path, self.render(path, "device_speed.html", device=device)
        yield "speed.html", self.render(
            "speed.html",
            "figures.html",
            title="Speed",
            devices=[(device, device_speed.summary(device)) for device in self.results.devices],
            decoded=device_speed.DECODED,
            ratios=speed_figures.ratios(self.results),
            not_timed=speed_figures.not_timed(self.results),
            sections=[
                self.section(
                    "Time against length, and the roofline",
                    "speed",
                    "No file holds timings over at least three lengths.",
                    "recollect bench --sweep T=1024:16384:*2 -o bench.h5",
                ),
            ],
        )
        suites = self.suites()
        yield "training.html", self.render(
            "training.html", "training.html", suites=suites, claim_ids={c.id for c in self.claims}, judged=self.judged
        )
        for suite in suites:
            path = f"training/{suite.name}.html"
            yield path, self.render(path, "suite.html", suite=suite, claim_ids={c.id for c in self.claims})
        yield "provenance.html", self.render("provenance.html", "provenance.html", files=self.results.files)
        for claim in self.claims:
            yield f"claims/{claim.id}.html", self.claim_page(claim)
        for name in sorted(self.families):
            yield f"layers/{name}.html", self.layer_page(name)
        for name in self.known_tasks:
            yield f"tasks/{name}.html", self.task_page(name)

    def render(self, here: str, template: str, **given: Any) -> str:
        root = "../" * here.count("/")
        fixed = dict(
            here=here,
            root=root,
            menu=MENU,
            footer=self.footer,
            marks=MARKS,
            found=FOUND,
            layers=self.families,
            suite_of=self.suite_of,
            katex=formulas.available(),
            settings={c.setting for c in self.results.matrix_cells},
        )
        return self.env.get_template(template).render(**fixed, **given)

    def suites(self) -> list[Suite]:
        """The suites of trained models: their experiments with statements and figures."""
        found: dict[int, Suite] = {}
        stated = [s for row in self.judged.values() for s in row.statements]
        for i, e in enumerate(trainings.experiments(self.results)):
            file = e.file
            mine = [s for s in stated if (s.file, s.experiment or "trained") == (file, e.name)]
            told = trainings.told(self.results.files[file].meta)
            pictures = self.some(f"state_{file}", f"words_{file}")
            suite = found.setdefault(file, Suite(self.suite_of[file], told, pictures=pictures))
            suite.models += sum(len(row.runs) for row in e.rows)
            suite.diverged |= any("diverged" in row.others for row in e.rows)
            suite.experiments.append(replace(e, statements=mine, pictures=self.some(f"training_{i}", f"rates_{i}")))
        return list(found.values())

    def some(self, *names: str) -> list[Picture]:
        return [self.pictures[name] for name in names if name in self.pictures]

    def section(self, heading: str, page: str, what: str, command: str) -> tuple[str, list[Picture], str, str]:
        return heading, [self.pictures[n] for n, _, _ in FIGURES[page] if n in self.pictures], what, command

    def paper_list(self) -> list[Entry]:
        ids = sorted({paper_of(c) for c in self.claims})
        return [
            dict(
                papers.about(p),
                id=p,
                short=papers.short_name(p),
                count=sum(paper_of(c) == p for c in self.claims),
                found=findings.counts([c for c in self.claims if paper_of(c) == p]),
            )
            for p in ids
        ]

    def wrong(self, most: int = 5) -> list[tuple[Claim, str, Point | None]]:
        """Claims that are wrong as asserted and have a counter-example, in the order of counter_examples: [(claim, the
        example in words, the refuted point)]."""
        by_id = {c.id: c for c in self.claims if outcome(c) == "refuted"}
        shown = [
            (by_id[id], e["says"], explain.counter_example(by_id[id]))
            for id, e in counter_examples.EXAMPLES.items()
            if id in by_id
        ]
        return shown[:most]

    def measured_by(self) -> list[tuple[str, str]]:
        """[(command line, suite)] of each file with points: the source of the first page's counts."""
        suites = {c.path: c.effort for c in self.claims if c.points}
        commands = {
            f.path: re.sub(r"^\S*/| (-o|--output|--json|--junit) \S+", "", f.meta.get("command_line", ""))
            for f in self.results.files
        }
        return [(commands[path], suite) for path, suite in suites.items()]

    def index(self) -> str:
        tested = [c for c in self.claims if not c.reason]
        untested = [c.reason for c in self.claims if outcome(c) == "not_tested"]
        tally = ", ".join(
            f"{words(r)}: {untested.count(r)}" for r in sorted(set(untested), key=lambda r: (-untested.count(r), r))
        )
        ran = cells_.counts(self.cells)
        return self.render(
            "index.html",
            "index.html",
            claims=self.claims,
            tested=tested,
            untested=untested,
            untested_tally=tally,
            trained=sum(outcome(c).startswith("trained_") for c in self.claims),
            passed=sum(c.passed for c in tested),
            rivals=number(sum(len(c.rivals) for c in self.claims)),
            counts=findings.counts(self.claims),
            tiles=TILES,
            papers=self.paper_list(),
            wrong=self.wrong(),
            measured_by=self.measured_by(),
            pictures=[self.pictures[n] for n, _, _ in FIGURES["index"] if n in self.pictures],
            answers=answers.answers(self.matrix),
            failed=[c for c in self.claims if outcome(c) == "failed"],
            failed_runs=[c for c in self.cells if c.status == "failed"],
            runs=ran and dict(ran, all=sum(ran.values())),
        )

    def claim_page(self, c: Claim) -> str:
        metas = {f.path: f.meta for f in self.results.files}
        meta: dict[str, str] = metas.get(c.path, {})
        asked = metas[c.asked_path]["command_line"].split(" ", 1)[-1] if c.asked_path else ""
        paper = papers.about(paper_of(c))
        effort = " --suite full" if c.effort == "full" else ""
        rivals = sorted(c.rivals, key=lambda p: (p.verdict == "refuted", findings.distance(p)))
        return self.render(
            f"claims/{c.id}.html",
            "claim.html",
            claim=c,
            paper=dict(paper, short=papers.short_name(paper_of(c))),
            whys=explain.why_failed(c) if outcome(c) == "failed" else [],
            explained=explain.explain(c),
            commands=self.trained_by(c.trained)
            if c.reason
            else [f"recollect verify {c.id}{effort} --seed {meta.get('seed', 1)} --points"]
            + [f"recollect {asked}"] * bool(asked),
            printed=self.printed(c.trained),
            program=counter_examples.program(c.id),
            example=counter_examples.EXAMPLES[c.id]["says"] if c.id in counter_examples.EXAMPLES else "",
            folded=folded(sorted(c.points, key=strain, reverse=True), lambda p: p.role),
            folded_rivals=folded(rivals, lambda p: p.rival),
            picture=self.pictures.get("claim_" + c.id),
            points=sorted(c.points, key=strain, reverse=True),
            rivals=rivals,
            told=sum(p.verdict == "refuted" for p in c.rivals),
            most=MOST_POINTS,
            bibtex=papers.bibtex(c, plain(findings.verdict_text(c)), meta),
        )

    def trained_by(self, trained: Judged | None) -> list[str]:
        """The commands that trained a row's models, the paper's model size first."""
        files = [self.results.files[s.file] for s in trained.statements] if trained else []
        return list(dict.fromkeys(f.meta.get("command_line", "") for f in files))

    def printed(self, trained: Judged | None) -> list[tuple[str, str]]:
        """What the paper prints about a row's experiments: [(numbers, title of the experiment)], the paper's model
        size first."""
        found: dict[str, str] = {}
        for s in trained.statements if trained else ():
            found.setdefault(s.printed, s.title)
        return [(numbers, title) for numbers, title in found.items() if numbers]

    def layers_page(self) -> str:
        if not self.matrix:
            return self.render(
                "layers.html",
                "layers.html",
                matrix=None,
                catalogue_layers=list(self.layers.values()),
                notes=[],
                pictures=[],
            )
        m = self.matrix
        notes: Notes = {}
        shades = {t: matrices.shade(m, t) for t in m.tasks}
        rows = [
            dict(variant=v, family=f, cells=[self.matrix_cell(m, v, t, shades[t], notes) for t in m.tasks])
            for f, v in m.variants
        ]
        heads = []
        for t in m.tasks:
            some = next(iter(matrices.good(m.cell[v, t] for _, v in m.variants)), NO_METRIC)
            heads.append(dict(task=t, headline=some.headline, arrow={1: " ↑", -1: " ↓", 0: ""}[some.direction],
                              ends=math.isfinite(some.chance), chance=some.chance, ceiling=some.ceiling))  # fmt: skip
        return self.render(
            "layers.html",
            "layers.html",
            matrix=m,
            rows=rows,
            heads=heads,
            notes=[dict(status=s, task=t, reason=r, variants=v) for (s, t, r), v in notes.items()],
            status_counts=matrices.counts(m),
            catalogue_layers=list(self.layers.values()),
            pictures=[self.pictures[n] for n, _, _ in FIGURES["layers"] if n in self.pictures],
        )

    def matrix_cell(self, matrix: Matrix, variant: str, task: str, shades: dict[str, float], notes: Notes) -> Entry:
        cell = matrix.cell[variant, task]
        if isinstance(cell, Cell) and cell.status == "ok" and math.isfinite(cell.mean):
            back, ink = matrices.colours(shades[variant]) if variant in shades else ("transparent", "inherit")
            hint = f"{variant}, {task}: {cell.count} seeds; {cells_.tuning(cell) or 'settings unknown'}"
            same = matrix.same[task].get(variant, "")
            return dict(value=cell.mean, error=cell.error, back=back, ink=ink, hint=hint, same=same)
        reason = cell.reason or ("the task reports no metric" if cell.status == "ok" else "no reason recorded")
        key = (cell.status, task, reason)
        notes.setdefault(key, []).append(variant)
        mark = {"meaningless": "–", "failed": "✗ failed", "ok": "·", "swept": "↗"}.get(cell.status, "?")
        return dict(value=None, status=cell.status, reason=reason, mark=mark, note=list(notes).index(key) + 1)

    def layer_page(self, name: str) -> str:
        mine = [c for c in self.cells if c.variant == name]
        curve, caption = self.capacity_curve(mine)
        machine = speed_figures.machines(self.results)
        return self.render(
            f"layers/{name}.html", "layer.html", name=name, family=self.families[name], layer=self.layers.get(name),
            cells=mine, curve=curve, curve_caption=caption, equivalence=self.equivalence(name),
            bench=[replace(b, machine=machine[b.file]) for b in speed_figures.timed(self.results) if b.variant == name],
            claims=[c for c in self.claims if name in c.variants],
        )  # fmt: skip

    def capacity_curve(self, mine: list[Cell]) -> tuple[str, str]:
        cell = next((c for c in mine if c.task == "capacity" and c.series.get("accuracy_by_step")), None)
        if not cell:
            return "", ""
        curves = cell.series["accuracy_by_step"]
        seeds = f"{len(curves)} seed{'s' if len(curves) > 1 else ''}"
        tuning = f"; {cells_.tuning(cell)}" if cells_.tuning(cell) else ""
        mean = [float(sum(v) / len(curves)) for v in zip(*curves)]
        d = cells_.ran_with(cell)["capacity"]["d"]
        return curve_svg(list(range(1, len(mean) + 1)), mean, "stored pairs"), (
            f"Accuracy of a read among n stored pairs at d = {d}; mean over {seeds}{tuning}."
        )

    def equivalence(self, name: str) -> list[Entry]:
        """The largest error of each form and type compared with the definition, from the claim
        chunk_equals_recurrent."""
        worst: dict[tuple[Value, Value], Entry] = {}
        for c in self.claims:
            for p in c.points if c.id == "chunk_equals_recurrent" else []:
                s = p.params
                if s.get("variant") != name or p.relation != "at_most":
                    continue
                key = (s.get("form", ""), s.get("real", ""))
                if key not in worst or p.measured > worst[key]["measured"]:
                    at = params_text({k: v for k, v in s.items() if k not in ("variant", "form", "real")})
                    worst[key] = dict(
                        form=key[0], real=key[1], measured=p.measured, bound=p.predicted + p.tolerance, at=at
                    )
        return list(worst.values())

    def tasks_page(self) -> str:
        known = [self.tasks.get(n, dict(name=n, summary="", source="")) for n in self.known_tasks]
        experiments = [
            dict(
                vars(e),
                cells=[c for c in self.cells if c.experiment == n],
                pictures=self.some(f"experiment_{n}", f"heat_{n}"),
            )
            for n, e in self.results.experiments.items()
            if any(c.experiment == n for c in self.cells)
        ]
        pictures = [self.pictures[n] for n, _, _ in FIGURES["sequences"] if n in self.pictures]
        return self.render("tasks.html", "tasks.html", tasks=known, experiments=experiments, pictures=pictures)

    def task_page(self, name: str) -> str:
        same, shown = (self.matrix.same.get(name, {}), self.matrix.cell) if self.matrix else ({}, {})
        mine = [replace(c, same=same.get(c.variant, "") if c is shown.get((c.variant, name)) else "")
                for c in self.cells if c.task == name and c.experiment in ("", "matrix")]  # fmt: skip
        ok = [c for c in mine if c.status == "ok"]
        ok.sort(key=lambda c: -(c.direction or 1) * c.mean if c.mean == c.mean else math.inf)
        task = self.tasks.get(name, dict(name=name, summary="", source="", parameters=[]))
        return self.render(
            f"tasks/{name}.html",
            "task.html",
            task=task,
            ends=ok[0] if len({str(c.chance) for c in ok}) == 1 else None,
            headline=ok[0].headline if ok else "",
            pictures=[self.pictures[n] for n in ("sweep_" + name, "cost_" + name) if n in self.pictures],
            cells=ok + [c for c in mine if c.status != "ok"],
        )

    def noise_points(self) -> list[Entry]:
        """Measured inverse SNRs of the noise family, for the explorer."""
        kernels = dict(snr_linear="linear", snr_relu="relu", snr_exp="exp", snr_solu="solu")
        found = []
        for c in self.claims:
            for p in c.points if c.id in kernels else []:
                s = p.params
                if (
                    p.role != "limit"
                    and p.relation == "equal"
                    and isinstance(s.get("d"), (int, float))
                    and p.measured > 0
                    and s.get("quantity", "snr_inverse") == "snr_inverse"
                ):
                    found.append(
                        dict(
                            kernel=kernels[c.id],
                            d=s["d"],
                            n=s.get("n", 2),
                            dv=s.get("dv"),
                            tau=s.get("tau"),
                            measured=p.measured,
                            error=p.standard_error,
                            role=p.role,
                        )
                    )
        return found
