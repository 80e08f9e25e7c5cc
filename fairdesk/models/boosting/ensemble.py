"""Trees of XGBoost and LightGBM as numbers, checked once, and summed by compiled loops.

Whoever follows such trees must come to a leaf: branches that lead out of a tree, or back, are
refused here, before anything follows them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]
Truths = NDArray[np.bool_]

#: How sums become answers: as they are; the logistic function (of one sum, or of each); softmax;
#: the exponential function; the decision at 0; the signed square; ``log(1 + exp(x))``.
Link = Literal["identity", "logistic", "softmax", "exponential", "hinge", "square", "softplus"]
LINKS: tuple[Link, ...] = (
    *("identity", "logistic", "softmax", "exponential", "hinge", "square", "softplus"),
)
#: LightGBM takes what is no farther from 0 for it.
TINY = float(np.float32(1e-35))
#: All sets of categories together have no more members than this, members or not.
_MOST_MEMBERS = 1 << 26
#: No table has more columns, and no classifier more classes.
MOST_INPUTS, MOST_CLASSES = 100_000, 10_000


class BrokenError(Exception):
    """A file is not what its library writes; the message is a clause that says how."""


@dataclass(frozen=True, slots=True)
class Tree:
    """One tree, its nodes numbered from 0, the root first.

    Attributes
    ----------
    column : NDArray[np.int64]
        ``(N,)``; the input that a node looks at, -1 in a leaf.
    left, right : NDArray[np.int64]
        ``(N,)``; without meaning in leaves.
    threshold : NDArray[np.float64]
        ``(N,)``; numbers up to it go to the left.
    missing_left : NDArray[np.bool_]
        ``(N,)``; whether a missing number goes to the left.
    value : NDArray[np.float64]
        ``(N,)``; of leaves what they add.
    group : int
        The sum that it adds to.
    zero_missing : NDArray[np.bool_], optional
        ``(N,)``; whether 0 counts as missing.
    sets : dict[int, NDArray[np.bool_]]
        Of nodes that look for categories: by number, whether to the left.
    """

    column: Numbers
    left: Numbers
    right: Numbers
    threshold: Float64
    missing_left: Truths
    value: Float64
    group: int = 0
    zero_missing: Truths | None = None
    sets: dict[int, Truths] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ensemble:
    """Trees whose leaves are added up.

    Attributes
    ----------
    trees : tuple[Tree, ...]
        In the order in which they are added up.
    width : int
        How many inputs there are.
    base : NDArray[np.float64]
        ``(k,)``; where the sums begin.
    precision : type
        ``np.float32`` or ``np.float64``: what inputs are rounded to, and sums added up in.
    link : Link
        How sums become answers.
    scale : float
        What sums are multiplied by before the logistic function.
    share : int
        What sums are divided by: the rounds of trees, where these are averaged.
    otherwise : bool
        Whether a number that no set of categories knows goes to the left.
    """

    trees: tuple[Tree, ...]
    width: int
    base: Float64
    precision: type[np.float32 | np.float64]
    link: Link
    scale: float = 1.0
    share: int = 1
    otherwise: bool = False

    @property
    def categorical(self) -> Truths:
        """Which inputs are looked at as categories: ``(width,)``."""
        found = np.zeros(self.width, np.bool_)
        for tree in self.trees:
            found[tree.column[list(tree.sets)]] = True
        return found


@dataclass(frozen=True, slots=True)
class Linear:
    """A weighted sum of the inputs, those that are missing left out.

    Attributes
    ----------
    weights : NDArray[np.float64]
        ``(inputs, k)``.
    bias : NDArray[np.float64]
        ``(k,)``; with where the sums begin.
    link : Link
        How sums become answers.
    """

    weights: Float64
    bias: Float64
    link: Link

    @property
    def width(self) -> int:
        """How many inputs there are."""
        return len(self.weights)


def gathered(trees: Sequence[Tree], width: int, groups: int) -> tuple[Tree, ...]:
    """Check trees.

    Raises
    ------
    BrokenError
        When branches lead nowhere or back, a node looks at an input or adds to a sum that is not
        there, or a number is not finite.
    """
    if not trees:
        raise BrokenError("it has no trees")
    members = 0
    for i, tree in enumerate(trees):
        members += sum(len(each) for each in tree.sets.values())
        if members > _MOST_MEMBERS:
            raise BrokenError("its sets of categories are too large")
        if fault := _fault(tree, width, groups):
            raise BrokenError(f"in tree {i + 1:,}, {fault}")
    both = np.zeros((2, width), np.bool_)
    for tree in trees:
        named = np.isin(np.arange(len(tree.column)), list(tree.sets))
        both[0, tree.column[named]] = True
        both[1, tree.column[~named & (tree.column >= 0)]] = True
    if both.all(axis=0).any():
        raise BrokenError("it uses one input both as a number and as a category")
    return tuple(trees)


def _fault(tree: Tree, width: int, groups: int) -> str:
    """Return what is wrong with a tree; empty where nothing is."""
    count = len(tree.column)
    inner = tree.column >= 0
    children = np.concatenate([tree.left[inner], tree.right[inner]])
    there = children[(children >= 0) & (children < count)]
    # whatever has one way in, and the root none, is a tree: no way leads back
    ways = np.bincount(there, minlength=max(count, 1))
    faults = {
        "there are no nodes": not count,
        "a branch leads to a node that does not exist": len(there) < len(children),
        "branches lead back or meet again": bool(ways[0]) or bool((ways > 1).any()),
        "a node uses an input that does not exist": bool((tree.column >= width).any()),
        "the class that it votes for does not exist": not 0 <= tree.group < groups,
        "the value of a leaf is not finite": not np.isfinite(tree.value[~inner]).all(),
        "a threshold is not a number": bool(np.isnan(tree.threshold[inner]).any()),
    }
    return next((fault for fault, found in faults.items() if found), "")


def whole_number(
    settings: Mapping[str, Any], name: str, most: int, default: int | None = None
) -> int:
    """Read a whole number, which may be written as a text.

    Raises
    ------
    BrokenError
        When it is none, or not from 0 to ``most``.
    """
    try:
        count = int(str(settings.get(name, default))[:20])
    except ValueError as error:
        raise BrokenError(f"“{name}” is not a whole number") from error
    if not 0 <= count <= most:
        raise BrokenError(f"“{name}” is {count:,}")
    return count


def column_of(values: Any, name: str, kind: type, length: int | None = None) -> NDArray[Any]:  # noqa: ANN401 - any JSON
    """Return one list of a description as an array of a type.

    Raises
    ------
    BrokenError
        When it is not a list of such numbers, or not of that length.
    """
    try:
        found = np.asarray(values)
    except (ValueError, OverflowError) as error:
        raise BrokenError(f"“{name}” is not a list of numbers") from error
    if not found.size and found.dtype.kind == "f":
        found = found.astype(kind)
    if found.ndim != 1 or found.dtype.kind not in "biuf":
        raise BrokenError(f"“{name}” is not a list of numbers")
    with np.errstate(over="ignore", invalid="ignore"):
        made: NDArray[Any] = found.astype(kind)
    if np.dtype(kind).kind in "biu" and (made != found).any():
        raise BrokenError(f"“{name}” has numbers that are not whole, or too large")
    if length is not None and len(made) != length:
        raise BrokenError(f"“{name}” has {len(made):,} entries, not {length:,}")
    return made


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file says.

    Attributes
    ----------
    body : Ensemble or Linear
        What it computes.
    scores : str
        As in `ModelCard`.
    classes : tuple[str, ...]
        As in `ModelCard`.
    names : tuple[str, ...]
        The inputs' names; empty where the file has none of its own.
    codes : dict[int, dict[str, float]]
        Of inputs that take categories: the number of each.
    saved_with : str
        The library and its version.
    summary : str
        What is inside, without its inputs and classes: ``"120 trees"``.
    notes : tuple[str, ...]
        What the auditor must know, a sentence each.
    """

    body: Ensemble | Linear
    scores: str
    classes: tuple[str, ...]
    names: tuple[str, ...]
    saved_with: str
    summary: str
    codes: dict[int, dict[str, float]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class UnsupportedError(Exception):
    """A sound file holds a kind of model that is not read; the message says which in a clause."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(why)
        self.remedy = remedy


def unstated_categories(reading: Reading) -> tuple[str, ...]:
    """Return a note on inputs whose categories have numbers that the file does not state."""
    if isinstance(reading.body, Linear):
        return ()
    places = [i for i in np.flatnonzero(reading.body.categorical) if i not in reading.codes]
    if not places:
        return ()
    names = reading.names
    shown = ", ".join(f"“{names[i]}”" if names else f"input {i + 1}" for i in places[:6])
    more = f" and {len(places) - 6:,} more" if len(places) > 6 else ""
    note = (
        f"Categories are numbers in {shown}{more}, and the file does not say which is which: add "
        "one with the codes, {“column”: {“value”: 0, …}}."
    )
    return (note,)
