# SPDX-License-Identifier: Apache-2.0
"""What trained models say of a row of the ledger: one verdict, from the models nearest to the paper's size.

A row has statements on several experiments: some at the size of the paper, some reduced, some that the paper does not
print. Those that decide are held against something printed, by the widest models of all."""
import collections

from style import params_text

SIZE = ("width", "layers", "steps")  # settings that say how large a model is, and how long it was trained


def claim_of(row):
    """The id of a row's claim: "vla-copy-task" -> "vla_copy_task"."""
    return row.replace("-", "_")


def sizes(results):
    """{(file, experiment): {setting: its largest value}} of the settings that say how large its models are."""
    found = {}
    for run in results["trainings"]:
        mine = found.setdefault((run["file"], run["experiment"]), {})
        for name in SIZE:
            value = run["settings"].get(name)
            if isinstance(value, (int, float)):
                mine[name] = max(mine.get(name, value), value)
    return found


def described(statements, results):
    """Every statement with its experiment's title, what the paper prints of it and its models' size: the widest first."""
    known = sizes(results)
    said = []
    for s in statements:
        experiment, size = results["experiments"].get(s["experiment"], {}), known.get((s["file"], s["experiment"]), {})
        said.append(
            dict(s, title=experiment.get("title") or s["experiment"], printed=experiment.get("printed", ""), size=size)
        )
    return sorted(said, key=lambda s: (-s["size"].get("width", 0), not s["printed"]))


def deciding(statements):
    """Of described statements those that decide: on what is printed where any is, by the widest models."""
    mine = [s for s in statements if s["printed"]] or statements
    widest = max(s["size"].get("width", 0) for s in mine)
    return [s for s in mine if s["size"].get("width", 0) == widest]


def verdict(counts):
    """The verdict of a row by {verdict: statements}: one that is refuted here and holds there is refuted in part."""
    if counts["refuted"]:
        return "trained_in_part" if counts["holds"] else "trained_refuted"
    return "trained_holds" if counts["holds"] == sum(counts.values()) else "trained_undecided"


def judged(results):
    """{row: {outcome, counts, said, statements}} of every row that has statements."""
    rows = {}
    for s in results["trained_statements"]:
        rows.setdefault(s["row"], []).append(s)
    found = {}
    for row, mine in rows.items():
        mine = described(mine, results)
        decide = deciding(mine)
        counts = collections.Counter(holds=0, refuted=0)
        counts.update(s["verdict"] for s in decide)
        tally = ", ".join(f"{n} {'hold' if v == 'holds' and n != 1 else v}" for v, n in counts.items() if n)
        size = params_text({n: v for n, v in decide[0]["size"].items() if n != "steps"})
        said = (
            f"{len(decide)} statement{'s' if len(decide) != 1 else ''} by models of {size or 'unknown size'}: {tally}"
        )
        found[row] = dict(outcome=verdict(counts), counts=counts, said=said, statements=mine)
    return found


def attach(results):
    """Gives every claim that asks for training what trained models say of its row."""
    by_claim = {claim_of(row): found for row, found in judged(results).items()}
    for claim in results["claims"]:
        claim["trained"] = by_claim.get(claim["id"])
