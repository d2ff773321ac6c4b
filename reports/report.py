# SPDX-License-Identifier: Apache-2.0
"""report.py RESULTS.h5 ... -o DIR: writes DIR/index.html, which needs no other file, and DIR/figures/*.svg and *.png.

Exit codes: 0 written; 2 usage; 3 a file that cannot be read or a folder that cannot be written, one line on standard error."""
import argparse
import multiprocessing
import os
import shutil
import sys
import tempfile

try:
    import claim_figures
    import explain
    import figures
    import matrix
    import page
    import read
    import style
except ImportError as failure:
    sys.exit(print(f"recollect report: this Python cannot draw the report: {failure}", file=sys.stderr) or 3)

# name, how it is drawn, caption
FIGURES = [
    ("verdicts_by_paper", figures.verdicts_by_paper, "Claims by paper and outcome. Refuted as expected is a pass; failed is not."),
    ("snr_curves", figures.snr_curves,
     "Retrieval noise over signal against key width, a stored pair. Lines and ticks are theory, marks are measured; ± 1 standard error."),
    ("paper_error", figures.paper_error,
     "How far each printed large-d form is from the measured value. A falling line tends to the truth; a flat one keeps its error."),
    ("swap_accuracy", figures.swap_accuracy,
     "Share of memories whose whole assignment is right after each swap. One panel a family; grey: median and middle 80% of all variants."),
    ("regression_loss", figures.regression_loss,
     "Squared error of the one-step prediction; the process switches at a quarter of the sequence. Grey: median and middle 80% of all variants."),
    ("equivalence", figures.equivalence, "Largest difference between each fast form and its recurrence, over all T, against chunk length."),
    ("bound_used", figures.bound_used, "Share of the derived rounding bound that each fast form uses. Right of the dashed line is an error, not rounding."),
    ("pulls", figures.pulls, "All sampled obligations without a known bias: were the theory or the standard errors wrong, the bars would leave the curve."),
    ("matrix", matrix.figure, "One headline metric a task."),
]

# id, title, name in the navigation, figures, and what to do where there is none
SECTIONS = [
    ("snr", "Retrieval noise", "Noise", ["snr_curves", "paper_error"], "No file holds the claims snr_* over several key widths.", "recollect verify 'snr*' -o v.h5"),
    ("swap", "Swap tracking", "Swaps", ["swap_accuracy"], "No file holds runs of the task swap.", "recollect run --variants all --tasks swap -o r.h5"),
    ("regression", "Online regression", "Regression", ["regression_loss"], "No file holds runs of the task online_regression.",
     "recollect run --variants all --tasks online_regression -o r.h5"),
    ("equivalence", "Fast forms against their recurrence", "Fast forms", ["equivalence", "bound_used"], "No file holds the claim chunk_equals_recurrent.",
     "recollect verify chunk_equals_recurrent -o v.h5"),
    ("statistics", "Are the standard errors right?", "Statistics", ["pulls"], "No file holds at least ten sampled points.", "recollect verify -o v.h5"),
]


_jobs = []  # (name, function, its argument, caption, alt, folder); the workers of `draw` inherit it


def draw_one(index):
    """Draws and saves one figure; its entry of the pictures, or None where the data do not allow it."""
    name, make, of, caption, alt, folder = _jobs[index]
    figure = make(of)
    return figure and {"name": name, "svg": style.save(figure, folder, name), "caption": caption, "alt": alt}


def draw(results, folder):
    """Every figure that the data allow, saved in folder: name -> {name, svg, caption, alt}. Drawing is slow: all cores share it."""
    os.makedirs(folder)
    _jobs[:] = [(name, make, results, caption, caption, folder) for name, make, caption in FIGURES]
    _jobs.extend(("claim_" + c["id"], claim_figures.claim_figure, c, "", claim_figures.alt_text(c), folder)
                 for c in results["claims"] if c["points"] and (explain.needs_explaining(c) or not c["passed"]))
    with multiprocessing.get_context("fork").Pool() as pool:
        return {picture["name"]: picture for picture in pool.imap(draw_one, range(len(_jobs))) if picture}


def is_ours(folder):
    """True where folder/index.html is an earlier report, whose figures may be replaced."""
    try:
        with open(os.path.join(folder, "index.html"), encoding="utf-8", errors="replace") as f:
            return 'name="generator" content="recollect report"' in f.read(4096)
    except OSError:
        return False


def publish(new, folder):
    """Moves a finished report into place: the figures first, the page last, each in one step."""
    os.makedirs(folder, exist_ok=True)
    target = os.path.join(folder, "figures")
    if os.path.lexists(target):
        if not is_ours(folder):
            raise OSError(f"{target} exists and belongs to no report: choose another folder")
        shutil.rmtree(target)
    os.rename(os.path.join(new, "figures"), target)
    os.replace(os.path.join(new, "index.html"), os.path.join(folder, "index.html"))


def write_report(paths, folder):
    results = read.read(paths)
    folder = os.path.abspath(folder)
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise OSError(f"{folder} exists and is not a folder")
    parent = os.path.dirname(folder)
    os.makedirs(parent, exist_ok=True)
    new = tempfile.mkdtemp(prefix=".report-", dir=parent)
    try:
        pictures = draw(results, os.path.join(new, "figures"))
        with open(os.path.join(new, "index.html"), "w", encoding="utf-8") as f:
            f.write(page.page(results, pictures, SECTIONS))
        publish(new, folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(prog="recollect report", description="One page and its figures from result files.")
    parser.add_argument("results", nargs="+", metavar="RESULTS.h5")
    parser.add_argument("-o", "--output", required=True, metavar="DIR")
    arguments = parser.parse_args()
    try:
        write_report(arguments.results, arguments.output)
    except (read.Unreadable, OSError) as failure:
        print(f"recollect report: {' '.join(str(failure).split())}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
