# SPDX-License-Identifier: Apache-2.0
"""Result files of every shape; each function writes one."""
import os

import h5py
import pages
import synthetic
from synthetic import seeded

ROOT = os.path.join(pages.HERE, "..", "..")


def sweep(path):
    synthetic.write_cases(
        path,
        [
            c
            for n in (2, 4, 8)
            for layer, x, size in (("linear", 1 / n, 512.0), ("softmax", 0.95, 4096.0))
            for c in seeded(
                [x, x * 1.01, x * 0.97], variant=layer, params={"recall": {"n": n}}, chance=1 / n, state_bytes=size * n
            )
        ],
    )


def tuned(path):
    cases = []
    for i, layer in enumerate(("linear", "delta_net", "rls", "softmax", "ffn_relu")):
        family = "persistent memory" if layer.startswith("ffn") else "additive"
        for task, headline, better in (("recall", "accuracy", "larger"), ("online_regression", "loss_late", "smaller")):
            ends = dict(chance=0.03125, ceiling=1.0) if better == "larger" else dict(chance=1.0, ceiling=0.0)
            for seed in (1, 2, 3):
                values = {headline: 0.02 + 0.2 * i + seed / 97, "mse": 10.0**-i}
                cases.append(
                    dict(
                        variant=layer,
                        family=family,
                        task=task,
                        headline=headline,
                        better=better,
                        seed=seed,
                        metrics=values,
                        **ends,
                        params={task: {"n": 32, "beta": 1.0}, layer: {"scale": 1.0}},
                        chosen={(task, "beta"): 0.2 + i, (layer, "scale"): 0.5},
                        state_bytes=2048.0 * (i + 1),
                        flops=1536.0 + i
                    )
                )
                cases.append(dict(cases[-1], setting="trial", metrics={headline: 99.0}, chosen={}))
    synthetic.write_cases(path, cases)


def one_seed(path):
    synthetic.write_cases(
        path,
        [
            c
            for x, layer in ((0.5, "linear"), (1 / 3, "softmax"))
            for c in seeded([x], variant=layer, setting="untuned")
        ],
    )


def unfinished(path):
    cases = seeded([0.5, 0.75], variant="linear") + seeded([0.5, 0.75], variant="rls")
    cases[3] = dict(cases[3], status="failed", reason="rls: the matrix is <singular>")
    cases += seeded([0.0, 0.0], variant="softmax", status="skipped", reason="needs 9 GB, and 8 are free")
    cases += seeded([0.0, 0.0], variant="ffn_relu", status="meaningless", reason="its weights are fixed")
    cases += seeded([0.4, 0.0], variant="vla")[:1] + [dict(seeded([0.4, 0.0], variant="vla")[1], status="not run")]
    synthetic.write_cases(path, cases)


def experiments(path):
    cases = [
        c
        for n in (4, 8, 16)
        for layer in ("linear", "vla")
        for c in seeded(
            [0.1 * n / 16, 0.9 / n],
            variant=layer,
            experiment="load",
            params={"recall": {"n": n, "d": 16, "dv": 16}, layer: {"keys": "unit"}},
        )
    ]
    synthetic.write_cases(path, cases, experiments=[("load", "By load", "000 Fig 1: 0.75 at 8")])


def second_schema(path):
    synthetic.write_runs(path, steps=12, families=synthetic.SMALL)


def verdicts(path):
    synthetic.write_claims(path, [("additive", "linear")], count=50, failing=2)


def one_paper(path):
    synthetic.write_claims(path, [("additive", "linear")], count=3, failing=0, kernels=("linear",))


BENCH = dict(
    source="recollect", name="", variant="linear", form="chunked", B=2, H=4, T=64, Dk=16, Dv=8, real="f32", chunk=64,
    status="ok", reason="", median_seconds=0.0, low_seconds=0.0, high_seconds=0.0, samples=9, outliers=1,
    tokens_per_second=0.0, bytes=1e6, bytes_per_second=0.0, bytes_ceiling=4e9, flops=5e6, flops_per_second=0.0,
    flops_ceiling=9e9, peak_bytes=4096, math="exact", schedule="auto", without="", **{"pass": "forward"},
)  # fmt: skip


def write_bench(path, rows, older=False):
    """A file of `bench`: each row gives its differences from BENCH; an older program's file has no kind of pass."""
    dropped = ("pass", "math", "schedule", "without") if older else ()
    made = []
    for i, row in enumerate(rows):
        row = {**BENCH, **row}
        own = "{variant}/{form}/B:{B}/H:{H}/T:{T}/Dk:{Dk}/Dv:{Dv}/{real}".format(**row)
        row["name"] = own + ("/backward" if row["pass"] == "backward" else "")
        if row["status"] == "ok":
            seconds = row["median_seconds"]
            row.update(low_seconds=0.9 * seconds, high_seconds=1.3 * seconds)
            row["tokens_per_second"] = row["B"] * row["H"] * row["T"] / seconds
        made.append((i, *(row[n] for n in BENCH if n not in dropped)))
    kinds = {n: "i8" if isinstance(x, int) else "f8" if isinstance(x, float) else 120 for n, x in BENCH.items()}
    with h5py.File(path, "w") as file:
        synthetic.header(file, "recollect bench -o b.h5")
        synthetic.table(file, "bench", [("row", "i8"), *((n, kinds[n]) for n in BENCH if n not in dropped)], made)


def timings(path):
    """Lengths, forms, peers, kinds of pass, and what was not timed."""
    rows = [
        dict(variant=layer, form=form, T=T, median_seconds=1e-5 * factor * T**power)
        for layer, form, factor, power in (
            ("linear", "chunked", 1, 1.0),
            ("linear", "recurrent", 3, 1.0),
            ("softmax", "parallel", 0.7, 2.0),
        )
        for T in (64, 128, 256)
    ]
    rows += [dict(source=peer, T=64, median_seconds=s) for peer, s in (("torch", 2.5e-3), ("fla", 3.3e-4))]
    rows += [
        {"source": source, "pass": "backward", "T": 64, "median_seconds": s}
        for source, s in (("recollect", 1.7e-3), ("torch", 8.9e-3))
    ]
    rows += [
        dict(variant="rls", status="skipped", reason="needs 9 GB, and 8 are free"),
        dict(source="fla", variant="softmax", form="parallel", status="failed", reason="it has <no> kernel & more"),
    ]
    write_bench(path, rows)


def older_timings(path):
    ours = [dict(T=T, median_seconds=T / 7e4) for T in (64, 128)]
    write_bench(path, [*ours, dict(source="torch", median_seconds=0.01)], older=True)


def baseline(path):
    os.symlink(os.path.join(ROOT, "ci", "baseline.h5"), path)


def trained(name):
    return lambda path: os.symlink(os.path.join(ROOT, "reports", "results", name), path)


SHAPES = dict(
    sweep=sweep,
    tuned=tuned,
    one_seed=one_seed,
    unfinished=unfinished,
    experiments=experiments,
    second_schema=second_schema,
    verdicts=verdicts,
    one_paper=one_paper,
    first_schema=synthetic.write_first_edition,
    timings=timings,
    older_timings=older_timings,
    baseline=baseline,
    trained=trained("trained_recall_longer.h5"),
    diverged=trained("trained_vla_ablation.h5"),
)
