# SPDX-License-Identifier: Apache-2.0
"""HTML from Python values: everything that goes through here is escaped, unless it is markup already."""
import base64
import html

from style import number, words

MARKS = {
    "holds": "●",
    "holds_asymptotically": "◐",
    "refuted": "○",
    "boundary": "◌",
    "typo": "¶",
    "untrained": "△",
    "not_tested": "–",
    "failed": "✗",
}


class Markup(str):
    """Text that is HTML already."""


def text(value):
    return value if isinstance(value, Markup) else Markup(html.escape(str(value), quote=True))


def join(parts, between=""):
    return Markup(text(between).join(text(p) for p in parts))


def tag(name, /, *inside, **attributes):
    """<name attributes>inside</name>; a trailing _ of an attribute is dropped, other _ become -; None leaves it out."""
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    written = "".join(f' {key}="{text(value)}"' for key, value in given.items())
    return Markup(f"<{name}{written}>{join(inside)}</{name}>")


def void(name, /, **attributes):
    """An element without an end tag."""
    return Markup(tag(name, **attributes).removesuffix(f"</{name}>"))


def muted(*inside):
    return tag("span", *inside, class_="muted")


def bad(*inside):
    return tag("strong", *inside, class_="bad")


def anchor(id):
    return "claim-" + "".join(c if c.isalnum() else "-" for c in id)


def link(claim):
    """A claim's id as a link to its row; the id may break after each underscore."""
    return tag("a", Markup(text(claim["id"]).replace("_", "_<wbr>")), class_="id", href="#" + anchor(claim["id"]))


def badge(verdict, outcome):
    """A verdict in the colours of what it comes to."""
    mark = tag("span", MARKS.get(outcome, "?"), aria_hidden="true")
    return tag("span", mark, " ", words(verdict), class_="badge " + outcome)


def missing(what, command):
    return tag("p", what, " ", tag("code", command), " fills this section.", class_="missing")


def table(head, rows, **attributes):
    top = tag("thead", tag("tr", *(tag("th", h, scope="col") for h in head)))
    return tag("table", top, tag("tbody", *rows), **attributes)


def figure(picture):
    """A drawn figure: {name, svg, alt, caption}; the SVG as an image, so that no id of one meets those of another."""
    data = base64.b64encode(picture["svg"].encode()).decode()
    image = void("img", loading="lazy", alt=picture["alt"], src="data:image/svg+xml;base64," + data)
    file = tag("span", f"figures/{picture['name']}.svg, .png", class_="file")
    return tag("figure", image, tag("figcaption", picture["caption"], " ", file))


def predicted(point):
    """The prediction as text; where it is a bound, or zero, the tolerance that goes with it."""
    relation = {"equal": "", "at_most": "≤ ", "at_least": "≥ "}[point["relation"]]
    sign = {"equal": "±", "at_most": "+", "at_least": "−"}[point["relation"]]
    shown = relation + number(point["predicted"])
    telling = point["tolerance"] and (relation or not point["predicted"])
    return shown + (f" {sign} {number(point['tolerance'], 2)}" if telling else "")
