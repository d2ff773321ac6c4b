# SPDX-License-Identifier: Apache-2.0
"""Which figures the report has, in which section, and how they come into its folder."""
import os

import claim_figures
import curves
import equivalence
import figures
import run_figures
import speed_figures
import style
import workers
from findings import needs_explaining, outcome
from markup import figure_name

# page -> (name, how it is drawn from the results, caption)
FIGURES = {
    "noise": [
        (
            "snr_curves",
            figures.snr_curves,
            "Retrieval noise over signal against key width, a stored pair. Dashes and ticks are predicted, marks are "
            "measured; ± 1 standard error, none where nothing is sampled. Hollow: the statement.",
        ),
        (
            "paper_error",
            figures.paper_error,
            "How far each printed large-d form is from the measured value. A falling line tends to the truth; a flat "
            "one keeps its error.",
        ),
    ],
    "layers": [
        (
            "accuracy_by_load",
            lambda results: run_figures.by_load(results["cells"]),
            "Accuracy of the last of n reads against n / d. Dashed: the linear memory's theory, with all terms of the "
            "read taken as Gaussian and independent.",
        ),
        (
            "capacity",
            lambda results: run_figures.capacities(results["matrix_cells"]),
            "How many pairs each layer still recalls with 99% accuracy.",
        ),
    ],
    "sequences": [
        (
            "swap_accuracy",
            curves.swap_accuracy,
            "Share of memories whose whole assignment is right after each swap. One panel a family; grey: median and "
            "middle 80% of all layers.",
        ),
        (
            "regression_loss",
            curves.regression_loss,
            "Squared error of the one-step prediction; the process switches at a quarter of the sequence. Grey: median "
            "and middle 80% of all layers.",
        ),
    ],
    "forms": [
        (
            "equivalence",
            equivalence.equivalence,
            "Largest difference between each fast form and its recurrence, over all T, against chunk length.",
        ),
        (
            "bound_used",
            equivalence.bound_used,
            "Share of the derived rounding bound that each fast form uses. Right of the dashed line is an error, not "
            "rounding.",
        ),
    ],
    "statistics": [
        (
            "pulls",
            figures.pulls,
            "All sampled obligations without a known bias: were the theory or the standard errors wrong, the bars "
            "would leave the curve.",
        ),
        (
            "power",
            figures.power,
            "Left: the smallest relative error of its prediction that each sampled point would notice. Right: how much "
            "of each bound was reached.",
        ),
    ],
    "speed": [
        (
            "time_against_length",
            speed_figures.time_against_length,
            "Time a pass against T, log-log, with the fitted exponent; bars: the bootstrap interval of the median.",
        ),
        (
            "roofline",
            speed_figures.roofline,
            "Operations a second against operations a byte, under this machine's measured ceilings.",
        ),
    ],
}


def draw_one(job):
    """Draws and saves one figure, or none where the data do not allow it."""
    name, make, of, _, _, folder = job
    figure = make(of)
    if figure:
        style.save(figure, folder, name)


def drawn(job):
    """The entry of a figure that was saved, or None."""
    name, _, _, caption, alt, folder = job
    path = os.path.join(folder, name + ".svg")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as f:
        return {"name": name, "svg": f.read(), "caption": caption, "alt": alt}


def draw(results, folder):
    """Every figure that the data allow, saved in folder: name -> {name, width, height, caption, alt}. All cores work."""
    os.makedirs(folder)
    jobs = [(name, make, results, caption, caption, folder) for name, make, caption in FIGURES]
    jobs += [
        (figure_name(c["id"]), claim_figures.claim_figure, c, "", claim_figures.alt_text(c), folder)
        for c in results["claims"]
        if c["points"] and (needs_explaining(c) or outcome(c) == "failed")
    ]
    workers.spread(draw_one, jobs)
    return {picture["name"]: picture for picture in map(drawn, jobs) if picture}
