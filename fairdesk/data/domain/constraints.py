"""What may not be at once: constraints between attributes, as texts that an auditor writes.

    years_employed <= age - 14
    relationship = Husband implies sex = Male
    not (`marital status` in {Married, "Living together"} and age < 16)
    education_num is determined by education

A text is parsed by a grammar, never evaluated as a program. What it says about a person is decided
in three values: a comparison with a missing cell is neither true nor false, and a constraint is
broken only where it is false whatever the missing cells may be.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.formulas import (
    Alike,
    Among,
    AmongNumbers,
    And,
    Arithmetic,
    Comparison,
    Constraint,
    Dependence,
    Formula,
    Implies,
    Name,
    Negative,
    Not,
    Number,
    Or,
    Term,
    Valued,
    in_quotes,
    plain,
    quoted,
)
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError

if TYPE_CHECKING:
    from lark import Lark, Token, Tree
    from lark.exceptions import UnexpectedInput

#: A longer text is refused.
MOST_CHARACTERS = 4_000
#: And one whose parts are nested deeper.
MOST_DEPTH = 100
#: So many names or values are listed in an error.
_MOST_LISTED = 20

GRAMMAR = r"""
    start: formula | word _IS _DETERMINED _BY word -> determined

    ?formula: disjunction
        | disjunction _IMPLIES formula      -> implies
    ?disjunction: conjunction (_OR conjunction)*
    ?conjunction: negation (_AND negation)*
    ?negation: _NOT negation                -> opposite
        | sum COMPARE sum                   -> comparison
        | sum _IN "{" value ("," value)* "}"        -> membership
        | sum _NOT _IN "{" value ("," value)* "}"   -> exclusion
        | "(" formula ")"

    ?sum: product
        | sum PLUS product                  -> sum
        | sum MINUS product                 -> sum
    ?product: factor
        | product _TIMES factor             -> product
        | product _BY_NUMBER NUMBER         -> divided
    ?factor: MINUS primary                  -> negative
        | primary
    ?primary: NUMBER                        -> number
        | word
        | "(" sum ")"

    word: WORD | NAME | DOUBLE | SINGLE
    value: WORD | DOUBLE | SINGLE | NUMBER | MINUS NUMBER

    _IMPLIES: "implies"
    _OR: "or"
    _AND: "and"
    _NOT: "not"
    _IN: "in"
    _IS: "is"
    _DETERMINED: "determined"
    _BY: "by"
    COMPARE: /!=|<=|>=|[=<>≤≥≠]/
    PLUS: "+"
    MINUS: "-"
    _TIMES: "*"
    _BY_NUMBER: "/"
    NUMBER: /(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?/
    WORD: /[^\W\d]\w*/
    NAME: /`([^`\\]|\\.)+`/
    DOUBLE: /"([^"\\]|\\.)+"/
    SINGLE: /'([^'\\]|\\.)+'/
    %ignore /\s+/
"""

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")

_SIGNS = {"≤": "<=", "≥": ">=", "≠": "!="}
_TURNED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_EXPECTED = {
    "COMPARE": "a comparison (=, !=, <, <=, >, >=)",
    "_IN": "“in”",
    "_NOT": "“not”",
    "_AND": "“and”",
    "_OR": "“or”",
    "_IMPLIES": "“implies”",
    "_IS": "“is determined by”",
    "_DETERMINED": "“determined by”",
    "_BY": "“by”",
    "PLUS": "arithmetic (+, -, *, /)",
    "MINUS": "arithmetic (+, -, *, /)",
    "_TIMES": "arithmetic (+, -, *, /)",
    "_BY_NUMBER": "arithmetic (+, -, *, /)",
    "NUMBER": "a number",
    "WORD": "a name",
    "NAME": "a name",
    "DOUBLE": "a name",
    "SINGLE": "a name",
    "LPAR": "“(”",
    "RPAR": "“)”",
    "LBRACE": "“{”",
    "RBRACE": "“}”",
    "COMMA": "“,”",
    "$END": "the end",
}


class ConstraintError(SpecError):
    """A text is no constraint.

    Parameters
    ----------
    position : int
        Where in it the trouble is, from 0.
    why, remedy : str
        As in `SpecError`.
    """

    def __init__(self, text: str, position: int, why: str, remedy: str) -> None:
        shown = text if len(text) <= 120 else text[:119] + "…"
        super().__init__(
            f"The constraint “{shown}” cannot be read.",
            why=f"At character {position + 1}: {why}",
            remedy=remedy,
        )
        self.position = position


def parse(text: str, attributes: Sequence[Attribute]) -> Constraint | Dependence:
    """Read a constraint.

    Names are those of attributes, values theirs; another case is understood where only one fits.
    Both may be in double quotes; backticks always mean an attribute, single quotes a value.
    Beside an attribute with values a word is first one of its values.

    Raises
    ------
    ConstraintError
        When the text is no constraint about these attributes: where, and what was expected.
    """
    from lark.exceptions import UnexpectedInput  # noqa: PLC0415 - only where there are constraints

    if len(text) > MOST_CHARACTERS:
        raise ConstraintError(
            text,
            MOST_CHARACTERS,
            f"a constraint has at most {MOST_CHARACTERS:,} characters.",
            "Write several constraints; all of them apply.",
        )
    try:
        tree = grammar().parse(text)
    except UnexpectedInput as error:
        raise _unexpected(text, error, attributes) from None
    if _depth(tree) > MOST_DEPTH:
        raise ConstraintError(
            text, 0, "it is nested too deeply.", "Write several simpler constraints."
        )
    reader = _Reader(text, attributes)
    if tree.data == "determined":
        return reader.dependence(tree)
    (side,) = _sides(tree)
    return Constraint(reader.formula(side), tuple(attributes))


@cache
def grammar() -> Lark:
    """Return the parser of constraints."""
    from lark import Lark  # noqa: PLC0415 - only where there are constraints

    return Lark(GRAMMAR, parser="lalr", maybe_placeholders=False)


def _depth(tree: Tree[Token]) -> int:
    """Measure a tree without recursion: it may be deep."""
    deepest, level = 0, [tree]
    while level:
        deepest += 1
        level = [child for each in level for child in _sides(each) if hasattr(child, "children")]
    return deepest


def _unexpected(
    text: str, error: UnexpectedInput, attributes: Sequence[Attribute]
) -> ConstraintError:
    """Return the error that names where a text stops being a constraint, and what was expected."""
    expected: set[str] = set(
        getattr(error, "accepts", None)
        or getattr(error, "allowed", None)
        or getattr(error, "expected", None)
        or ()
    )
    if "PLUS" not in expected:
        expected.discard("MINUS")  # it is only the sign of a number
    expectations = dict.fromkeys(_EXPECTED[name] for name in _EXPECTED if name in expected)
    token = getattr(error, "token", None)
    at_end = token is not None and token.type == "$END"
    position = len(text) if at_end else error.pos_in_stream or 0
    near = "the text ends" if at_end else f"“{text[position : position + 20]}” is not understood"
    options = list(expectations) or ["something else"]
    listed = options[0] if len(options) == 1 else f"{', '.join(options[:-1])} or {options[-1]}"
    remedy = _quoting(text, position, attributes)
    if not remedy and "a name" in expectations:
        remedy = f"The attributes are: {_some([each.name for each in attributes])}."
    return ConstraintError(
        text,
        position,
        f"{near}; {listed} was expected.",
        remedy or "Write it in the form: relationship = Husband implies sex = Male.",
    )


def _quoting(text: str, position: int, attributes: Sequence[Attribute]) -> str:
    """Find a name or value around a place that should have been in quotes."""
    names = [each.name for each in attributes]
    for kind, options in (
        ("attribute", names),
        ("value", [value for each in attributes for value in each.values]),
    ):
        for name in sorted(options, key=len, reverse=True):
            if plain(name):
                continue
            start = text.find(name)
            while start >= 0:
                if start <= position <= start + len(name):
                    written_so = in_quotes(name, "`" if kind == "attribute" else '"')
                    return f"If the {kind} “{name}” is meant, write it as {written_so}."
                start = text.find(name, start + 1)
    return ""


class _Reader:
    """Makes what a text says of its syntax tree."""

    def __init__(self, text: str, attributes: Sequence[Attribute]) -> None:
        self._text = text
        self._attributes = {each.name: each for each in attributes}

    def dependence(self, tree: Tree[Token]) -> Dependence:
        first, second = (self._attribute(_token(each)) for each in _sides(tree))
        if first == second:
            self._refuse(
                _token(_sides(tree)[1]),
                f"“{first.name}” cannot be determined by itself.",
                "Name the attribute that determines it.",
            )
        return Dependence(first.name, second.name)

    def formula(self, tree: Tree[Token]) -> Formula:
        parts = _sides(tree)
        formula: Formula
        match tree.data:
            case "implies":
                formula = Implies(self.formula(parts[0]), self.formula(parts[1]))
            case "disjunction":
                formula = Or(tuple(self.formula(part) for part in parts))
            case "conjunction":
                formula = And(tuple(self.formula(part) for part in parts))
            case "opposite":
                formula = Not(self.formula(parts[0]))
            case "exclusion":
                formula = Not(self._membership(parts[0], parts[1:]))
            case "membership":
                formula = self._membership(parts[0], parts[1:])
            case _:
                left, sign, right = parts
                formula = self._comparison(left, _SIGNS.get(sign, str(sign)), right)
        return formula

    def _comparison(self, left: Tree[Token], sign: str, right: Tree[Token]) -> Formula:
        first, second = self._valued(left), self._valued(right)
        if first is not None:
            value = self._value_of(first, right)
            if value is None and second is not None:
                return self._alike(sign, first, second, right)
            return self._ordered(sign, first, value or self._no_value(first, right), right)
        if second is not None:
            value = self._value_of(second, left) or self._no_value(second, left)
            return self._ordered(_TURNED[sign], second, value, left)
        return Comparison(sign, self._term(left), self._term(right))

    def _ordered(self, sign: str, attribute: Attribute, value: str, place: Tree[Token]) -> Valued:
        """Compare with a value; refuse an order where there is none."""
        if sign not in ("=", "!="):
            if attribute.kind is not Kind.ORDINAL:
                self._no_order(attribute, place)
            if attribute.unknown and value == attribute.values[-1]:
                self._refuse(
                    _token(place),
                    f"“{value}” represents missing cells and has no place in the order.",
                    "Compare it with = or !=.",
                )
        return Valued(sign, attribute.name, value)

    def _alike(self, sign: str, first: Attribute, second: Attribute, place: Tree[Token]) -> Alike:
        if sign not in ("=", "!="):
            for attribute in (first, second):
                if attribute.kind is not Kind.ORDINAL:
                    self._no_order(attribute, place)
            if first.named != second.named:
                self._refuse(
                    _token(place),
                    f"“{first.name}” and “{second.name}” have no common order.",
                    "Compare each with one of its own values.",
                )
        return Alike(sign, first.name, second.name)

    def _no_order(self, attribute: Attribute, place: Tree[Token]) -> NoReturn:
        self._refuse(
            _token(place),
            f"“{attribute.name}” is categorical: its values have no order, so none is less "
            "than another.",
            "Use =, != or “in {…}”, or give the column the type “ordinal”.",
        )

    def _membership(self, tree: Tree[Token], values: Sequence[Tree[Token]]) -> Formula:
        attribute = self._valued(tree)
        if attribute is None:
            return AmongNumbers(self._term(tree), tuple(self._number(each) for each in values))
        return Among(
            attribute.name,
            tuple(
                self._value_of(attribute, each) or self._no_value(attribute, each)
                for each in values
            ),
        )

    def _valued(self, tree: Tree[Token]) -> Attribute | None:
        """Return the attribute that a side names, if it is one with values that are no numbers."""
        if tree.data != "word" or (token := _token(tree)).type == "SINGLE":
            return None
        name = _spelt(_bare(token), self._attributes)
        attribute = self._attributes.get(name or "")
        return None if attribute is None or not _has_values(attribute) else attribute

    def _value_of(self, attribute: Attribute, tree: Tree[Token]) -> str | None:
        """Return the value of an attribute that a side names, if it names one."""
        if tree.data not in ("word", "number", "value"):
            return None
        token = _token(tree)
        if token.type == "NAME":
            return None
        wanted = ("-" if len(tree.children) > 1 else "") + _bare(token)
        value = _spelt(wanted, attribute.values)
        if value is None and token.type == "NUMBER":
            value = _equal_to(float(wanted), attribute.values)
        return value

    def _no_value(self, attribute: Attribute, tree: Tree[Token]) -> NoReturn:
        self._refuse(
            _token(tree),
            f"“{self._shown(tree)}” is not a value of “{attribute.name}”.",
            f"Its values are: {_some([quoted(value) for value in attribute.values])}.",
        )

    def _term(self, tree: Tree[Token]) -> Term:
        parts = _sides(tree)
        result: Term
        match tree.data:
            case "number":
                result = Number(self._number(tree))
            case "negative":
                term = self._term(parts[1])
                result = Number(-term.number) if isinstance(term, Number) else Negative(term)
            case "product":
                result = Arithmetic("*", self._term(parts[0]), self._term(parts[1]))
            case "sum":
                result = Arithmetic(str(parts[1]), self._term(parts[0]), self._term(parts[2]))
            case "divided":
                result = Arithmetic("/", self._term(parts[0]), Number(self._divisor(parts[1])))
            case _:
                result = self._name(tree)
        return result

    def _divisor(self, token: Token) -> float:
        by = self._finite(token)
        if by == 0:
            self._refuse(token, "division by zero is not possible.", "Write another number.")
        return by

    def _name(self, tree: Tree[Token]) -> Name:
        attribute = self._attribute(_token(tree))
        if _has_values(attribute):
            self._refuse(
                _token(tree),
                f"“{attribute.name}” is not a number, so it cannot be used in arithmetic or "
                "compared with one.",
                f"Its values are: {_some([quoted(value) for value in attribute.values])}.",
            )
        return Name(attribute.name)

    def _number(self, tree: Tree[Token]) -> float:
        token = _token(tree)
        if token.type != "NUMBER":
            self._refuse(token, f"“{_bare(token)}” is not a number.", "Write numbers here.")
        return -self._finite(token) if len(tree.children) > 1 else self._finite(token)

    def _finite(self, token: Token) -> float:
        number = float(token)
        if not np.isfinite(number):
            self._refuse(token, "this number is too large.", "Write a smaller one.")
        return number

    def _attribute(self, token: Token) -> Attribute:
        wanted = _bare(token)
        name = _spelt(wanted, self._attributes)
        if name is None or token.type == "SINGLE":
            around = (token.start_pos or 0, token.end_pos or 0)
            hint = _quoting(self._text, around[0], list(self._attributes.values())) or _quoting(
                self._text, around[1], list(self._attributes.values())
            )
            known = f"The attributes are: {_some(list(self._attributes))}."
            self._refuse(token, f"there is no attribute “{wanted}”.", f"{hint} {known}".strip())
        return self._attributes[name]

    def _shown(self, tree: Tree[Token]) -> str:
        tokens = list(tree.scan_values(lambda _: True))
        return self._text[tokens[0].start_pos : tokens[-1].end_pos].strip("`\"'")

    def _refuse(self, token: Token, why: str, remedy: str) -> NoReturn:
        raise ConstraintError(self._text, token.start_pos or 0, why, remedy)


def _sides(tree: Tree[Token]) -> list[Any]:
    """Return the parts of a tree; the grammar says what they are."""
    return tree.children


def _token(tree: Tree[Token]) -> Token:
    """Return the last token of a side that is a word, a number or a value; else its first."""
    tokens: list[Token] = list(tree.scan_values(lambda _: True))
    return tokens[-1] if tree.data in ("word", "number", "value") else tokens[0]


def _bare(token: Token) -> str:
    """Return what a token says without its quotes."""
    if token.type in ("NAME", "DOUBLE", "SINGLE"):
        return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL)
    return str(token)


def _spelt(wanted: str, options: Sequence[str] | dict[str, Attribute]) -> str | None:
    """Find a name: as it is, else the only one that differs in case only."""
    if wanted in options:
        return wanted
    near = [each for each in options if each.casefold() == wanted.casefold()]
    return near[0] if len(near) == 1 else None


def _equal_to(number: float, values: Sequence[str]) -> str | None:
    """Find the value that is written as another spelling of a number."""
    for value in values:
        try:
            if float(value) == number:
                return value
        except ValueError:
            continue
    return None


def _has_values(attribute: Attribute) -> bool:
    """Return whether an attribute's values are names; those of others are numbers."""
    return bool(attribute.values) and not attribute.numeric


def _some(texts: Sequence[str]) -> str:
    rest = len(texts) - _MOST_LISTED
    more = f" and {rest:,} more" if rest > 0 else ""
    return ", ".join(texts[:_MOST_LISTED]) + more
