# SPDX-License-Identifier: Apache-2.0
"""Plain-text maths as MathML: x_t, S_{t-1}, k^T, sqrt(d), 10^-6, Greek names; everything else stays text."""
import re

from markupsafe import Markup, escape

GREEK = dict(
    alpha="α", beta="β", gamma="γ", delta="δ", epsilon="ε", eps="ε", eta="η", theta="θ", kappa="κ", mu="μ", nu="ν",
    phi="φ", psi="ψ", rho="ρ", sigma="σ", tau="τ", omega="ω", Lambda="Λ", Sigma="Σ", Delta="Δ", Theta="Θ", Phi="Φ",
    pi="π",
)  # fmt: skip
GREEK["lambda"] = "λ"
SIGNS = {"<=": "≤", ">=": "≥", "->": "→", "!=": "≠", "~=": "≈", "<<": "≪", ">>": "≫", "+-": "±"}

BASE = r"(?:%s|[A-Za-z])" % "|".join(sorted(GREEK, key=len, reverse=True))
LOW = r"(?:\{[^{}]*\}|[0-9]+|[A-Za-z](?:[0-9]|v\b|k\b)?|max|min)"
HIGH = r"(?:\{[^{}]*\}|\([^()]*\)|-?[0-9]+(?:/[0-9]+)?|-?[A-Za-z]|\*)"
TOKEN = re.compile(
    rf"(?P<sum>\b(?:sum|prod)_\{{[^{{}}]*\}}|\b(?:sum|prod)_[a-z]\b(?!_))"
    rf"|(?P<root>\bsqrt\([^()]*\)|\bsqrt [A-Za-z0-9]+\b)"
    rf"|(?P<atom>(?<![A-Za-z0-9_])(?:{BASE}[0-9]?|[A-Z]{{2,4}}(?=\^)|\|[^|\s]*\||[0-9]+)(?:_{LOW})?(?:\^{HIGH})?'?(?![A-Za-z0-9_]))"
    rf"|(?P<power>(?:\)|\|+)\^{HIGH})"
    rf"|(?P<norm>\|_[F0-9]\b)"
    rf"|(?P<sign><=|>=|->|!=|~=|<<|>>|\+-)"
)


def leaf(text):
    """A name, a number or an operator."""
    text = GREEK.get(text, text)
    if re.fullmatch(r"[0-9.]+", text):
        return f"<mn>{text}</mn>"
    if text == "|":
        return '<mo stretchy="false">|</mo>'
    if re.fullmatch(r"[+\-*/=<>,()]", text):
        return f"<mo>{escape({'-': '−', '*': '·'}.get(text, text))}</mo>"
    return f"<mi>{escape(text)}</mi>"


def row(text):
    """A short expression without further scripts: i<t, t-1, -1, d/2."""
    inside = ""
    for part in re.findall(rf"[0-9.]+|[A-Za-z]+[0-9]*(?:_{LOW})?|<=|>=|.", text):
        if part in SIGNS:
            inside += f"<mo>{SIGNS[part]}</mo>"
        elif "_" in part[1:]:
            inside += atom(part)
        elif part != " ":
            inside += leaf(part)
    return f"<mrow>{inside}</mrow>"


def script(text):
    return row(text[1:-1] if text[0] in "{(" else text)


def atom(text):
    """x, x_t, x^T, x_t^T, |x_t|; None where it is no maths: a lone Latin letter or number is text."""
    match = re.fullmatch(rf"(.+?)(?:_({LOW}))?(?:\^({HIGH}))?('?)", text)
    base, low, high, prime = match.groups()
    greek = re.sub(r"[0-9]$", "", base) in GREEK
    if not low and not high and not greek and not (base.startswith("|") and "_" in base):
        return None
    digit = re.fullmatch(r"([A-Za-z]+)([0-9])", base)
    if digit and not low:
        base, low = digit.groups()
    shown = row(base) if base.startswith("|") else leaf(base)
    shown = shown + ("<mo>′</mo>" if prime else "")
    shown = f"<mrow>{shown}</mrow>"
    if low and high:
        return f"<msubsup>{shown}{script(low)}{script(high)}</msubsup>"
    if low:
        return f"<msub>{shown}{script(low)}</msub>"
    return f"<msup>{shown}{script(high)}</msup>" if high else shown


def element(match):
    kind, text = match.lastgroup, match.group()
    if kind == "sum":
        name, below = text.split("_", 1)
        return f"<munder><mo>{'∑' if name == 'sum' else '∏'}</mo>{script(below)}</munder>"
    if kind == "root":
        return f"<msqrt>{row(text[4:].strip(' ()') if text[4] == ' ' else text[5:-1])}</msqrt>"
    if kind == "power":
        bracket, high = text.split("^", 1)
        return f'<msup><mo stretchy="false">{bracket}</mo>{script(high)}</msup>'
    if kind == "norm":
        return f'<msub><mo stretchy="false">|</mo>{leaf(text[2:])}</msub>'
    return atom(text)


def maths(text):
    """HTML of a text with its maths as MathML, everything else escaped."""
    parts, at = [], 0
    for match in TOKEN.finditer(text or ""):
        if match.lastgroup == "sign":
            shown = SIGNS[match.group()]
        else:
            inside = element(match)
            if inside is None:
                continue
            shown = Markup(f"<math>{inside}</math>")
        parts += [escape(text[at : match.start()]), shown]
        at = match.end()
    return Markup("").join([*parts, escape((text or "")[at:])])
