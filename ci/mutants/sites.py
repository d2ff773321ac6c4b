# SPDX-License-Identifier: Apache-2.0
"""Where a C++ file can be mutated: small errors in a prediction or a measurement, such as a tired author makes.

  constant    2 -> 2.04                   a number in arithmetic, by 2 %
  size        d -> (d - 1)                a size in arithmetic or in a loop's bound
  off by one  n - 1 -> n                  (and n + 1 -> n)
  term        a + b -> a                  a term of a sum
  factor      a * b -> a, a / b -> a      a factor of a product
  comparison  a <= b -> a >= b            (and at_most_point -> at_least_point)
  condition   a && b -> a                 (and a || b -> a)
  arguments   f(a, b) -> f(b, a)          the first two of a call

Some places are left out, because a change there is not an error in a prediction or a measurement: text, comments and
preprocessor lines; the points of measurement (lists and initialisers of bare numbers, labels, declared parameters); code that
only runs at the user's own points; random streams and sample sizes; tolerances and conditioning; rivals, which are wrong on
purpose; indices, and loop headers except their bounds."""
import re
from collections import namedtuple

Site = namedtuple("Site", "kind start end text")  # source[start:end] becomes text
Token = namedtuple("Token", "kind text start end")

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)
    |(?P<text>R"\((?:.*?)\)"|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+')
    |(?P<number>(?:0[xX][0-9a-fA-F.]+(?:[pP][+-]?\d+)?|(?:\d[\d']*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\w*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign><<=|>>=|->\*|::|->|\+\+|--|<<|[-+*/%&|^=!<>]=|&&|\|\||[^\s\w])""",
    re.X | re.S | re.M,
)
SIZES = set("d dv dk Dk Dv D n N T t m M C P H G L E rows columns size heads steps layers width order pairs keys".split())
# Calls whose arguments are points, sample sizes, tolerances or texts.
OUTSIDE = set(
    """Stream integer_param real_param choice_param automatic_param labels num txt points_of set usage_error rival_system
    wanted_sensitivity static_assert integer real text size_t reserve resize assign normal normals uniform uniforms below
    bits permutation sensitivity in_blocks cached_block pilot_size""".split()
)
SYMMETRIC = set("inner exact_point bracketed_point integral_point max_difference max min fmax fmin hypot".split())
# Arguments that are not mutated, from this index on: tolerances, the values of rivals, labels, sample sizes.
OUTSIDE_FROM = {"exact_point": 2, "sampled_point": 2, "bracketed_point": 2, "at_most_point": 2, "at_least_point": 2}
OUTSIDE_FROM |= {"rival_law": 1, "as_statement": 1, "as_limit": 1, "as_condition": 1, "as_obligation": 1}
OUTSIDE_NAMES = re.compile(
    r"units|rounding|toleran|bias|peak|^gap$|allowed|conditioning|epsilon|rival|wrong|samples|draws|trials|pilot|most$|most_|runs$"
    r"|block_of|wanted|budget|seed|batches|repeat|effort|label|widths$"
)
MATHS = set("sqrt cbrt exp log pow fabs abs tgamma lgamma erf erfc cos sin hypot max min".split())
SUMS, PRODUCTS = {"+", "-"}, {"*", "/"}
OPENING, CLOSING = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}


def tokens_of(source):
    found = [Token(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(source)]
    return [t for t in found if t.kind not in ("space", "directive")]


def partners(tokens):
    """{index of an opening or closing bracket: index of its partner}."""
    stack, pairs = [], {}
    for i, t in enumerate(tokens):
        if t.kind == "sign" and t.text in OPENING:
            stack.append(i)
        elif t.kind == "sign" and t.text in CLOSING and stack:
            pairs[i] = stack.pop()
            pairs[pairs[i]] = i
    return pairs


class File:
    """The tokens of a source, and for each token whether a mutation there is an error in a prediction or a measurement."""

    def __init__(self, source):
        self.source = source
        self.tokens = tokens_of(source)
        self.pairs = partners(self.tokens)
        self.closed, self.headers, self.indices = self.scan()
        self.closed |= self.only_at_points()
        self.closed |= self.only_in_rivals()

    def word(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def callee(self, opening):
        """The name before a bracket: of a called function, a type before braces, or the function whose body it
        opens."""
        before = opening - 1
        while self.word(before) in ("const", "mutable", "override"):
            before -= 1
        if self.word(opening) == "{" and self.word(before) == ")":
            return self.callee(self.pairs.get(before, 0))
        if before < 0 or self.tokens[before].kind != "name":
            return ""
        return "Stream" if self.word(before - 1) == "Stream" else self.word(before)

    def statement_end(self, i):
        """One past the statement or block that begins at token i."""
        if self.word(i) == "{":
            return self.pairs.get(i, i) + 1
        while i < len(self.tokens) and self.word(i) != ";":
            i = self.pairs.get(i, i) + 1 if self.word(i) in OPENING else i + 1
        return i + 1

    def only_at_points(self):
        """Code that no suite runs, because it runs only at the user's own points, and conditions that refuse a point. Also
        conditions that select the points at which something, or a rival, is measured."""
        found = set()
        for i, t in enumerate(self.tokens):
            own = t.text == "protocol" and self.word(i + 1) == "." and self.word(i + 2) == "point"
            if own and self.word(i + 3) == "?":
                end = i + 4
                while end < len(self.tokens) and self.word(end) not in (":", ";"):
                    end = self.pairs.get(end, end) + 1 if self.word(end) in OPENING else end + 1
                found.update(range(i, end))
            if t.text == "if" and self.word(i + 1) == "(":
                close = self.pairs.get(i + 1, i + 1)
                condition = [x.text for x in self.tokens[i + 2 : close]]
                end = self.statement_end(close + 1)
                done = {x.text for x in self.tokens[close + 1 : end]}
                only_rivals = done & {"rival_law", "rival_system"} and not any(x.startswith("as_") for x in done)
                if self.word(close + 1) in ("usage_error", "continue") or only_rivals:
                    found.update(range(i, close))
                elif condition[:3] == ["protocol", ".", "point"]:
                    found.update(range(i, end))
        return found

    def only_in_rivals(self):
        """The initialisers of variables that are only used in places that are left out, such as a rival's law."""
        found, block, blocks = set(), [], {}
        for i, t in enumerate(self.tokens):
            if t.text == "}" and block:
                block.pop()
            blocks[i] = self.pairs.get(block[-1], len(self.tokens)) if block else len(self.tokens)
            if t.text == "{":
                block.append(i)
        for i, t in enumerate(self.tokens):
            name = self.pairs.get(i - 1, i) - 1 if self.word(i - 1) == "]" else i - 1  # x = or x[i] =
            if t.text != "=" or self.tokens[name].kind != "name" or self.word(name - 1) in (".", "->"):
                continue
            end = i + 1
            while end < len(self.tokens) and self.word(end) not in (",", ";", ")"):
                end = self.pairs.get(end, end) + 1 if self.word(end) in OPENING else end + 1
            uses = [j for j in range(end, blocks[i]) if self.word(j) == self.word(name)]
            if uses and all(j in self.closed for j in uses):
                found.update(range(i, end))
        return found

    def scan(self):
        """(tokens in places that are left out, tokens in loop headers, tokens in indices)."""
        closed, headers, indices, stack, declared = set(), set(), set(), [], ""
        for i, t in enumerate(self.tokens):
            if t.kind == "sign" and t.text in OPENING:
                name = self.callee(i)
                inherited = bool(stack) and self.is_outside(stack[-1])
                bare = t.text == "{" and self.holds_numbers_only(i)
                outside = inherited or bare or name in OUTSIDE or bool(OUTSIDE_NAMES.search(name))
                stack.append({"name": name, "argument": 0, "outside": outside, "declared": declared, "open": i})
                declared = "" if t.text == "{" else declared
            elif t.kind == "sign" and t.text in CLOSING and stack:
                declared = stack.pop()["declared"]
            elif t.text == ";" or (t.text == "," and (not stack or self.word(stack[-1]["open"]) == "{")):
                declared = ""
            if t.text == "," and stack:
                stack[-1]["argument"] += 1
            if t.text == "=" and self.tokens[i - 1].kind == "name":
                declared = self.word(i - 1)
            if stack and self.is_outside(stack[-1]) or OUTSIDE_NAMES.search(declared) or self.is_bare_initialiser(i):
                closed.add(i)
            if any(f["name"] == "for" for f in stack[-1:]):
                headers.add(i)
            if any(self.word(f["open"]) == "[" for f in stack):
                indices.add(i)
        return closed, headers, indices

    @staticmethod
    def is_outside(frame):
        first = OUTSIDE_FROM.get(frame["name"])
        return frame["outside"] or (first is not None and frame["argument"] >= first) or bool(
            OUTSIDE_NAMES.search(frame["declared"])
        )

    def holds_numbers_only(self, opening):
        inside = self.tokens[opening + 1 : self.pairs.get(opening, opening + 1)]
        return bool(inside) and all(t.kind == "number" or t.text in ",-" for t in inside)

    def is_bare_initialiser(self, i):
        """Whether this number is the whole initialiser of a variable, which is then a parameter of the measurement."""
        if self.tokens[i].kind != "number" or self.word(i + 1) not in (",", ";"):
            return False
        return self.word(i - 1) == "=" and (self.tokens[i - 2].kind == "name")

    def term_end(self, i):
        """The index after the term (or, for products, the factor) that begins at token i."""
        while i < len(self.tokens) and self.word(i) in ("-", "+", "!", "*", "&"):
            i += 1
        while i < len(self.tokens):
            t = self.tokens[i]
            if t.kind == "sign" and t.text in OPENING:
                i = self.pairs.get(i, i) + 1
            elif t.kind in ("name", "number", "text"):
                i += 1
            elif t.text in ("::", ".", "->"):
                i += 2
            else:
                break
            if i < len(self.tokens) and not (self.word(i) in OPENING or self.word(i) in ("::", ".", "->")):
                break
        return i

    def enclosing_maths(self, i):
        """Whether token i is the only argument of a mathematical function."""
        if self.word(i - 1) not in ("(", ",") or self.word(i + 1) not in (")", ","):
            return False
        calls = (k for k in range(max(0, i - 12), i) if self.word(k) == "(" and self.word(k - 1) in MATHS)
        return any(k < i < self.pairs.get(k, 0) for k in calls)

    def is_binary(self, i):
        before, after = self.tokens[i - 1] if i else None, self.word(i + 1)
        ends = before and (before.kind in ("number", "name") or before.text in (")", "]"))
        spaced = self.source[self.tokens[i].start - 1] == " " and self.source[self.tokens[i].end] in " \n"
        return bool(ends and before.text not in ("return", "case", "const") and spaced and after not in (")", ","))


def constants(f, i):
    t = f.tokens[i]
    if t.kind != "number" or i in f.headers or i in f.indices or not re.fullmatch(r"[\d.]+(?:[eE][+-]?\d+)?", t.text):
        return
    value = float(t.text)
    around = {f.word(i - 1), f.word(i + 1)}
    one_off = value == 1 and f.word(i - 1) in SUMS and f.tokens[i - 2].text in SIZES
    if value == 0 or value >= 1e4 or one_off or not (around & (SUMS | PRODUCTS) or f.enclosing_maths(i)):
        return
    yield Site("constant", t.start, t.end, repr(round(1.02 * value, 12)))


def sizes(f, i):
    t = f.tokens[i]
    after, before = f.word(i + 1), f.word(i - 1)
    if t.text not in SIZES or t.kind != "name" or i in f.indices or before in (".", "->", "::", "int", "double", "&"):
        return
    if after in ("(", ".", "->", "::", "[", "=", "{", "++", "--"):
        return
    if i in f.headers and not (before == "<" and after == ";"):
        return
    if after in SUMS and f.word(i + 2) == "1" and f.word(i + 3) not in PRODUCTS:
        yield Site("off by one", f.tokens[i + 1].start, f.tokens[i + 2].end, "")
    elif before in SUMS | PRODUCTS or after in SUMS | PRODUCTS or f.enclosing_maths(i) or i in f.headers:
        yield Site("size", t.start, t.end, f"({t.text} - 1)")


def terms_and_factors(f, i):
    sign = f.word(i)
    if sign not in SUMS | PRODUCTS or i in f.headers or i in f.indices or not f.is_binary(i):
        return
    if f.word(i - 1) == "seed" or "text" in (f.tokens[i - 1].kind, f.tokens[i + 1].kind):
        return  # a mutation would only choose another random stream or label
    end = f.term_end(i + 1)
    if sign in PRODUCTS:
        yield Site("factor", f.tokens[i].start, f.tokens[end - 1].end, "")
        return
    while f.word(end) in PRODUCTS:
        end = f.term_end(end + 1)
    if not (f.word(i + 1) == "1" and f.tokens[i - 1].text in SIZES):
        yield Site("term", f.tokens[i].start, f.tokens[end - 1].end, "")


def comparisons(f, i):
    flipped = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
    flipped |= {"at_most_point": "at_least_point", "at_least_point": "at_most_point"}
    t = f.tokens[i]
    if t.text not in flipped or i in f.headers:
        return
    if t.kind == "name" and f.word(i + 1) != "(" or t.kind == "sign" and not f.is_binary(i):
        return
    yield Site("comparison", t.start, t.end, flipped[t.text])


def conditions(f, i):
    if f.word(i) not in ("&&", "||") or i in f.indices or not f.is_binary(i):
        return
    end = i + 1
    while end < len(f.tokens) and f.word(end) not in {"&&", "||", ",", ";", "?", ":"} | CLOSING:
        end = f.pairs.get(end, end) + 1 if f.word(end) in OPENING else end + 1
    yield Site("condition", f.tokens[i].start, f.tokens[end - 1].end, "")


def arguments(f, i):
    t = f.tokens[i]
    if t.text != "(" or f.tokens[i - 1].kind != "name" or i - 1 in f.closed:
        return
    if f.word(i - 1) in SYMMETRIC | {"for", "if", "while", "switch"}:
        return
    if f.tokens[i - 2].kind == "name" and f.word(i - 2) not in ("return", "else") or f.word(i - 2) in (">", "&", "*"):
        return  # a declaration
    parts, start, j, close = [], i + 1, i + 1, f.pairs.get(i, i)
    while j < close:
        if f.word(j) == ",":
            parts.append((start, j))
            start = j + 1
        j = f.pairs.get(j, j) + 1 if f.word(j) in OPENING else j + 1
    parts.append((start, close))
    if len(parts) < 2 or any(a >= b for a, b in parts[:2]):
        return
    (a, b), (c, d) = parts[:2]
    both = [*range(a, b), *range(c, d)]
    if any(f.tokens[k].kind == "text" or f.word(k) in ("[", "{") or k in f.closed for k in both):
        return
    first, second = (f.source[f.tokens[x].start : f.tokens[y - 1].end] for x, y in ((a, b), (c, d)))
    if first != second and len(first) + len(second) < 80:
        between = f.source[f.tokens[b - 1].end : f.tokens[c].start]
        yield Site("arguments", f.tokens[a].start, f.tokens[d - 1].end, second + between + first)


def sites(source):
    """Every mutation of a source, in order."""
    f = File(source)
    makers = (constants, sizes, terms_and_factors, comparisons, conditions, arguments)
    found = [site for i in range(len(f.tokens)) if i not in f.closed for make in makers for site in make(f, i)]
    return [s for s in found if source[s.start : s.end] != s.text]


def mutated(source, site):
    return source[: site.start] + site.text + source[site.end :]
