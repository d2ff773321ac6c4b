# SPDX-License-Identifier: Apache-2.0
"""Formulas in texts. They are translated to TeX, and KaTeX typesets all formulas of a site in one call.

A text marks its formulas as `$...$`. They are in the plain notation that the terminal shows: x_t, S_{t-1}, k^T,
sqrt(d), lambda0, <=."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import unicodedata

from markupsafe import Markup, escape

from reports.figures import style

GREEK = """alpha beta gamma delta epsilon eps eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega
Gamma Delta Theta Lambda Sigma Phi Psi Omega""".split()
FUNCTIONS = "exp log ln cos sin tan cosh sinh tanh det max min dim gcd arg".split()
NAMED = "diag rank sign tr relu elu vec var cov Var SNR softmax floor ceil span erf".split()
SUMS = dict(sum=r"\sum", prod=r"\prod", int=r"\int", inf=r"\infty")
SIGNS = {
    "<=": r"\le",
    ">=": r"\ge",
    "->": r"\to",
    "!=": r"\ne",
    "~=": r"\approx",
    "<<": r"\ll",
    ">>": r"\gg",
    "+-": r"\pm",
    "~": r"\sim",
    "...": r"\dots",
    "..": r"\dots",
    "*": r"\cdot",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "−": "-",
    "{": r"\{",
    "}": r"\}",
}
SUBSCRIPTED = r"[Dd][kv]|W[kvqo]|[a-zA-Z]\d+"  # Dk, dv, Wk, e1: a letter and its index
OPERATORS = ("=", "<", ">", "+", "-", "−", "/", *(s for s in SIGNS if s not in ("...", "..", "{", "}", "#")))
BETWEEN = {*(SIGNS.get(s, s) for s in OPERATORS), *",;:.", r"\,"}  # in TeX: operators between factors

Tokens = list[tuple[str, str]]  # (kind, text)

TOKEN = re.compile(
    r"(?P<number>(?:\d+(?:[,\u202f]\d{3})+|\d*\.?\d+)(?:e[+-]?\d+)?)"
    rf"|(?P<words>(?!(?:{'|'.join(GREEK)})_(?:max|min)\b)(?:[A-Za-z]{{2,}}\d*|[A-Za-z]\d+)(?:[-_][A-Za-z0-9]{{2,}})+"
    r"|[A-Za-z]+\d*)"
    r"|(?P<left><(?=[^<>=\s](?:[^<>]*[^<>\s])?>))|(?P<low>_(?=[A-Za-z0-9{]))|(?P<high>\^)"
    r"|(?P<sign><=|>=|->|!=|~=|<<|>>|\+-|\.\.\.?|.)",
    re.S,
)


def tokens(text: str) -> Tokens:
    """[(kind, text)]. The brackets of <q, k> are recognised because, unlike comparison signs, they have no space
    between them and their contents."""
    found, open_ = [], 0
    for m in TOKEN.finditer(text):
        kind, part = m.lastgroup or "", m.group()
        open_ += kind == "left"
        if part == ">" and open_:
            kind, open_ = "right", open_ - 1
        found.append((kind, part))
    return found


def ends_a_name(found: Tokens, i: int) -> bool:
    """Whether the star before i is the end of a name such as S*, not the sign of a product."""
    return i >= len(found) or found[i][1] in " ,.;:)"


def scripted(found: Tokens, i: int) -> int:
    """The index after the subscripts and superscripts that follow token i; i + 1 if there are none."""
    i += 1
    if i < len(found) and found[i][1] == "*" and found[i - 1][0] == "words" and ends_a_name(found, i + 1):
        return i + 1
    if found[i - 1][0] == "number" and i < len(found) and found[i][0] == "low":
        return i
    while i + 1 < len(found) and found[i][0] in ("low", "high"):
        kind, part = found[i + 1]
        opening = {"{": "}", "(": ")", "[": "]", "|": "|"}.get(part)
        if opening:
            end = next((j for j in range(i + 2, len(found)) if found[j][1] == opening), None)
            if end is None:
                return i
            i = end + 1
        elif part in "+-*" and found[i][0] == "high":
            i += 3 if part == "-" and i + 2 < len(found) and found[i + 2][0] in ("number", "words") else 2
        elif kind in ("number", "words"):
            i += 2
        else:
            return i
    return i


def parts(text: str) -> list[tuple[bool, str]]:
    """[(whether the part is a formula, part)] of a text. If a mark has no partner, the text has no formulas."""
    pieces = text.split("$")
    if len(pieces) % 2 == 0:
        return [(False, text)]
    return [(i % 2 == 1, piece) for i, piece in enumerate(pieces) if piece]


# --- plain notation as TeX ------------------------------------------------------------------------


def name(word: str) -> str:
    letters = word.rstrip("0123456789")
    digits = word[len(letters) :]
    index = f"_{{{digits}}}" if digits else ""
    if letters in GREEK:
        return ("\\epsilon" if letters == "eps" else "\\" + letters) + index
    if letters in FUNCTIONS:
        return rf"\{letters}{index} "
    if re.fullmatch("d[A-Z]", word):
        return r"\mathrm{d}" + word[1]
    if word in SUMS:
        return SUMS[word]
    if len(letters) == 1:
        return letters + index
    if re.fullmatch(SUBSCRIPTED, word):
        return f"{word[0]}_{{{word[1:]}}}"
    if len(word) == 2 and word not in NAMED:
        return word  # a product, x x
    return (r"\operatorname{%s}" if word in NAMED else r"\mathrm{%s}") % word.replace("_", r"\_")


def number(text: str) -> str:
    mantissa, e, power = text.partition("e")
    mantissa = mantissa.replace(",", "{,}").replace("\u202f", r"\,")
    return rf"{mantissa}\cdot 10^{{{power.lstrip('+')}}}" if e else mantissa


def group(found: Tokens, i: int) -> tuple[Tokens, int]:
    """(tokens inside the bracket that opens at i, the index after it)."""
    closing, depth = {"(": ")", "{": "}", "[": "]"}[found[i][1]], 0
    for j in range(i, len(found)):
        depth += (found[j][1] == found[i][1]) - (found[j][1] == closing)
        if not depth:
            return found[i + 1 : j], j + 1
    return found[i + 1 :], len(found)


def is_power(found: Tokens, i: int) -> bool:
    """Whether the superscript at i is an exponent: the base is a number, or a bracket that begins with a number, as in
    2^T and (1 - 1/d)^T. Any other superscript T means the transpose; so does 1^T, where 1 is a vector of ones."""
    base = i - 2  # what stands before the sign ^
    if base >= 0 and found[base][1] == ")":
        depth, first = 0, base
        for first in range(base, -1, -1):
            depth += (found[first][1] == ")") - (found[first][1] == "(")
            if not depth:
                break
        return found[first + 1][0] == "number"
    return base >= 0 and found[base][0] == "number" and found[base][1] != "1" and found[base - 1][0] != "low"


def script(found: Tokens, i: int) -> tuple[str, int]:
    """(TeX of the subscript or superscript that begins at i, the index after it)."""
    if i >= len(found):
        return "{}", i
    kind, part = found[i]
    if part == "T" and (found[i - 1][0] == "low" or is_power(found, i)):
        return "{T}", i + 1
    if part in "({":
        inside, after = group(found, i)
        return "{" + tex_of(inside) + "}", after
    if part == "[":  # a name's index in brackets, M^[0]
        inside, after = group(found, i)
        return "{[" + tex_of(inside) + "]}", after
    if part == "|":
        end = next((j for j in range(i + 1, len(found)) if found[j][1] == "|"), len(found))
        return "{|" + tex_of(found[i + 1 : end]) + "|}", end + 1
    if part == "-" and i + 1 < len(found):
        after, rest = i + 1, tokens_of_script(found[i + 1])
        return "{-" + rest + "}", after + 1
    return "{" + tokens_of_script(found[i]) + "}", i + 1


def tokens_of_script(token: tuple[str, str]) -> str:
    kind, part = token
    if kind == "number":
        return part
    if part in ("*", "+", "T"):
        return r"\top" if part == "T" else part
    return name(part) if kind == "words" else SIGNS.get(part, part)


def multiplies(found: Tokens, i: int) -> bool:
    """Whether the dot before i is the sign of a product."""
    return found[i][0] == "words" or found[i - 2][1] == found[i][1] == " "


def tex_of(found: Tokens) -> str:
    out, i = [], 0
    while i < len(found):
        kind, part = found[i]
        i += 1
        if kind == "number":
            out.append(number(part))
        elif part == "sqrt" and i < len(found):
            i += found[i][1] == " " and i + 1 < len(found)
            if found[i][1] == "(":
                inside, i = group(found, i)
            else:
                end = scripted(found, i)
                inside, i = found[i:end], end
            out.append(r"\sqrt{" + tex_of(inside) + "}")
        elif kind == "words":
            out.append(name(part))
            if i < len(found) and found[i][1] == "*" and ends_a_name(found, i + 1):
                out.append("^{*}")
                i += 1
        elif kind in ("low", "high"):
            raised, i = script(found, i)
            out.append(("_" if kind == "low" else "^") + raised)
        elif part == "." and out and i < len(found) and multiplies(found, i):
            out.append(r"\cdot ")  # k.q and k . q
        elif kind in ("left", "right"):
            out.append(r"\langle " if kind == "left" else r"\rangle ")
        elif part == " ":
            kind, following = found[i] if i < len(found) else ("", ",")
            if out and out[-1].strip() not in BETWEEN and (kind == "left" or following not in (*OPERATORS, *",;:.")):
                out.append(r"\,")  # a space between factors
        else:
            out.append(SIGNS.get(part, part) + (" " if part in SIGNS else ""))
    # a name's own index and a script that follows it are joined: lambda0_t, Dk_t
    return re.sub(r"_\{([^{}]*)\}_\{", r"_{\1,", "".join(out))


def tex(formula: str) -> str:
    return tex_of(tokens(formula))


# --- typesetting ----------------------------------------------------------------------------------

ROOTS = ("/usr/share/nodejs", "/usr/lib/nodejs", "/usr/local/lib/node_modules")
STYLES = ("/usr/share/javascript/katex",)
SCRIPT = """
const katex = require("katex");
const how = { output: "htmlAndMathml", strict: "ignore" };
const set = tex => { try { return katex.renderToString(tex, how); } catch (e) { return null; } };
process.stdout.write(JSON.stringify([katex.version, JSON.parse(require("fs").readFileSync(0, "utf8")).map(set)]));
"""


def cache_path() -> str:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "recollect", "formulas.json")


def cached() -> dict[str, str | None]:
    try:
        with open(cache_path(), encoding="utf-8") as f:
            found: dict[str, str | None] = json.load(f)
            return found
    except (OSError, ValueError):
        return {}


def keep(known: dict[str, str | None]) -> None:
    """Writes the cache in one step. If it cannot be written, the next report typesets these formulas again."""
    path = cache_path()
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as f:
            json.dump(known, f)
        os.replace(f"{path}.{os.getpid()}", path)
    except OSError:
        pass


def available() -> bool:
    return bool(shutil.which("node")) and any(
        os.path.exists(os.path.join(folder, "katex.min.css")) for folder in STYLES
    )


def typeset(formulas: list[str]) -> dict[str, str] | None:
    """{TeX: HTML}, without the formulas that KaTeX rejects; None if KaTeX is not installed. One process typesets all
    formulas that are not cached."""
    if not available():
        return None
    known = cached()
    missing = [f for f in formulas if f not in known]
    if missing:
        paths = os.pathsep.join([*ROOTS, os.environ.get("NODE_PATH", "")])
        done = subprocess.run(["node", "-e", SCRIPT], input=json.dumps(missing), capture_output=True, text=True,
                              env={**os.environ, "NODE_PATH": paths})  # fmt: skip
        if done.returncode:
            return None
        known.update(zip(missing, json.loads(done.stdout)[1]))
        keep(known)
    return {f: html for f in formulas if (html := known[f])}


def copy_style(folder: str) -> None:
    """Copies KaTeX's style sheet and fonts into the site, so that it needs no network."""
    source = next(path for path in STYLES if os.path.exists(os.path.join(path, "katex.min.css")))
    with open(os.path.join(source, "katex.min.css"), encoding="utf-8") as f:
        css = re.sub(r",url\([^)]*\.(?:woff|ttf)\) format\(.\w+.\)", "", f.read())
    with open(os.path.join(folder, "katex.css"), "w", encoding="utf-8") as f:
        f.write(css)
    os.makedirs(os.path.join(folder, "fonts"))
    for file in sorted(set(re.findall(r"url\(fonts/([\w-]+\.woff2)\)", css))):
        shutil.copyfile(os.path.join(source, "fonts", file), os.path.join(folder, "fonts", file))


def unicode(formula: str) -> str:
    """A formula in Unicode, for sites without KaTeX: with Greek letters, and with short subscripts and superscripts
    lowered and raised."""
    letters = re.sub(rf"(?<![A-Za-z])({'|'.join(GREEK)})(?![A-Za-z])", lambda m: greek_letter(m[1]), formula)
    return style.scripted(letters)


def greek_letter(word: str) -> str:
    size = "CAPITAL" if word[0].isupper() else "SMALL"
    return unicodedata.lookup(
        f"GREEK {size} LETTER {dict(LAMBDA='LAMDA', EPS='EPSILON').get(word.upper(), word.upper())}"
    )


def signs(text: str) -> Markup:
    """HTML of a text outside formulas, in which each relation such as <= is one character."""
    html = str(escape(text))
    for plain, sign in {"<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "+-": "±"}.items():
        html = html.replace(str(escape(plain)), f'<span data-plain="{escape(plain)}">{sign}</span>')
    return Markup(html)


class Formulas:
    """Collects the formulas of all pages, has KaTeX typeset them in one call, and inserts them into the pages."""

    def __init__(self) -> None:
        self.found: dict[str, int] = {}  # formula -> its number

    def mark(self, text: str | None) -> Markup:
        """HTML of a text with a placeholder for each formula."""
        shown = []
        for formula, part in parts(text or ""):
            shown.append(
                Markup(f"\ue000{self.found.setdefault(part, len(self.found))}\ue001") if formula else signs(part)
            )
        return Markup("").join(shown)

    def fill(self, pages: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """(path, html) of all pages with formulas inserted: typeset by KaTeX, or in Unicode if KaTeX is absent."""
        written = {formula: tex(formula) for formula in self.found}
        html = typeset(list(dict.fromkeys(written.values()))) or {}
        shown = []
        for formula in self.found:
            inside = html.get(written[formula]) or str(escape(unicode(formula)))
            shown.append(f'<span class="formula" data-plain="{escape(formula)}">{inside}</span>')
        short = [len(formula) <= 12 for formula in self.found]

        def placed(match: re.Match[str]) -> str:
            """A formula's HTML. A short formula stays on one line with the punctuation after it."""
            number, after = int(match[1]), match[2]
            tied = after and short[number]
            return f'<span class="tied">{shown[number]}{after}</span>' if tied else shown[number] + after

        return [(path, re.sub("\ue000(\\d+)\ue001([.,;:)]*)", placed, page)) for path, page in pages]
