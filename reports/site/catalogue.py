# SPDX-License-Identifier: Apache-2.0
"""The program's catalogue of layers and tasks, in the words that the pages use."""
from __future__ import annotations

import math
from typing import Any

from reports import state_counts
from reports.figures.style import number

TRAITS = dict(  # (text if the layer declares the trait, text if not), as in `recollect list variants NAME`
    causal=("causal", "not causal"),
    linear_in_v=("linear in v", "not linear in v"),
    order_invariant=("independent of the order of the pairs", "depends on the order of the pairs"),
    stable=("float32 errors stay within the condition number's bound",
            "float32 errors may exceed the condition number's bound on ill-conditioned keys"),
)  # fmt: skip
REPEATS = dict(  # what a read at a key returns if several values were written there
    last="its latest value",
    sum="the sum of its values",
    mean="the mean of its values",
    ridged_mean="the sum of its values divided by (their number + ridge)",
)
Entry = dict[str, Any]  # an argument of a template, or an entry of the catalogue of layers and tasks


def range_of(parameter: Entry) -> str:
    """The values that a catalogued parameter may have."""
    if parameter.get("choices"):
        return ", ".join(parameter["choices"])
    low, high = (float(parameter[end]) for end in ("low", "high"))  # the catalogue writes infinity as the text "inf"
    if math.isfinite(high):
        return f"{number(low)} … {number(high)}" if math.isfinite(low) else f"≤ {number(high)}"
    if not math.isfinite(low):
        return "any"
    return "> 0" if 0 < low < 1e-20 else f"≥ {number(low)}"


def parameters(entry: Entry) -> Entry:
    """The field `parameters` of a catalogued entry. What the catalogue leaves out of a parameter is filled in."""
    return dict(parameters=[dict(dict(grid=[], range_text=range_of(p)), **p) for p in entry["parameters"]])


def layer_texts(v: Entry) -> Entry:
    """State, traits and forms of a catalogued layer, as sentences."""
    state, traits = v["state"], v["traits"]
    finite = f"{state['rows']} × {state['columns']} numbers per head at {state['at']}"
    said = [said_of[not traits[trait]] for trait, said_of in TRAITS.items()]
    said += [f"a repeated key returns {REPEATS[traits['repeats']]}"] if traits["repeats"] in REPEATS else []
    notes = [f["name"] + " (approximate)" * (not f["exact"]) + " (unstable)" * (not f["stable"]) for f in v["forms"]]
    return dict(state_text=finite if state["rows"] else "every pair: it grows with T", traits_text=", ".join(said),
                forms_text=", ".join(notes), counted=state_counts.state_counts().get(v["name"], {}))  # fmt: skip
