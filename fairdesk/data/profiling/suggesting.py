"""What can come next in a constraint: for the window, while the auditor writes one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.constraints import COMPARISONS, grammar
from fairdesk.data.domain.formulas import named, quoted
from fairdesk.data.table import Kind

if TYPE_CHECKING:
    from lark import Token

#: No more are given.
_MOST = 50
_QUOTED = re.compile(r"""`[^`]*`|"[^"]*"|'[^']*'""")
#: A word that is being written, also one in quotes that are not closed yet.
_BEGUN = re.compile(r"""([`"'].*|[^\W\d]\w*|[!<>])\Z""", re.DOTALL)
_WORDS = ("WORD", "NAME", "DOUBLE", "SINGLE")
_SIGNS = {
    "_AND": "and",
    "_OR": "or",
    "_IMPLIES": "implies",
    "_NOT": "not",
    "PLUS": "+",
    "MINUS": "-",
    "_TIMES": "*",
    "_BY_NUMBER": "/",
    "LPAR": "(",
    "RPAR": ")",
    "LBRACE": "{",
    "RBRACE": "}",
    "COMMA": ",",
}


class Suggestion(msgspec.Struct, frozen=True):
    """What could stand next.

    Attributes
    ----------
    text : str
        What to put in, with quotes where they are needed.
    start : int
        What it replaces: the text from here to the cursor.
    kind : str
        What it is.
    """

    text: str
    start: int
    kind: Literal["attribute", "operator", "value"]


def suggestions(text: str, cursor: int, attributes: Sequence[Attribute]) -> tuple[Suggestion, ...]:
    """Return what can stand at the cursor, what is begun there first.

    Parameters
    ----------
    cursor : int
        Where in it, from 0 to its length; what stands behind is not looked at.
    attributes : sequence of Attribute
        What a constraint may speak of.

    Returns
    -------
    tuple[Suggestion, ...]
        At most 50; none where the text before the cursor is no beginning of a constraint.
    """
    from lark.exceptions import LarkError  # noqa: PLC0415 - only where there are constraints

    before = text[:cursor]
    begun = _BEGUN.search(_QUOTED.sub(lambda closed: " " * len(closed[0]), before))
    start = begun.start() if begun else cursor
    wanted = before[start:].strip("`\"'").casefold()
    parser: Any = grammar().parse_interactive(before[:start])
    try:
        tokens = list(parser.exhaust_lexer())
        possible = parser.accepts()
    except LarkError:
        return ()
    found: dict[str, Suggestion] = {}
    for plain, written, kind in _possible(tokens, possible, attributes):
        if wanted in plain.casefold():
            found.setdefault(written, Suggestion(written, start, kind))
    first = sorted(
        found.values(), key=lambda each: not each.text.strip('`"').casefold().startswith(wanted)
    )
    return tuple(first[:_MOST])


def _possible(
    tokens: Sequence[Token], possible: set[str], attributes: Sequence[Attribute]
) -> Iterator[tuple[str, str, Literal["attribute", "operator", "value"]]]:
    """Yield everything that the grammar and the attributes allow: bare, as written, its kind."""
    compared = _compared(tokens, attributes)
    if possible.intersection(_WORDS):
        if compared is not None:
            for value in compared.values:
                yield value, value if compared.numeric else quoted(value), "value"
        elif "NAME" in possible:
            for each in attributes:
                yield each.name, named(each.name), "attribute"
    last = _attribute(tokens[-1], attributes) if tokens else None
    if "COMPARE" in possible:
        names_only = last is not None and last.kind not in (Kind.ORDINAL, Kind.INTEGER, Kind.REAL)
        for sign in COMPARISONS[:2] if names_only else COMPARISONS:
            yield sign, sign, "operator"
    if "_IN" in possible:
        yield "in", "in {", "operator"
        yield "not in", "not in {", "operator"
    if "_IS" in possible:
        yield "is determined by", "is determined by", "operator"
    reckoned = last is None or not last.values or last.numeric
    for terminal, sign in _SIGNS.items():
        if terminal not in possible or (sign == "not" and "_IN" in possible):
            continue
        arithmetic = sign in ("+", "-", "*", "/")
        only_values = compared is not None and sign in ("(", "+", "-", "*", "/")
        if not only_values and (reckoned or not arithmetic):
            yield sign, sign, "operator"


def _compared(tokens: Sequence[Token], attributes: Sequence[Attribute]) -> Attribute | None:
    """Return the attribute with values that what comes next is compared with."""
    left = list(tokens)
    if left and left[-1].type == "COMPARE":
        left = left[:-1]
    elif any(token.type == "LBRACE" for token in left):
        # within the braces: back to what stands before “in {” or “not in {”
        while left[-1].type != "LBRACE":
            if left[-1].type == "RBRACE":
                return None
            left.pop()
        left.pop()
        while left and left[-1].type in ("_IN", "_NOT"):
            left.pop()
    else:
        return None
    attribute = _attribute(left[-1], attributes) if left else None
    return attribute if attribute is not None and attribute.values else None


def _attribute(token: Token, attributes: Sequence[Attribute]) -> Attribute | None:
    bare = token.strip('`"') if token.type in _WORDS else None
    return next((each for each in attributes if each.name == bare), None)
