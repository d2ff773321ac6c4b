# SPDX-License-Identifier: Apache-2.0
"""Which figures the report has, in which section, and how they come into its folder."""
import concurrent.futures
import ctypes
import multiprocessing
import os
import signal

import claim_figures
import curves
import equivalence
import figures
import matrix
import style
from findings import needs_explaining, outcome

# name, how it is drawn, caption
FIGURES = [
    (
        "verdicts_by_paper",
        figures.verdicts_by_paper,
        "What was found, by paper. Refuted as expected is a pass, failed is not, not tested is neither.",
    ),
    (
        "snr_curves",
        figures.snr_curves,
        "Retrieval noise over signal against key width, a stored pair. Dashes and ticks are predicted, marks are "
        "measured; ± 1 standard error. Hollow: the statement.",
    ),
    (
        "paper_error",
        figures.paper_error,
        "How far each printed large-d form is from the measured value. A falling line tends to the truth; a flat one "
        "keeps its error.",
    ),
    (
        "swap_accuracy",
        curves.swap_accuracy,
        "Share of memories whose whole assignment is right after each swap. One panel a family; grey: median and "
        "middle 80% of all variants.",
    ),
    (
        "regression_loss",
        curves.regression_loss,
        "Squared error of the one-step prediction; the process switches at a quarter of the sequence. Grey: median and "
        "middle 80% of all variants.",
    ),
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
    (
        "pulls",
        figures.pulls,
        "All sampled obligations without a known bias: were the theory or the standard errors wrong, the bars would "
        "leave the curve.",
    ),
    (
        "power",
        figures.power,
        "Left: the smallest relative error of its prediction that each sampled point would notice. Right: how much of "
        "each bound was reached.",
    ),
    ("matrix", matrix.figure, "One headline metric a task."),
]

# id, title, name in the navigation, figures, and what to do where there is none
SECTIONS = [
    (
        "snr",
        "Retrieval noise",
        "Noise",
        ["snr_curves", "paper_error"],
        "No file holds the claims snr_* over several key widths.",
        "recollect verify 'snr*' -o v.h5",
    ),
    (
        "swap",
        "Swap tracking",
        "Swaps",
        ["swap_accuracy"],
        "No file holds runs of the task swap.",
        "recollect run --variants all --tasks swap -o r.h5",
    ),
    (
        "regression",
        "Online regression",
        "Regression",
        ["regression_loss"],
        "No file holds runs of the task online_regression.",
        "recollect run --variants all --tasks online_regression -o r.h5",
    ),
    (
        "equivalence",
        "Fast forms against their recurrence",
        "Fast forms",
        ["equivalence", "bound_used"],
        "No file holds the claim chunk_equals_recurrent.",
        "recollect verify chunk_equals_recurrent -o v.h5",
    ),
    (
        "statistics",
        "Are the standard errors right, and what would be noticed?",
        "Statistics",
        ["pulls", "power"],
        "No file holds at least ten sampled points.",
        "recollect verify -o v.h5",
    ),
]


_jobs = []  # (name, function, its argument, caption, alt, folder); the workers of `draw` inherit it


def draw_one(index):
    """Draws and saves one figure; its entry of the pictures, or None where the data do not allow it."""
    name, make, of, caption, alt, folder = _jobs[index]
    figure = make(of)
    return figure and {"name": name, "svg": style.save(figure, folder, name), "caption": caption, "alt": alt}


def end_with_parent(parent):
    """Called in a worker, which is killed when `parent` dies; the parent alone answers to signals."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.getppid() != parent:
        os._exit(1)


def draw(results, folder):
    """Every figure that the data allow, saved in folder: name -> {name, svg, caption, alt}. All cores work."""
    os.makedirs(folder)
    _jobs[:] = [(name, make, results, caption, caption, folder) for name, make, caption in FIGURES]
    _jobs.extend(
        ("claim_" + c["id"], claim_figures.claim_figure, c, "", claim_figures.alt_text(c), folder)
        for c in results["claims"]
        if c["points"] and (needs_explaining(c) or outcome(c) == "failed")
    )
    workers = concurrent.futures.ProcessPoolExecutor(
        len(os.sched_getaffinity(0)), multiprocessing.get_context("fork"), end_with_parent, (os.getpid(),)
    )
    try:
        return {picture["name"]: picture for picture in workers.map(draw_one, range(len(_jobs))) if picture}
    except concurrent.futures.process.BrokenProcessPool:
        raise OSError("a process that drew figures died: was it killed, or did memory run out?") from None
    finally:
        workers.shutdown(cancel_futures=True)
