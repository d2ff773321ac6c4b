# SPDX-License-Identifier: Apache-2.0
"""Result files of any size, with the columns of harness/files/results.cpp, so that the report can be tested without
runs."""
import h5py
import numpy as np

FAMILIES = {
    "additive": 12,
    "gated": 11,
    "delta rule": 9,
    "online nonlinear": 3,
    "exact regression": 7,
    "nonparametric": 10,
    "delta + kernel": 3,
    "persistent memory": 4,
}
TASKS = {  # the headline, and its better direction
    "recall": ("accuracy", "larger"),
    "mqar": ("accuracy", "larger"),
    "swap": ("state_accuracy", "larger"),
    "online_regression": ("loss_late", "smaller"),
    "overwrite": ("accuracy", "larger"),
    "duplicate_write": ("mse", "smaller"),
    "long_mqar": ("accuracy", "larger"),
    "needle": ("accuracy", "larger"),
    "reachability": ("accuracy", "larger"),
    "copy": ("accuracy", "larger"),
    "selective_copy": ("accuracy", "larger"),
    "fuzzy_recall": ("cosine", "larger"),
    "state_growth": ("norm", "neither"),
    "stationarity": ("distance", "smaller"),
    "stress": ("accuracy", "larger"),
    "capacity": ("capacity", "larger"),
    "angles": ("interference", "neither"),
}


def table(file, name, columns, rows):
    """columns: [(name, "f8" | "i8" | width of text)]."""
    types = [(c, kind if isinstance(kind, str) else f"S{kind}") for c, kind in columns]
    cells = [tuple(x.encode() if isinstance(x, str) else x for x in row) for row in rows]
    file[name] = np.array(cells, dtype=types)


def header(file, command, version=2):
    file.attrs["schema"] = np.bytes_("recollect results")
    file.attrs["schema_version"] = np.int32(version)
    meta = file.create_group("meta")
    facts = {
        "version": "0.1.0",
        "git_commit": "0123456789abcdef",
        "git_dirty": "true",
        "command_line": command,
        "start_utc": "2025-01-01T00:00:00Z",
        "execution_space": "OpenMP",
        "device": "a test",
        "seed": "1",
        "environment": "",
    }
    for name, value in facts.items():
        meta.attrs[name] = np.bytes_(value)


SMALL = {"additive": 2, "persistent memory": 1}

CASE = dict(
    variant="linear", family="additive", form="recurrent", task="recall", real="f64", chunk=64, seed=1, headline="accuracy",
    better="larger", chance=0.1, ceiling=1.0, setting="tuned", experiment="", params={}, chosen={}, status="ok", reason="",
    metrics={"accuracy": 0.5}, state_bytes=1024.0, flops=64.0,
)  # fmt: skip
TEXT = 48  # maximum of characters in a text of a case; a reason may have five times as many


def write_cases(path, cases, experiments=(), version=3, command="recollect run -o r.h5"):
    """A file of runs: each case gives its differences from CASE; a case of status "not run" is planned and has no
    record."""
    cases = [{**CASE, **case} for case in cases]
    shape = ("case", *(name for name in CASE if name not in ("params", "chosen", "status", "reason", "metrics", "state_bytes", "flops")))
    kinds = dict(case="i8", chunk="i8", seed="u8", chance="f8", ceiling="f8")
    owned = [("case", "i8"), ("owner", TEXT), ("name", TEXT), ("value", "f8")]
    ran = [(i, c) for i, c in enumerate(cases) if c["status"] != "not run"]

    def values(i, owners):
        return [(i, owner, name, value) for owner, mine in owners.items() for name, value in mine.items()]

    with h5py.File(path, "w") as file:
        header(file, command, version)
        table(file, "plan", [(n, kinds.get(n, TEXT)) for n in shape], [(i, *(c[n] for n in shape[1:])) for i, c in enumerate(cases)])
        rows = [row for i, c in enumerate(cases) for row in values(i, c["params"])]
        table(file, "parameters", [*owned, ("text", TEXT)], [(*row, "") if not isinstance(row[3], str) else (*row[:3], 0.0, row[3]) for row in rows])
        table(file, "choices", owned, [(i, owner, name, x) for i, c in ran for (owner, name), x in c["chosen"].items()])
        numbers = [(i, 1, 1, 64, 8, 8, c["status"], c["reason"], c["state_bytes"], c["flops"]) for i, c in ran]
        sizes = [(n, "i8") for n in ("case", "B", "H", "T", "Dk", "Dv")]
        table(file, "records", [*sizes, ("status", TEXT), ("reason", 5 * TEXT), ("state_bytes", "f8"), ("flops", "f8")], numbers)
        table(file, "metrics", [("case", "i8"), ("metric", TEXT), ("value", "f8")], [(i, n, x) for i, c in ran if c["status"] == "ok" for n, x in c["metrics"].items()])
        table(file, "samples", [("case", "i8"), ("repetition", "i8"), ("seconds", "f8")], [(i, 0, 0.01) for i, _ in ran])
        table(file, "experiments", [("experiment", TEXT), ("title", 2 * TEXT), ("printed", 2 * TEXT)], list(experiments))


def seeded(values, **case):
    """One case per value of the headline, each with another seed."""
    headline = case.get("headline", CASE["headline"])
    return [dict(case, seed=i + 1, metrics={headline: x}) for i, x in enumerate(values)]


def write_runs(path, seed=0, steps=400, families=FAMILIES):
    """All variants of every family on every task, including meaningless, failed and not-run cells."""
    draw = np.random.default_rng(seed)
    variants = [(family, f"{family.split()[0]}_{i}") for family, count in families.items() for i in range(count)]
    plan, records, metrics, samples, parameters, series = [], [], [], [], [], {}
    for task, (metric, better) in TASKS.items():
        for number, (family, variant) in enumerate(variants):
            case = len(plan)
            ends = (0.1, 1.0) if better == "larger" else (1.0, 0.0)
            plan.append((case, variant, family, "chunked", task, "f64", 64, 1, metric, better, *ends, "fixed", ""))
            parameters += [(case, task, "n", 16.0, ""), (case, task, "d", 16.0, "")]
            if number == 17 and task == "swap":
                continue  # planned, but not recorded
            status, reason = "ok", ""
            if family == "persistent memory" and task in ("swap", "online_regression"):
                status, reason = "meaningless", "the layer holds fixed weights and cannot be written to"
            elif number == 5 and task == "stress":
                status, reason = "failed", "softmax: <needs> a finite scale & more"
            records.append((case, 2, 1, steps, 32, 32, status, reason, 8.0 * (number + 1), 4.0 * (number % 7 + 1)))
            if status != "ok":
                continue
            value = draw.uniform() if metric in ("accuracy", "cosine", "state_accuracy") else 10 ** draw.uniform(-2, 4)
            metrics.append((case, metric, value))
            samples.append((case, 0, 0.01))
            if task in ("swap", "online_regression"):
                name = "state_accuracy_by_step" if task == "swap" else "loss_by_step"
                t = np.arange(steps)
                curve = (
                    np.exp(-t / (40.0 * (1 + number)))
                    if task == "swap"
                    else 10 ** (1.5 * np.cos(number) - t / steps + 0.1 * draw.normal(size=steps))
                )
                series.setdefault(name, []).extend(zip([case] * steps, t, curve))
                if task == "online_regression":
                    series.setdefault("naive_by_step", []).extend(zip([case] * steps, t, 0.2 + 0 * curve))
    with h5py.File(path, "w") as file:
        header(file, "recollect run --variants all --tasks all -o r.h5")
        table(
            file,
            "plan",
            [
                ("case", "i8"),
                ("variant", 48),
                ("family", 32),
                ("form", 24),
                ("task", 48),
                ("real", 8),
                ("chunk", "i8"),
                ("seed", "u8"),
                ("headline", 32),
                ("better", 8),
                ("chance", "f8"),
                ("ceiling", "f8"),
                ("setting", 16),
                ("experiment", 32),
            ],
            plan,
        )
        table(
            file, "parameters", [("case", "i8"), ("owner", 48), ("name", 32), ("value", "f8"), ("text", 32)], parameters
        )
        shape = [(n, "i8") for n in ("B", "H", "T", "Dk", "Dv")]
        table(file, "records", [("case", "i8"), *shape, ("status", 16), ("reason", 240), ("state_bytes", "f8"), ("flops", "f8")], records)
        table(file, "metrics", [("case", "i8"), ("metric", 48), ("value", "f8")], metrics)
        table(file, "samples", [("case", "i8"), ("repetition", "i8"), ("seconds", "f8")], samples)
        for name, rows in series.items():
            table(file, "series/" + name, [("case", "i8"), ("step", "i8"), ("value", "f8")], rows)
    return variants


def point(role, params, measured, predicted, standard_error=0.0, verdict="holds", label="", **changes):
    tolerance = 6.47 * standard_error or 1e-12
    return {
        **dict(role=role, rival="", label=label, params=params, measured=measured, predicted=predicted),
        **dict(standard_error=standard_error, tolerance=tolerance, sensitivity=0.02, relation="equal", verdict=verdict),
        **changes,
    }


def rival(params, measured, predicted, label="n for n-1", kind="law", **changes):
    return point("rival", params, measured, predicted, verdict="refuted", label=label, rival=kind, **changes)


def snr_points(draw, kernel):
    points = []
    for d in (16, 32, 64, 128, 256, 512, 1024):
        exact, printed = d / (d - 3), 1.0
        at = {"kernel": kernel, "n": d, "d": d, "dv": d}
        points += [point("obligation", at, exact, exact, label="in expectation")]
        points += [point("statement", at, exact, printed, verdict="refuted"), rival(at, exact, 1.1 * exact)]
        noisy = 16 / d * (1 + 0.02 * draw.normal())
        sampled = dict(at, n=16, dv=16)
        points.append(point("obligation", sampled, noisy, 16 / d, 0.02 * 16 / d, label="given the probe key"))
    return points + [point("limit", {"d": 10**6}, 1.0001, 1.0, tolerance=1e-3, label="exact / printed")]


def equivalence_points(draw, variants):
    points = [
        point(
            "obligation",
            {"variant": v, "form": form, "real": real, "T": 65, "C": C},
            eps * 10 ** draw.uniform(0, 2),
            0.0,
            relation="at_most",
            tolerance=eps * 1e4,
        )
        for _, v in variants
        for form in ("chunked", "parallel")
        for real, eps in (("f32", 1e-7), ("f64", 1e-16))
        for C in (1, 16, 32, 64, 65)
    ]
    return points + [rival({"variant": "linear"}, 0.3, 0.0, "its sign flipped", "system", relation="at_most")]


def columns(**widths):
    return list(widths.items())


NUMBERS = [(n, "f8") for n in ("measured", "predicted", "standard_error", "tolerance")]
CLAIM_PARAMETERS = columns(claim=64, point="i8", name=32, value="f8", text=128)


def parameter_rows(id, number, params):
    for name, value in params.items():
        words = isinstance(value, str)
        yield (id, number, name, 0.0 if words else float(value), value if words else "")


def write_claims(path, variants, count=200, failing=1, seed=0, kernels=("linear", "relu", "exp", "solu"), named=()):
    """`count` claims: snr_*, chunk_equals_recurrent, `named` as (id, verdict, scope), every verdict, scope, reason; the last
    `failing` of them fail."""
    draw = np.random.default_rng(seed)
    findings = []
    for kernel in kernels:
        statement = f"$SNR^-1$ of the {kernel} kernel is about $N / d_k$."
        findings.append(
            (f"snr_{kernel}", "000 Eq 7", statement, "holds_asymptotically", "", "", snr_points(draw, kernel))
        )
    statement = "The chunked form equals the recurrence."
    points = equivalence_points(draw, variants)
    findings.append(("chunk_equals_recurrent", "000 D.3", statement, "holds", "", "", points))
    told = [("refuted", "paper", ""), ("holds_asymptotically", "", ""), ("refuted", "boundary", "")]
    told += [("refuted", "untrained", ""), ("not_tested", "", "needs_training"), ("not_tested", "", "not_numeric")]
    kinds = [("refuted", "typo", ""), ("holds", "", "")] + told + [("holds", "", "")] * 30
    while len(findings) < count:
        i = len(findings)
        verdict, scope, reason = kinds[i % len(kinds)]
        id = f"claim_{i}"
        if len(findings) - len(kernels) - 1 < len(named):
            id, verdict, scope = named[len(findings) - len(kernels) - 1]
            reason = ""
        points = [point("obligation", {"d": d, "beta": 0.5}, 1.0, 1.0) for d in (2, 4, 8, 16, 32)]
        points += [rival({"d": 2}, 1.0, 1.5), rival({"d": 2}, 2.0, 1.0, "erase sign flipped", "system")]
        if verdict != "holds":
            points.append(point("statement", {"d": 2, "case": "a < b & $c"}, 1.618, 1.0, verdict="refuted"))
        source = f"{('000', '002', '003', '004')[i % 4]} §{i}, Eq {i}"
        statement = f"Statement {i} holds for all x < y & every <key>."
        findings.append((id, source, statement, verdict, scope, reason, [] if reason else points))
    claims, parameters, texts = [], [], []
    for i, (id, source, statement, verdict, scope, reason, points) in enumerate(findings):
        fails = i >= len(findings) - failing
        expected = verdict if not fails else "holds" if verdict != "holds" else "refuted"
        passed = int(not fails and not reason)
        exact, why = "The corrected form of it. With a second sentence.", f"Because of {i}."
        system, layers = ("layer", "linear delta_net") if i % 2 else ("algebra", "")
        told = (scope, reason, system, verdict, expected, f"row-{i} row-{i}-b", layers)
        texts.append((id, source, statement, exact, why, *told, passed, 0.1))
        for j, p in enumerate(points):
            text = ",".join(f"{k}={v}" for k, v in p["params"].items())
            numbers = [p[name] for name, _ in NUMBERS]
            row = (id, j, p["role"], p["rival"], p["label"], text, *numbers, p["sensitivity"], p["relation"])
            claims.append((*row, p["verdict"], verdict, expected, passed))
            parameters += parameter_rows(id, j, p["params"])
    with h5py.File(path, "w") as file:
        header(file, "recollect verify -o v.h5")
        names = columns(claim=64, point="i8", role=16, rival=8, label=128, parameters=160)
        verdicts = columns(sensitivity="f8", relation=12, verdict=24, claim_verdict=24, expected=24, passed="i8")
        table(file, "claims", [*names, *NUMBERS, *verdicts], claims)
        table(file, "claim_parameters", CLAIM_PARAMETERS, parameters)
        said = columns(claim=64, source=160, statement=1024, exact=1536, explanation=2048, scope=16, reason=24)
        found = columns(system=8, verdict=24, expected=24, covers=1024, variants=1024, passed="i8", seconds="f8")
        table(file, "claim_texts", [*said, *found], texts)
    return [f[0] for f in findings]


def write_first_edition(path):
    """A file of schema version 1: a refuted claim with tiers, and a control whose points are renumbered."""
    told = ("refuted", "refuted", "refuted", 1)
    rows = [
        ("old", 0, "paper", "d=2", 1.5, 1.0, 0.0, 1e-12, 0.1, "equal", "refuted", *told, 0),
        ("old", 1, "corrected", "d=2", 1.5, 1.5, 0.0, 1e-12, 0.1, "equal", "holds", *told, 0),
        ("old", 0, "corrected", "d=3", 1.6, 1.5, 0.0, 1e-12, 0.1, "equal", "refuted", *told, 1),
    ]
    with h5py.File(path, "w") as file:
        header(file, "recollect verify -o v.h5", version=1)
        names = columns(claim=64, point="i8", tier=24, parameters=160)
        verdicts = columns(resolution="f8", relation=12, verdict=24, claim_verdict=24, expected=24, control=24)
        table(file, "claims", [*names, *NUMBERS, *verdicts, *columns(passed="i8", is_control="i8")], rows)
        parameters = [("old", 0, "d", 2.0, ""), ("old", 1, "d", 2.0, "")]
        table(file, "claim_parameters", CLAIM_PARAMETERS, parameters)
        texts = columns(claim=64, source=160, statement=1024, exact=1536, scope=16, covers=1024, seconds="f8")
        table(file, "claim_texts", texts, [("old", "000 Eq 1", "One is 1.", "1.5", "paper", "row-old", 0.1)])
