"""Rules about one protected attribute: which groups of its values there are (TestSGD, section 3.1).

Zhang et al., "TestSGD: Interpretable Testing of Neural Networks Against Subtle Group
Discrimination", ACM TOSEM 2023. A rule is a set of *cells* of the attribute: names by themselves,
numbers in bins. Names make subsets; whatever has an order makes runs of neighbours. Of a table that
is larger than memory the cells of all rows are counted block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from fairdesk.groups.metrics.grouping import Kinds
from fairdesk.groups.options import MOST_NAMES, TestSgdOptions
from fairdesk.results.events import Rows
from fairdesk.results.proofs import Condition


def members(
    attributes: Sequence[Attribute], codes: Rows, conditions: Sequence[Condition]
) -> NDArray[np.bool_]:
    """Return which rows fulfil all conditions.

    Parameters
    ----------
    attributes : sequence of Attribute
        What the columns of ``codes`` are: ``Domain.grouping``.
    codes : Rows
        ``(n, g)``; a missing cell (NaN) fulfils no condition.
    conditions : sequence of Condition
        At most one per attribute.

    Returns
    -------
    NDArray[np.bool_]
        ``(n,)``.
    """
    names = [attribute.name for attribute in attributes]
    inside = np.ones(len(codes), dtype=np.bool_)
    for condition in conditions:
        values = codes[:, names.index(condition.attribute)]
        if condition.codes:
            inside &= np.isin(values, condition.codes)
            continue
        inside &= ~np.isnan(values)
        if condition.low is not None:
            inside &= values >= condition.low
        if condition.high is not None:
            inside &= values < condition.high if condition.below else values <= condition.high
    return inside


Subsets = Literal["all", "single", "ordered"]
#: What a few whole numbers are.
Coded = Literal["names", "ordered"]

#: Where each bin of a number starts and ends: ``(c,)`` each.
Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]

#: An attribute with more names than this is refused: nearly all would be rare.
MOST_VALUES = 2_000
#: More bins than this have too many runs; as many as may be asked for in bins of equal width.
MOST_BINS = 50
#: Ordered names beyond this are first put together: their runs would be too many.
MOST_ORDERED = 50


@dataclass(frozen=True)
class Rules:
    """All rules about one attribute.

    Attributes
    ----------
    attribute : Attribute
        What they speak of.
    cells : NDArray[np.intp]
        ``(n,)``; the cell of each row, -1 where its value is missing: it fulfils no rule.
    sets : NDArray[np.bool_]
        ``(r, c)``; which cells each rule holds. No two hold the same people, none holds
        everybody whose value is known.
    conditions : tuple[Condition, ...]
        ``r`` of them: each rule in words.
    notes : tuple[str, ...]
        What the auditor must know about how they were chosen and who is in none; mostly empty.
    ways : NDArray[np.float64], optional
        ``(r,)``; from among how many sets the rows' own rates chose each: 1 where they did not.
        By default 1 of all.
    """

    attribute: Attribute
    cells: NDArray[np.intp]
    sets: NDArray[np.bool_]
    conditions: tuple[Condition, ...]
    notes: tuple[str, ...] = ()
    ways: NDArray[np.float64] | None = None


def rules_about(
    attribute: Attribute,
    codes: NDArray[np.float64],
    *,
    bins: int,
    edges: Sequence[float] = (),
    subsets: Subsets = "all",
    coded: Coded = "names",
    favourable: NDArray[np.float64] | None = None,
    weights: NDArray[np.int64] | None = None,
    bounds: Bounds | None = None,
) -> Rules:
    """Make the rules about one attribute.

    Values that no row has are in no rule, and a run begins and ends with a value that some row
    has: else two rules would describe the same people.

    Parameters
    ----------
    attribute : Attribute
        One of `Domain.grouping`. Its category of missing cells is a name like others; it stands
        outside the order of ordered names.
    codes : NDArray[np.float64]
        ``(n,)``; those of the rows.
    bins : int
        Into how many of equal width the range of the rows' numbers is divided; numbers with no
        more different values than that have a cell for each.
    coded : str
        Whether whole numbers with at most `MOST_NAMES` different values are codes of names, or
        ordered. Where there are ``edges``, they are ordered.
    edges : sequence of float
        Instead of these, the inner edges of a number's bins, ascending.
    subsets : str
        Which subsets of names: ``"all"``; each name and all but it (``"single"``); or
        (``"ordered"``) those with the highest rates, one after the other, and likewise the
        lowest. Beyond `MOST_NAMES` names ``"all"`` is the last two together.
    favourable : NDArray[np.float64], optional
        ``(n,)``; whether each row gets the favourable decision, NaN where that is not known;
        needed where names are ordered by it (`needs_rates`).
    weights : NDArray[np.int64], optional
        ``(n,)``; how many rows each stands for; by default one.
    bounds : Bounds, optional
        A number's bins, where they rest on more rows than these: as of `bins_of`.

    Raises
    ------
    SpecError
        When there are more edges, or names, than make rules to try.
    """
    _check(attribute, edges)
    if not attribute.values:
        if bounds is None:
            bounds = bins_of(attribute, codes, bins, edges, coded)
        if _may_be_names(attribute, edges, coded) and _are_few(bounds):
            rules = _subsets(attribute, cells_of(codes, bounds), bounds[0], subsets, favourable)
            rules = replace(rules, notes=(*rules.notes, *_read_as_names(rules)))
        else:
            rules = _runs_of_numbers(attribute, codes, bounds)
    elif attribute.kind is Kind.ORDINAL:
        rules = _runs_of_names(attribute, codes, bins)
    else:
        values = np.arange(float(len(attribute.values)))
        rules = _subsets(attribute, places_of(codes), values, subsets, favourable)
    return replace(rules, notes=(*rules.notes, *_unknown(attribute, codes, weights)))


def _check(attribute: Attribute, edges: Sequence[float]) -> None:
    if len(edges) >= MOST_BINS:
        raise SpecError(
            f"“{attribute.name}” cannot be divided into {len(edges) + 1:,} bins.",
            why=f"Every range of them is a rule, and more than {MOST_BINS} bins give too many.",
            remedy=f"Give at most {MOST_BINS - 1} bin boundaries.",
        )
    if attribute.kind is Kind.NOMINAL and len(attribute.values) > MOST_VALUES:
        raise SpecError(
            f"“{attribute.name}” has {len(attribute.values):,} categories, and rules support at "
            f"most {MOST_VALUES:,}.",
            why="With so many, nearly all categories are too rare for a subgroup.",
            remedy="Protect another column, or merge its categories into fewer.",
        )


def _unknown(
    attribute: Attribute, codes: NDArray[np.float64], weights: NDArray[np.int64] | None
) -> Iterator[str]:
    """Yield notes on people whose value is not known."""
    weights = np.ones(len(codes), np.int64) if weights is None else weights
    if missing := int(weights[np.isnan(codes)].sum()):
        rows = "row" if missing == 1 else "rows"
        yield (
            f"“{attribute.name}” is missing in {missing:,} {rows}: rules about it do not include "
            "them, so they count among the others."
        )
    if unknown := int(weights[codes == attribute.unknown_code].sum()):
        rows = "row" if unknown == 1 else "rows"
        yield (
            f"“{attribute.name}” is not known in {unknown:,} {rows}: “{attribute.values[-1]}” "
            "counts as a value of its own in rules about it."
        )


def _may_be_names(attribute: Attribute, edges: Sequence[float], coded: Coded) -> bool:
    """Return whether an attribute's whole numbers are codes of names where they are few."""
    return coded == "names" and attribute.kind is Kind.INTEGER and not len(edges)


def _are_few(bounds: Bounds) -> bool:
    starts, ends = bounds
    return len(starts) <= MOST_NAMES and bool((starts == ends).all())


def _read_as_names(rules: Rules) -> Iterator[str]:
    """Yield a note where an order that there may be was not used."""
    if (count := rules.sets.any(axis=0).sum()) > 2:
        yield (
            f"“{rules.attribute.name}” has {count} different whole numbers, which count as codes "
            "of categories without an order. If they are ordered, state bin boundaries for it, or "
            "choose “ordered” for coded categories."
        )


def needs_rates(attribute: Attribute, subsets: Subsets, coded: Coded) -> bool:
    """Return whether an attribute's names may be put in the order of their observed rates."""
    if _may_be_names(attribute, (), coded):
        return subsets == "ordered"
    if not attribute.values or attribute.kind is Kind.ORDINAL or subsets == "single":
        return False
    return subsets == "ordered" or len(attribute.values) > MOST_NAMES


def _subsets(
    attribute: Attribute,
    cells: NDArray[np.intp],
    values: NDArray[np.float64],
    subsets: Subsets,
    favourable: NDArray[np.float64] | None,
) -> Rules:
    """Make rules about sets of cells, each of which is one of the values."""
    there = np.unique(cells[cells >= 0])
    k = len(there)
    note, ways = "", None
    if subsets == "all" and k <= MOST_NAMES:
        picked = (np.arange(1, 2**k - 1)[:, None] >> np.arange(k)) & 1 > 0
    else:
        wanted = {"all": ("single", "ordered")}.get(subsets, (subsets,))
        parts = [np.empty((0, k), dtype=np.bool_)]
        if "single" in wanted:
            parts += [np.eye(k, dtype=np.bool_), ~np.eye(k, dtype=np.bool_)]
        if "ordered" in wanted:
            rank = np.argsort(np.argsort(_rates(cells, there, favourable), kind="stable"))
            parts += [rank < np.arange(1, k)[:, None], rank >= np.arange(1, k)[:, None]]
        picked = np.unique(np.concatenate(parts), axis=0)
        size = picked.sum(axis=1)
        picked, size = (each[(size > 0) & (size < k)] for each in (picked, size))
        # any other names as many could have had the highest rates
        chosen = ("ordered" in wanted) & (("single" not in wanted) | ((size > 1) & (size < k - 1)))
        ways = np.where(chosen, [float(comb(k, each)) for each in size.tolist()], 1.0)
        if subsets == "all":
            note = (
                f"“{attribute.name}” has {k:,} categories, and with more than {MOST_NAMES} there "
                "are too many sets to test all. Tested were single categories, all but one, and "
                "the categories with the highest and the lowest rates in the data, added one after "
                "the other; confidence intervals and p-values of the latter are corrected for all "
                "sets of the same size from which the rates selected them."
            )
    sets = np.zeros((len(picked), len(values)), dtype=np.bool_)
    sets[:, there] = picked
    return Rules(attribute, cells, sets, _listed(attribute, sets, values), _all(note), ways)


def _rates(
    cells: NDArray[np.intp], there: NDArray[np.intp], favourable: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the observed favourable rate of each value that is there; without any rows 0."""
    if favourable is None:
        raise ValueError("categories are ordered by rates, which were not given")
    known = (cells >= 0) & ~np.isnan(favourable)
    size = there.max(initial=0) + 1
    rows = np.bincount(cells[known], minlength=size)
    favourable_rows = np.bincount(cells[known], favourable[known], minlength=size)
    return np.asarray((favourable_rows / np.maximum(rows, 1))[there])


def _runs_of_names(attribute: Attribute, codes: NDArray[np.float64], bins: int) -> Rules:
    named, note = len(attribute.named), ""
    cell_of = np.arange(len(attribute.values))
    if named > MOST_ORDERED:
        cell_of[:named] = np.arange(named) * bins // named
        cell_of[named:] = bins
        note = (
            f"“{attribute.name}” has {named:,} values; more than {MOST_ORDERED} give too many "
            f"ranges to test. Neighbouring values were combined into {bins} groups."
        )
    cells = places_of(codes)
    cells = np.where(cells >= 0, cell_of[cells], -1)
    count = cell_of.max() + 1
    ordered = count - attribute.unknown
    there = np.unique(cells[cells >= 0])
    spans = _spans(there[there < ordered])
    sets = np.zeros((len(spans) + 1, count), dtype=np.bool_)
    for rule, (first, last) in enumerate(spans):
        sets[rule, first : last + 1] = True
    # who is unknown is no neighbour of the last value: a rule by itself
    sets[-1, ordered:] = True
    sets = sets[: len(spans) + int((there >= ordered).any())]
    values = np.arange(float(len(cell_of)))
    return Rules(attribute, cells, sets, _listed(attribute, sets[:, cell_of], values), _all(note))


def cells_of(codes: NDArray[np.float64], bounds: Bounds) -> NDArray[np.intp]:
    """Return the bin of each number: ``(n,)``; -1 where it is missing."""
    known = ~np.isnan(codes)
    cells = np.full(len(codes), -1, dtype=np.intp)
    # whoever is below the first edge is in the first bin: it is open
    cells[known] = np.searchsorted(bounds[0][1:], codes[known], side="right")
    return cells


def _runs_of_numbers(attribute: Attribute, codes: NDArray[np.float64], bounds: Bounds) -> Rules:
    starts, ends = bounds
    single = starts == ends
    cells = cells_of(codes, bounds)
    there = np.unique(cells[cells >= 0])
    spans = _spans(there)
    sets = np.zeros((len(spans), len(starts)), dtype=np.bool_)
    conditions = []
    for rule, (first, last) in enumerate(spans):
        sets[rule, first : last + 1] = True
        if first == last and single[first]:
            value = float(starts[first])
            conditions.append(Condition(attribute.name, low=value, high=value))
            continue
        high = None if last == there[-1] else float(ends[last])
        conditions.append(
            Condition(
                attribute.name,
                low=None if first == there[0] else float(starts[first]),
                high=high,
                below=high is not None and attribute.kind is Kind.REAL and not single[last],
            )
        )
    return Rules(attribute, cells, sets, tuple(conditions))


def bins_of(
    attribute: Attribute,
    codes: NDArray[np.float64],
    bins: int,
    edges: Sequence[float],
    coded: Coded,
) -> Bounds:
    """Return where each bin starts and ends, ``(c,)``: whole numbers end inclusively.

    What may be names is not divided, where it is few. A bin of a single value starts and ends with
    it. What matters of the numbers is the lowest, the highest, and which they are where there are
    no more than bins.
    """
    codes = codes[~np.isnan(codes)]
    whole = attribute.kind is Kind.INTEGER
    low, high = (codes.min(), codes.max()) if codes.size else (0.0, 0.0)
    if edges:
        inner = np.array(edges, dtype=np.float64)
    elif len(values := np.unique(codes)) <= max(
        bins, MOST_NAMES * _may_be_names(attribute, edges, coded)
    ):
        return values, values
    else:
        # whole numbers fill their range to the next one; all of a bin's width must count
        inner = low + (high + whole - low) * np.arange(1, bins) / bins
        inner = np.unique(inner if whole else _rounded(inner, high - low))
    if whole:
        inner = np.unique(np.ceil(inner))
    starts = np.concatenate([[low], inner])
    return starts, np.append(inner - whole, high)


def _rounded(edges: NDArray[np.float64], span: float) -> NDArray[np.float64]:
    """Round edges to a ten-thousandth of the range or finer: they are to be read."""
    return np.round(edges, int(4 - np.floor(np.log10(span)))) if span > 0 else edges


def _spans(there: NDArray[np.intp]) -> list[tuple[int, int]]:
    """List the runs from one cell that is there to another: first and last, without all of them."""
    cells = there.tolist()
    return [
        (first, last)
        for i, first in enumerate(cells)
        for last in cells[i:]
        if (first, last) != (cells[0], cells[-1])
    ]


def _all(note: str) -> tuple[str, ...]:
    return (note,) if note else ()


def places_of(codes: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return codes as whole numbers; -1 where a cell is missing."""
    return np.where(np.isnan(codes), -1, codes).astype(np.intp)


def _listed(
    attribute: Attribute, sets: NDArray[np.bool_], values: NDArray[np.float64]
) -> tuple[Condition, ...]:
    """Write rules about values, ``(r, values)``, as conditions."""
    return tuple(Condition(attribute.name, codes=tuple(values[each].tolist())) for each in sets)


#: Yields how many rows were read, and the codes of those that count, ``(n, g)``.
Blocks = Callable[[], Iterator[tuple[int, Rows]]]


@dataclass(frozen=True)
class Combinations:
    """The combinations of cells that occur.

    Attributes
    ----------
    codes : Rows
        ``(k, g)``; a code in each of their cells, NaN where the value is missing.
    rows : NDArray[np.int64]
        ``(k,)``; how many rows have each.
    bounds : tuple of Bounds, optional
        Of each attribute the bins of a number; None of names.
    """

    codes: Rows
    rows: NDArray[np.int64]
    bounds: tuple[Bounds | None, ...]


def combinations(
    blocks: Blocks,
    grouping: Sequence[Attribute],
    options: TestSgdOptions,
    edges: Mapping[str, Sequence[float]],
) -> Iterator[tuple[int, int] | Combinations]:
    """Count all rows; the last one told is the result, before it how many of how many reads.

    Where there are numbers, the table is read twice: bins rest on the lowest and the highest.
    """
    passes = 1 + any(not each.values for each in grouping)
    seen = [None if each.values else _Seen(max(options.bins, MOST_NAMES)) for each in grouping]
    read = 0
    if passes > 1:
        for count, codes in blocks():
            for place, each in enumerate(seen):
                if each is not None:
                    each.add(codes[:, place])
            read += count
            yield read, passes
    bounds = tuple(
        None
        if each is None
        else bins_of(a, each.codes, options.bins, edges.get(a.name, ()), options.coded)
        for a, each in zip(grouping, seen, strict=True)
    )
    sizes = [
        1 + (len(a.values) if each is None else len(each[0]))
        for a, each in zip(grouping, bounds, strict=True)
    ]
    kinds = Kinds(sizes)
    for count, codes in blocks():
        # the first place is that of a missing value
        kinds.add(
            [
                1 + (places_of(own) if each is None else cells_of(own, each))
                for own, each in zip(codes.T, bounds, strict=True)
            ]
        )
        read += count
        yield read, passes
    columns = [
        np.concatenate([[np.nan], np.arange(size - 1) if each is None else each[0]])[place]
        for place, size, each in zip(kinds.places, sizes, bounds, strict=True)
    ]
    yield Combinations(np.stack(columns, axis=1), kinds.counts, bounds)


@dataclass(frozen=True)
class Counted:
    """Rows that rules are made of: combinations of all rows first, then those that are held.

    Attributes
    ----------
    codes : Rows
        ``(k + n, g)``.
    favourable : NDArray[np.float64]
        ``(k + n,)``; whether a row gets the favourable decision, NaN where that is not known.
    weights : NDArray[np.int64], optional
        ``(k + n,)``; how many rows each stands for: those that are held for none, as all are
        counted before. None where all are held.
    bounds : tuple of Bounds, optional
        As of `Combinations`.
    held : int
        Where those that are held begin: ``k``.
    """

    codes: Rows
    favourable: NDArray[np.float64]
    weights: NDArray[np.int64] | None
    bounds: tuple[Bounds | None, ...]
    held: int


def counted(
    blocks: Blocks | None,
    grouping: Sequence[Attribute],
    options: TestSgdOptions,
    edges: Mapping[str, Sequence[float]],
    groups: Rows,
    favourable: NDArray[np.float64],
) -> Iterator[tuple[int, int] | Counted]:
    """Put all rows of a table that is larger than memory before those held; as `combinations`."""
    if blocks is None:
        yield Counted(groups, favourable, None, (None,) * len(grouping), 0)
        return
    for found in combinations(blocks, grouping, options, edges):
        if isinstance(found, Combinations):
            count, held = len(found.rows), len(groups)
            yield Counted(
                np.concatenate([found.codes, groups]),
                np.concatenate([np.full(count, np.nan), favourable]),
                np.concatenate([found.rows, np.zeros(held, np.int64)]),
                found.bounds,
                count,
            )
        else:
            yield found


class _Seen:
    """Numbers of which the lowest, the highest and the first few different ones are kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._few, self._ends = np.empty(0), np.empty(0)

    def add(self, codes: NDArray[np.float64]) -> None:
        known = codes[~np.isnan(codes)]
        if not known.size:
            return
        ends = [*self._ends, known.min(), known.max()]
        self._ends = np.array([min(ends), max(ends)])
        if len(self._few) <= self._most:
            self._few = np.unique(np.concatenate([self._few, known]))[: self._most + 1]

    @property
    def codes(self) -> NDArray[np.float64]:
        return np.concatenate([self._few, self._ends])
