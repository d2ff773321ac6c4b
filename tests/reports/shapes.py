# SPDX-License-Identifier: Apache-2.0
"""Result files of every shape, one function each: it writes the file."""
import os

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
    baseline=baseline,
    trained=trained("trained_recall_longer.h5"),
    diverged=trained("trained_vla_ablation.h5"),
)
