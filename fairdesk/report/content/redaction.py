"""What a report that goes to strangers leaves out of single people, and how it says so.

Two ways. *synthetic*: only invented people are shown, none of whom is like a row of the data. In
*bands*: numbers are shown as bands of the data's values, and nobody whose bands only a few rows
have. Both quote no text that somebody wrote, no name that only a few rows have, no group of a few
people, and none of the auditor's notes: they may quote any of it. What stands in a sentence, as in
a constraint or a feature, is looked for there.

This keeps a reader from finding a row in the report. It is no proof of anonymity: who knows the
model, or sets several tables beside each other, may still learn something about somebody.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import assert_never

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import LogEntry, LogKind, Redaction, RunRecord, TemplateKey
from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.table import Column, Kind, Table
from fairdesk.models.model import Input
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import Metric, Rows
from fairdesk.results.groups import GroupGap, GroupTable
from fairdesk.results.individual import (
    AuditStudy,
    ChangeSplit,
    ComparedRows,
    ExcessChange,
    GradientFidelity,
    RandomBaseline,
    SearchPhase,
    Share,
    ValueChanges,
)
from fairdesk.results.mitigation import Repair, Trial
from fairdesk.results.proofs import (
    NeighbourhoodCounts,
    PairShare,
    Proven,
    ProvenRates,
    Region,
)
from fairdesk.results.subgroups import LinearGroup, RuleSearchSummary, RuleSet, TermRate
from fairdesk.wording.language import say

#: What fewer rows than this have in common is not told; the sentences about it say this number.
FEWEST = 5
#: Into so many bands a number is divided at most.
BANDS = 5
WHOLE = "any value"


def band_edges(values: Rows, *, integral: bool) -> tuple[float, ...]:
    """Divide numbers into bands: give where each but the first begins.

    The borders are quantiles of the distinct values, rounded to a hundredth of the range at least,
    so that none is somebody's own number. Every band has at least `FEWEST` rows; the ends are open.

    Parameters
    ----------
    values : Rows
        ``(n,)``; NaN is not known.
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return ()
    distinct = np.unique(known)
    step = 10.0 ** np.floor(np.log10(max(float(distinct[-1] - distinct[0]), 1e-12) / 20))
    step = max(step, 1.0) if integral else step
    wanted = np.quantile(distinct, np.arange(1, BANDS) / BANDS)
    edges: list[float] = []
    before = -np.inf
    for edge in dict.fromkeys((np.round(wanted / step) * step).tolist()):
        inside = int(((known >= before) & (known < edge)).sum())
        if inside >= FEWEST and int((known >= edge).sum()) >= FEWEST:
            # what rounding leaves behind the last decimal of a step is no part of the border
            edges.append(float(f"{edge:.12g}"))
            before = edge
    return tuple(edges)


def band_text(edges: Sequence[float], value: float, *, integral: bool) -> str:
    """Write the band that a number is in: ``under 30``, ``30 to 44``, ``60 or more``."""
    if not edges:
        return WHOLE
    place = int(np.searchsorted(edges, value, side="right"))
    if place == 0:
        return say("under {number}", number=_number(edges[0]))
    low = _number(edges[place - 1])
    if place == len(edges):
        return say("{number} or more", number=low)
    if not integral:
        return say("{low} to under {high}", low=low, high=_number(edges[place]))
    last = edges[place] - 1
    return say("{low} to {high}", low=low, high=_number(last)) if last > edges[place - 1] else low


def _number(value: float) -> str:
    return f"{value:,.10g}"


OTHER, TEXT = ("other (few rows)", "free text, omitted")
LEFT_OUT = "An entry about a single pair; see the audit file."
NAMED = "An entry with a name that few rows have; see the audit file."
#: What is about single pairs in the log.
_OF_PAIRS: tuple[LogKind, ...] = ("marked", "learned")
#: A word; a name of fewer letters is looked for in texts only where it is in quotes.
_WORD = re.compile(r"[^\W_]+")
_SHORTEST = 3
_QUOTES = "“”\"'`‘’"
_SAID: dict[Redaction, dict[str, str]] = msgspec.toml.decode(
    Path(__file__).with_name("redaction.toml").read_bytes(), type=dict[Redaction, dict[str, str]]
)
#: What is said of each way, and the same in a few words.
SENTENCES, SHORT = (
    {way: each[name] for way, each in _SAID.items()} for name in ("sentence", "short")
)


class Shown:
    """What may be told of the people of an audit.

    Parameters
    ----------
    kind : str
        As in `fairdesk.audit.store.records.Choice`.
    """

    def __init__(self, kind: Redaction, spec: AuditSpec, table: Table) -> None:
        self.kind = kind
        self._domain = spec.domain
        self._table = table
        self._counted: dict[str, Counter[str]] = {}
        self._few: dict[str, frozenset[str]] = {}

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return self.kind == "none"

    @property
    def sentence(self) -> str:
        """What is left out; empty for nothing."""
        return SENTENCES[self.kind]

    def hides(self, pair: Pair) -> bool:
        """Whether a pair is not to be shown: because it is a real person, or nearly one."""
        match self.kind:
            case "none":
                return False
            case "synthetic":
                return self._key(self._consistent(pair.row)) in self._real
            case "bands":
                places = self._places(np.stack((pair.row, pair.partner)))
                counts = (
                    self._banded[part][self._key(one[columns])]
                    for part, columns in enumerate(self._parts)
                    for one in places
                )
                return any(0 < count < FEWEST for count in counts)

    def value(self, position: int, code: float) -> str:
        """Write a person's value of the domain's attribute at a position."""
        attribute = self._domain.attributes[position]
        if self.whole:
            return attribute.text(code)
        if attribute.values or attribute.kind is Kind.TEXT:
            return self.name(attribute, code)
        if self.kind == "bands":
            return band_text(self._edges[position], code, integral=attribute.integral)
        return attribute.text(code)

    def name(self, attribute: Attribute, code: float) -> str:
        """Write a value of an attribute, whoever has it; of names only those that may be named."""
        text = attribute.text(code)
        if self.whole:
            return text
        if attribute.kind is Kind.TEXT:
            return TEXT
        return OTHER if text in self._rare_of(attribute) else text

    def words(self, text: str, *, strict: bool = False) -> str:
        """Leave out of a text the names that may not be named.

        Parameters
        ----------
        strict : bool
            Whether names of one or two letters, and numbers, count too where no quotes are around
            them: in what speaks of nothing but values.
        """
        if self.whole:
            return text
        pieces, before = [], 0
        for start, end in self._mentions(text, strict=strict):
            pieces += [text[before:start], OTHER]
            before = end
        return "".join((*pieces, text[before:]))

    def _mentions(self, text: str, *, strict: bool) -> Iterator[tuple[int, int]]:
        """Yield where in a text a name stands that may not be named."""
        found = list(_WORD.finditer(text))
        place = 0
        while place < len(found):
            lengths = self._spoken.get(found[place].group(), {})
            for length, names in lengths.items():
                some = found[place : place + length]
                if tuple(each.group() for each in some) not in names:
                    continue
                start, end = some[0].start(), some[-1].end()
                quoted = text[start - 1 : start] in _QUOTES and text[end : end + 1] in _QUOTES
                if strict or (quoted and start) or _telling(text[start:end]):
                    yield start, end
                    place += length - 1
                    break
            place += 1

    @cached_property
    def _spoken(self) -> dict[str, dict[int, set[tuple[str, ...]]]]:
        """The hidden names by their first word and how many words they have, the longest first."""
        spoken: dict[str, dict[int, set[tuple[str, ...]]]] = {}
        for name in sorted(self.hidden, key=lambda name: -len(_WORD.findall(name))):
            if said := tuple(_WORD.findall(name)):
                spoken.setdefault(said[0], {}).setdefault(len(said), set()).add(said)
        return spoken

    def values(self, column: Column) -> tuple[str, ...]:
        """Return the values of a column, or of an attribute, that may be named."""
        if self.whole:
            return column.values
        if column.kind in (Kind.TEXT, Kind.IGNORED):
            return ()
        return tuple(name for name in column.values if self._counts(column.name)[name] >= FEWEST)

    def input(self, one: Input) -> Input:
        """Return how a model input is made, without values that may not be named."""
        if self.whole:
            return one
        codes = {text: code for text, code in one.codes.items() if text not in self.hidden}
        return msgspec.structs.replace(one, name=self.words(one.name), codes=codes)

    def runs(self, runs: Iterable[RunRecord], template: TemplateKey) -> list[RunRecord]:
        """Return runs without what their figures quote of single people.

        A law may ask for tables of every category, however few people are in it.
        """
        cut = template != "ll144"
        return [
            msgspec.structs.replace(
                run,
                message=self.words(run.message),
                figures=tuple(self._figure(each, cut) for each in run.figures),
            )
            for run in runs
        ]

    def _figure(self, figure: Metric, cut: bool) -> Metric:  # noqa: FBT001, PLR0911
        if isinstance(figure, GroupTable):
            return self.table(figure) if cut else figure
        if self.whole:
            return figure
        match figure:
            case TermRate():
                return msgspec.structs.replace(figure, examples=())
            case LinearGroup():
                features = tuple(self.words(each, strict=True) for each in figure.features)
                return msgspec.structs.replace(figure, features=features)
            case RuleSearchSummary() | Proven() | NeighbourhoodCounts():
                return msgspec.structs.replace(figure, notes=tuple(map(self.words, figure.notes)))
            case Share():
                # groups of a few people are not kept in the tables either
                return msgspec.structs.replace(figure, by_value=())
            case ValueChanges():
                return msgspec.structs.replace(figure, values=())
            case (
                ComparedRows()
                | ChangeSplit()
                | AuditStudy()
                | Repeatability()
                | ExcessChange()
                | GroupGap()
                | RandomBaseline()
                | SearchPhase()
                | GradientFidelity()
                | Region()
                | PairShare()
                | ProvenRates()
                | RuleSet()
                | Repair()
                | Trial()
            ):
                return figure
            case _:
                # whoever adds a figure says here what of it may be printed
                assert_never(figure)

    def table(self, table: GroupTable) -> GroupTable:
        """Return a table of groups without those of a few people.

        Where it is one group alone, whose figures are what the others leave of the whole, the next
        smallest goes as well.
        """
        keep = None if self.whole else kept_groups([line.n_samples for line in table.lines])
        if keep is None:
            return table
        reference = keep.index(table.reference) if table.reference in keep else -1
        return msgspec.structs.replace(
            table, lines=tuple(table.lines[i] for i in keep), reference=reference
        )

    def log(self, entries: Sequence[LogEntry]) -> list[LogEntry]:
        """Return the log with nothing in some entries but when they were made.

        Those are the entries about single pairs, and those that name what may not be named.

        Their fingerprints stay, so that the chain's head is still that of the audit file; what they
        are of can be checked with that file alone.
        """
        if self.whole:
            return [*entries]
        return [
            msgspec.structs.replace(entry, what=why, facts="")
            if (why := self._why(entry))
            else entry
            for entry in entries
        ]

    def _why(self, entry: LogEntry) -> str:
        """Say why an entry is left out; empty when it is not."""
        if entry.kind in _OF_PAIRS:
            return LEFT_OUT
        if entry.kind in ("details", "choice"):
            return ""
        # in what tells of the question every name counts, however short
        strict = entry.kind == "decided"
        for text in (entry.what, *_texts_of(entry.facts)):
            if any(self._mentions(text, strict=strict)):
                return NAMED
        return ""

    @property
    def _parts(self) -> tuple[NDArray[np.intp], ...]:
        """What of a person is looked for in the data: everything, and what is not protected."""
        everything = np.arange(len(self._domain.attributes))
        return (everything, self._domain.others) if len(self._domain.others) else (everything,)

    def _consistent(self, row: Rows) -> Rows:
        return row[..., self._parts[-1]]

    @staticmethod
    def _key(row: NDArray[np.generic]) -> bytes:
        # nought has two signs, which are equal and have other bytes
        return (row + 0).tobytes()

    @cached_property
    def _rows(self) -> Rows:
        return self._domain.encode(self._table)

    @cached_property
    def _real(self) -> frozenset[bytes]:
        return frozenset(self._key(row) for row in self._consistent(self._rows))

    @cached_property
    def _edges(self) -> tuple[tuple[float, ...], ...]:
        """Per attribute where its bands begin; those of names are empty."""
        return tuple(
            () if attribute.values else band_edges(self._rows[:, i], integral=attribute.integral)
            for i, attribute in enumerate(self._domain.attributes)
        )

    def _places(self, rows: Rows) -> NDArray[np.float64]:
        """Bring people to what is shown of them: the number of a band, the code of a name."""
        places = np.array(rows, dtype=np.float64)
        for i, (attribute, edges) in enumerate(
            zip(self._domain.attributes, self._edges, strict=True)
        ):
            if not attribute.values:
                places[:, i] = np.searchsorted(edges, rows[:, i], side="right")
            elif attribute.kind is Kind.TEXT:
                places[:, i] = -1
            elif self._rare_codes[i]:
                places[np.isin(rows[:, i], self._rare_codes[i]), i] = -1
        return places

    @property
    def columns(self) -> tuple[str, ...]:
        """What the columns of the data are called, which is always told."""
        return self._table.names

    @cached_property
    def hidden(self) -> frozenset[str]:
        """All values in the data that may not be named."""
        return frozenset(
            value
            for column in self._table.columns
            for value in {*column.values}.difference(self.values(column))
        ) | {
            text
            for column in self._table.columns
            for text, rows in (
                *((odd.text, odd.rows) for odd in column.odd),
                *((one.text, one.rows) for one in column.garbled),
            )
            if rows < FEWEST and text not in self.values(column)
        }

    @cached_property
    def _rare_codes(self) -> tuple[list[int], ...]:
        return tuple(
            [code for code, name in enumerate(attribute.values) if name in rare]
            for attribute, rare in zip(self._domain.attributes, self._rare, strict=True)
        )

    @cached_property
    def _banded(self) -> tuple[Counter[bytes], ...]:
        """How many rows have the same bands and names: in everything, and in all but protected."""
        places = self._places(self._rows)
        return tuple(
            Counter(self._key(row) for row in places[:, columns]) for columns in self._parts
        )

    def _counts(self, name: str) -> Counter[str]:
        """Count the rows that have each value of a column."""
        if name not in self._counted:
            self._counted[name] = Counter(self._table.counts(name))
        return self._counted[name]

    @cached_property
    def _rare(self) -> tuple[frozenset[str], ...]:
        """Per attribute the names that only a few rows have."""
        return tuple(map(self._rare_of, self._domain.attributes))

    def _rare_of(self, attribute: Attribute) -> frozenset[str]:
        """Give an attribute's names that only a few rows have; what stands for no value is none."""
        if attribute.name not in self._few:
            counts = self._counts(attribute.name)
            names = attribute.values[: -1 if attribute.unknown else None]
            self._few[attribute.name] = frozenset(name for name in names if counts[name] < FEWEST)
        return self._few[attribute.name]


def _telling(name: str) -> bool:
    """Whether a name is long enough not to be met by chance."""
    return len(name) >= _SHORTEST and any(sign.isalpha() for sign in name)


def _texts_of(facts: str) -> Iterator[str]:
    """Yield all texts in an entry's JSON, names of members too."""
    try:
        waiting = [msgspec.json.decode(facts)] if facts else []
    except msgspec.DecodeError:
        waiting = [facts]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case list() as several:
                waiting += several
            case dict() as members:
                waiting += [*members, *members.values()]


def kept_groups(people: Sequence[int]) -> list[int] | None:
    """Return the places of the groups that are shown; ``None`` for all."""
    few = {i for i, count in enumerate(people) if 0 < count < FEWEST}
    if not few:
        return None
    rest = [i for i in range(len(people)) if i not in few and people[i]]
    if len(few) == 1 and rest:
        few.add(min(rest, key=lambda i: people[i]))
    return [i for i in range(len(people)) if i not in few]
