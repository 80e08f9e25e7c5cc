"""Conditions on an audit's results, by which a command fails: ``--fail-under``, ``--fail-if``."""

from __future__ import annotations

import argparse
import operator
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fairdesk.answers import pairs_found
from fairdesk.cli.parsing import Parser
from fairdesk.cli.summary import Finished, changing_share, lowest_ratio
from fairdesk.cli.terminal import CONDITION_MET, NOT_MEASURED, complain
from fairdesk.errors import did_you_mean
from fairdesk.wording import words

_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_FORM = re.compile(r"([a-z]+)\s*(<=|>=|<|>)\s*(\d+(?:\.\d+)?)\s*(%?)")
_EXAMPLES = "ratio<0.8, changes>5% or pairs>0"


class _Figure(NamedTuple):
    """A figure that a condition names.

    ``fits`` is what its number must look like, ``read`` its value in an audit.
    """

    title: str
    fits: re.Pattern[str]
    read: Callable[[Finished], float | None]


def _changes(audit: Finished) -> float | None:
    share = changing_share(audit)
    return None if share is None else 100 * share.estimate


def _pairs(audit: Finished) -> float | None:
    return pairs_found(audit.runs) if any(run.tried for run in audit.runs) else None


_FIGURES = {
    "ratio": _Figure("lowest impact ratio", re.compile(r"[01](\.\d+)?"), lowest_ratio),
    "changes": _Figure("share of rows whose decision changes", re.compile(r"[\d.]+%"), _changes),
    "pairs": _Figure("number of discriminatory pairs found", re.compile(r"\d+"), _pairs),
}


class Condition(NamedTuple):
    """What must not hold of an audit: ``ratio<0.8``."""

    figure: str
    sign: str
    value: float

    def __str__(self) -> str:
        return f"{self.figure}{self.sign}{self.value:g}{'%' * (self.figure == 'changes')}"


def condition(text: str) -> Condition:
    """Read a condition, as `argparse` asks for it."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"“{text}” is not a condition like {_EXAMPLES}")
    name, sign, number, percent = found.groups()
    if name not in _FIGURES:
        near = did_you_mean(name, _FIGURES, f"The figures are: {', '.join(_FIGURES)}.")
        raise argparse.ArgumentTypeError(f"there is no figure “{name}”. {near.rstrip('.')}")
    if not _FIGURES[name].fits.fullmatch(number + percent):
        raise argparse.ArgumentTypeError(
            f"“{number}{percent}” does not fit “{name}”: write it like {_EXAMPLES}"
        )
    return Condition(name, sign, float(number))


def _below(text: str) -> Condition:
    return condition(f"ratio<{text}")


def add_conditions(parser: Parser) -> None:
    """Add ``--fail-under`` and ``--fail-if``."""
    for name, kind in (("--fail-under", _below), ("--fail-if", condition)):
        parser.take(name, type=kind, action="append", dest="conditions", default=[])


def check(audit: Finished, conditions: Sequence[Condition]) -> int:
    """Say which conditions hold, or cannot be checked; return the exit code."""
    codes = {0}
    for each in conditions:
        figure = _FIGURES[each.figure]
        value = figure.read(audit)
        if value is None:
            complain(f"{each} cannot be checked: the {figure.title} was not measured.")
            codes.add(NOT_MEASURED)
        elif _SIGNS[each.sign](value, each.value):
            unit = "%" if each.figure == "changes" else ""
            complain(f"{each} holds: the {figure.title} is {words.short(value, 4)}{unit}.")
            codes.add(CONDITION_MET)
    return CONDITION_MET if CONDITION_MET in codes else max(codes)
